package parity

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Peer is a client of the SDK with the runtime that it launched.
type Peer struct {
	*harness.Client
	RT        *harness.Runtime
	p         *Play
	fromStart bool // frames of the handshake are looked at too
}

// Asked is a prompt that has reached the runtime and waits for its answer. Its name is
// that of its fields.
type Asked struct {
	*harness.Call
	*Peer
	Q    *harness.Request
	name string
	told string // the message of the error that it was answered with, "" where that had none
}

// Ask has the SDK prompt on a session of its own. Where the prompt does not reach the
// runtime that is what is seen.
func (peer *Peer) Ask(name string) *Asked {
	return peer.AskWith(name, harness.Prompt{SessionID: peer.p.session(), Text: "the prompt " + name})
}

// AskOn is Ask on a session that there is already.
func (peer *Peer) AskOn(name, session string) *Asked {
	return peer.AskWith(name, harness.Prompt{SessionID: session, Text: "the prompt " + name})
}

// AskWith is Ask for any prompt.
func (peer *Peer) AskWith(name string, prompt harness.Prompt) *Asked {
	p := peer.p
	p.known[prompt.SessionID] = true
	call, err := peer.GoPrompt(p.ctx, prompt)
	if err != nil {
		p.failed(err)
	}
	q, err := p.reaches(peer.RT, p.visit.Own(call), prompt.SessionID)
	if err == nil {
		if id := q.SessionID(); id != prompt.SessionID {
			p.made = append(p.made, id)
		}
		return &Asked{Call: call, Peer: peer, Q: q, name: name}
	}
	p.whoseFault(err)
	a := &Asked{Call: call, Peer: peer, name: name}
	a.Ends() // it says more, where it is over
	panic(stop{})
}

// reaches waits until a prompt reaches the runtime, or its call is over without it. In
// the place of an empty session the SDK may have put one that it has made up.
func (p *Play) reaches(rt *harness.Runtime, call *harness.Call, session string) (*harness.Request, error) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-call.Done():
			cancel(errors.New("the call is over"))
		case <-ctx.Done():
		}
	})
	defer watch.Wait()
	defer cancel(nil)
	return rt.NextWhere(ctx, "prompt of the SDK", func(q *harness.Request) bool {
		return q.Method() == protocol.MethodPrompt && (session == "" || q.SessionID() == session)
	})
}

// Turn makes the sound answer to the prompt that brings this turn.
func (a *Asked) Turn(turn harness.Turn) harness.Played {
	if turn.Text == "" && turn.Blocks == nil && !turn.Silent {
		turn.Text = "the answer to " + a.name
	}
	return a.Q.Turn(turn)
}

// Write writes what may be anything. Where the SDK takes no more, its call may say why.
func (a *Asked) Write(pieces ...[]byte) {
	a.wrote(a.RT.Write(a.p.ctx, bytes.Join(pieces, nil)))
}

// WriteApart writes each piece when the one before it was read.
func (a *Asked) WriteApart(pieces ...[]byte) { a.wrote(a.RT.WriteApart(a.p.ctx, pieces...)) }

func (a *Asked) wrote(err error) {
	if err == nil {
		return
	}
	a.p.whoseFault(err)
	a.p.see(a.name+".reading", "%s", a.p.came(err))
	a.Ends()
	panic(stop{})
}

// Fails answers with an error, whose member may be anything.
func (a *Asked) Fails(e string, before ...[]byte) {
	o, _ := wire.AsObject(jsontext.Value(e))
	a.told, _ = o.String("message")
	a.Write(append(slices.Clone(before), a.Q.ErrorRaw(jsontext.Value(e)))...)
	a.Ends()
}

// Settles answers with a turn, behind what stands before it, and sees what comes of it.
func (a *Asked) Settles(turn harness.Turn, before ...[]byte) bool {
	a.Write(append(slices.Clone(before), a.Turn(turn).Joined())...)
	return a.Ends()
}

// Ends waits for the end of the call, and leaves what the caller gets of it.
func (a *Asked) Ends() bool {
	reply, ok := a.p.ends(a.name, a.Call, a.p.patience())
	if ok {
		a.outcome(reply.Outcome())
	} else {
		a.failure(reply.Err)
	}
	return ok
}

// outcome leaves the members that the driver says an outcome can have.
func (a *Asked) outcome(o harness.Outcome) {
	p := a.p
	for _, m := range []struct {
		name string
		v    jsontext.Value
	}{{"status", o.Status}, {"reason", o.Reason}, {"kind", o.Kind}, {"finalResponse", o.FinalResponse}, {"messageId", o.MessageID}} {
		if p.Hello.Gives(m.name) {
			p.see(a.name+"."+m.name, "%s", normal(m.v))
		}
	}
	if p.Hello.Gives("events") {
		var list []item
		for _, e := range o.Events {
			list = append(list, p.event(e))
		}
		p.seeList(a.name+".events", list)
	}
	if p.Hello.Gives("notifications") {
		p.seeList(a.name+".notifications", p.notifications(o.Notifications))
	}
}

func (p *Play) notifications(got []harness.Notification) (list []item) {
	for _, n := range got {
		list = append(list, p.notification(n))
	}
	return list
}

// failure leaves what an error of the runtime gives to the caller. The text is the
// runtime's only where its error has one.
func (a *Asked) failure(e *harness.SDKError) {
	if e.Class != harness.ClassRemote {
		return
	}
	a.p.see(a.name+".error.code", "%s", normal(e.Code))
	a.p.see(a.name+".error.data", "%s", normal(e.Data))
	if a.told != "" {
		a.p.see(a.name+".error.message", "%s", e.Message)
	}
}

// Works has a further prompt settle well.
func (peer *Peer) Works(name string) {
	peer.p.again = peer
	defer func() { peer.p.again = nil }()
	peer.Ask(name).Settles(harness.Turn{})
}

// hangs asks once more where the SDK has failed a call behind another, and reports
// whether that call hangs: the first was then in time for the last words of a reader that
// is gone, which is a race.
func (peer *Peer) hangs() bool {
	const session = "again"
	p := peer.p
	p.unseen = session
	call, err := peer.GoPrompt(p.ctx, harness.Prompt{SessionID: session, Text: "is anybody there?"})
	if err != nil {
		p.failed(err)
	}
	q, err := p.reaches(peer.RT, p.visit.Own(call), session)
	if err == nil {
		err = peer.RT.Write(p.ctx, q.Turn(harness.Turn{Text: "yes"}).Joined())
	}
	if err != nil {
		p.whoseFault(err)
	}
	if _, err = call.AwaitWithin(p.ctx, p.patience()); err != nil {
		p.whoseFault(err)
	}
	return err != nil && p.came(err) == hangs
}

// each plays a script for each input, with a prompt of a client of its own.
func each[I any](p *Play, inputs []input[I], script func(*Asked, I)) {
	for _, in := range inputs {
		p.part(in.name, func() { script(p.Launch(protocol.MethodPrompt).Ask("call"), in.value) })
	}
}

// input is something that a script is played with, and what it is called.
type input[I any] struct {
	name  string
	value I
}
