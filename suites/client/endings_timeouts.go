package client

import (
	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// callTimesOut is silent until the SDK's own time-out has passed, and answers late: with a
// turn, and with an error.
func callTimesOut(t *T) {
	p := t.LaunchWith(harness.Behaviour{Manual: []string{protocol.MethodPrompt}}, func(o *harness.CreateOptions) { o.CallTimeout = t.run.brief })
	answersLate(p, func(a *Asked) []byte { return a.Turn(harness.Turn{}).Joined() })
	if !t.Failed() {
		answersLate(p, func(a *Asked) []byte { return a.Q.Error(protocol.CodeHandler, "too late") })
	}
}

func answersLate(p *Peer, answer func(*Asked) []byte) {
	t := p.t
	a := p.Ask()
	if !t.Fails(a.Call, "a call that is never answered fails with an error of class timeout", a.Shown, harness.ClassTimeout) {
		return
	}
	const expected = "a late answer changes nothing: the next call gets its own"
	late := answer(a)
	// On a machine under load a sound call may be too late as well, and not again and again.
	const tries = 3
	for i := range tries {
		next, ok := p.Asks(expected)
		if !ok {
			return
		}
		answer := next.Turn(harness.Turn{})
		if !next.Write(expected, late, answer.Joined()) {
			return
		}
		late = nil
		reply, ok := t.Ended(next.Call, expected, next.Shown)
		if !ok {
			return
		}
		if i+1 < tries && reply.Err != nil && reply.Err.Class == harness.ClassTimeout {
			continue
		}
		next.Gets(expected, answer)
		return
	}
}

// initializeTimesOut is silent from the start, and answers late: the client must not come
// to life by that, and nobody else is left who could end its runtime.
func initializeTimesOut(t *T) {
	a := t.Greeted(func(o *harness.CreateOptions) { o.InitializeTimeout = t.run.brief })
	const expected = "an initialize that is never answered fails with an error of class timeout"
	if !t.Fails(a.Call, expected, a.Shown, harness.ClassTimeout) {
		return
	}
	_ = a.RT.Write(t.Ctx, a.Q.Handshake()) // an SDK may have ended its runtime by now
	const late = "a late answer to initialize changes nothing: a call of the client fails, and its runtime is ended"
	call, err := a.GoPrompt(t.Ctx, harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")})
	t.Need("make a call", err)
	again, err := a.Accept(t.Ctx, harness.Behaviour{}, t.own(call))
	if again != nil {
		return // the SDK begins anew, with another process: what the first one said has brought nothing about
	}
	if err != nil {
		t.Conclude(err)
	}
	reply, ok := t.Ended(call, late, a.Shown)
	if !ok || !t.Expect(reply.Err != nil, late, "the call succeeded: "+protocol.Short(string(reply.Result)), a.Shown.frames()...) {
		return
	}
	t.Judge(a.RT.AwaitVanished(t.Ctx, a.Graces()+t.run.deadlines.Exit), late, a.Shown.frames()...)
}
