package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// endings: what a caller sees when the runtime is gone, or silent.
func endings(s *suite) {
	s.It("C-END-01/in-flight", func(t *T) {
		for _, way := range t.deaths() {
			diesInFlight(t, way)
			diesInHandshake(t, way)
		}
	})
	s.It("C-END-01/waiting-run", diesInTurn)
	s.It("C-END-01/later", func(t *T) {
		for _, way := range t.deaths() {
			diesBefore(t, way)
		}
		diesSlowly(t)
	})
	s.It("C-END-02", lastWords)
	s.It("C-END-03/call", callTimesOut)
	s.It("C-END-03/initialize", initializeTimesOut)
	s.It("C-END-04", causeOfDeath)
}

// death is a way in which a process ends.
type death struct {
	name string
	do   func(*harness.Runtime) error
}

// deaths are the ways that the platform has.
func (t *T) deaths() []death {
	ways := []death{
		{"exits with 0", func(rt *harness.Runtime) error { return rt.Exit(0) }},
		{"exits with 3", func(rt *harness.Runtime) error { return rt.Exit(3) }},
	}
	if t.Hello.Capabilities()["signals"] {
		ways = append(ways, death{"dies by SIGKILL", func(rt *harness.Runtime) error { return rt.Die(syscall.SIGKILL) }})
	}
	return ways
}

// diesInFlight has the runtime end while calls wait for it.
func diesInFlight(t *T, way death) {
	if t.Failed() {
		return
	}
	expected := "every call in flight fails with an error of class closed when the runtime " + way.name
	p := t.Launch(protocol.MethodPrompt, otherMethod)
	asked := []*Asked{p.Ask()}
	calls := []*harness.Call{asked[0].Call}
	if t.Hello.Concurrent {
		calls = append(calls, p.Ask().Call, p.Ask().Call)
		if t.Hello.Offers(harness.CallRequest) {
			calls = append(calls, p.AskOther().Call)
		}
	}
	t.Need("end the runtime", way.do(p.RT))
	for _, c := range calls {
		if !t.Fails(c, expected, asked[0].Shown, harness.ClassClosed) {
			return
		}
	}
}

// diesInHandshake has the runtime end while initialize waits for it.
func diesInHandshake(t *T, way death) {
	if t.Failed() {
		return
	}
	a := t.Greeted(nil)
	t.Need("end the runtime", way.do(a.RT))
	t.Fails(a.Call, "an initialize in flight fails when the runtime "+way.name, a.Shown)
}

// diesInTurn has the runtime end while a run waits for what comes behind its response. In
// directional nothing does.
func diesInTurn(t *T) {
	if t.Profile == protocol.Directional {
		t.NotProvoked("a run of the directional profile waits for nothing but its response")
	}
	const expected = "a run that waits for its end fails with an error of class closed when the runtime dies"
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	lines := answer.Before
	if t.Profile == protocol.Receipt {
		lines = append(lines, answer.Response, answer.After[0])
	} else {
		lines = append(lines[:len(lines)-1], answer.Response)
	}
	t.Need("begin the turn", a.RT.Write(t.Ctx, joined(lines)))
	if t.Hello.Concurrent {
		a.Ask().settle(harness.Turn{}) // what was written before has been read
	}
	if reply, over := a.Over(); over {
		t.NotReached("a run waits for its end", fmt.Errorf("it is over: %s", t.came(reply, nil)))
	}
	t.Need("end the runtime", a.RT.Exit(3))
	t.Fails(a.Call, expected, a.Shown, harness.ClassClosed)
}

// diesBefore has the runtime end between two calls. An SDK that launches another one
// has not failed the call.
func diesBefore(t *T, way death) {
	if t.Failed() {
		return
	}
	expected := "every later call fails with an error of class closed when the runtime " + way.name
	p := t.Launch()
	t.Need("end the runtime", way.do(p.RT))
	t.Need("the runtime ends", p.RT.AwaitGone(t.Ctx, t.run.deadlines.Leave))
	// To an SDK that has not noticed yet, the first of them is in flight.
	if p.failsLater(expected, harness.ClassClosed) {
		p.failsLater(expected, harness.ClassClosed)
	}
}

// diesSlowly has the runtime close its stdout a while before it ends: a call that is made
// in between is answered by nobody, and must not be forgotten by those who have read to
// the end.
func diesSlowly(t *T) {
	if t.Failed() {
		return
	}
	const expected = "every later call fails with an error of class closed when the runtime has closed its stdout and exits"
	p := t.Launch(protocol.MethodPrompt)
	a := p.Ask()
	t.Need("close stdout", p.RT.CloseOutput(t.Ctx))
	// Some fail what waits at once, and some at the exit.
	_, err := a.AwaitWithin(t.Ctx, t.run.deadlines.Grace)
	var silent *harness.SilentError
	if !errors.As(err, &silent) {
		t.Need("a call in flight is over, or goes on", err)
	}
	prompt := harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")}
	later, err := p.GoPrompt(t.Ctx, prompt)
	t.Need("make a call", err)
	p.reachesOrEnds(t.own(later), prompt)
	if err := p.RT.Exit(3); err != nil {
		t.Need("end the runtime", p.RT.AwaitGone(t.Ctx, t.run.deadlines.Leave)) // the SDK may have done so
	}
	for _, c := range []*harness.Call{a.Call, later} {
		if !t.Fails(c, expected, a.Shown, harness.ClassClosed) {
			return
		}
	}
}

// reachesOrEnds waits until a prompt is on the wire, or its call is over.
func (p *Peer) reachesOrEnds(call *harness.Call, prompt harness.Prompt) {
	ctx, cancel := context.WithCancel(p.t.Ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		defer cancel()
		select {
		case <-call.Done():
		case <-ctx.Done():
		}
	})
	_, _ = p.RT.NextPrompt(ctx, prompt.SessionID) // which of the two it was, the call says
	cancel()
	watch.Wait()
}

// failsLater judges that a further prompt fails with one of these classes of errors.
func (p *Peer) failsLater(expected string, classes ...harness.Class) bool {
	c, err := p.GoPrompt(p.t.Ctx, harness.Prompt{SessionID: p.t.Session(), Text: p.t.Text("prompt")})
	p.t.Need("make a call", err)
	return p.t.failsUnlaunched(p.Client, c, expected, classes...)
}

// failsUnlaunched judges that a call fails, and launches no runtime.
func (t *T) failsUnlaunched(c *harness.Client, call *harness.Call, expected string, classes ...harness.Class) bool {
	return t.launchesNothing(c, call, expected) && t.Fails(call, expected, Shown{}, classes...)
}

// launchesNothing judges that a call launches no runtime.
func (t *T) launchesNothing(c *harness.Client, call *harness.Call, expected string) bool {
	ctx, cancel := context.WithTimeoutCause(t.Ctx, t.run.deadlines.Call, errors.New("the call goes on"))
	defer cancel()
	switch rt, err := c.Accept(ctx, harness.Behaviour{}, t.own(call)); {
	case rt != nil:
		t.Fail(expected, "the SDK launches a runtime")
		return false
	case err != nil && ctx.Err() == nil:
		return t.Judge(err, expected)
	}
	return true
}

// lastWords has runtimes end right behind an answer, while the SDK is busy with what
// came before it.
func lastWords(t *T) {
	const expected = "an answer that was in the pipe when the runtime ended is delivered"
	const times = 5
	for range times {
		a := t.Asked()
		answer := a.Turn(harness.Turn{Between: func(s *harness.Session) [][]byte { return numbered(s, 200) }})
		if !a.Write(expected, answer.Joined()) {
			return
		}
		t.Need("end the runtime", a.RT.Exit(0))
		if !a.Gets(expected, answer) {
			return
		}
	}
}

// causeOfDeath looks for the exit code and the end of stderr in the error, of a runtime that
// has said little, and of one that had said much before.
func causeOfDeath(t *T) {
	const line = "a line of the log that nobody asks for\n"
	for _, before := range []string{line, strings.Repeat(line, 64<<10/len(line))} {
		if !diesTelling(t, before) {
			return
		}
	}
}

func diesTelling(t *T, before string) bool {
	const code, words = 73, "the runtime's last words"
	p := t.Launch(protocol.MethodPrompt)
	t.Need("write to stderr", p.RT.WriteStderr(t.Ctx, []byte(before)))
	a := p.Ask()
	t.Need("write to stderr", p.RT.WriteStderr(t.Ctx, []byte("fatal: "+words+"\n")))
	t.Need("end the runtime", p.RT.Exit(code))
	reply, err := a.AwaitWithin(t.Ctx, t.run.deadlines.Call)
	e := reply.Err
	if e == nil {
		t.NotReached("the call fails when the runtime dies", cmp.Or(err, errors.New("it succeeded")))
	}
	said := e.Message + " " + string(e.Data)
	told := t.Expect(strings.Contains(said, fmt.Sprint(code)), fmt.Sprintf("the error carries the exit code, %d", code), "it says: "+protocol.Short(said), a.Shown.frames()...)
	expected := fmt.Sprintf("the error carries the tail of stderr behind %d bytes: %s", len(before), words)
	return t.Expect(strings.Contains(said, words), expected, "it says: "+protocol.Short(said), a.Shown.frames()...) && told
}
