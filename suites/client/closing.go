package client

import (
	"fmt"
	"slices"
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/protocol"
)

// closing: how a client lets go of its runtime: politely first, and then for good.
func closing(s *suite) {
	s.It("C-CLS-01", ladder)
	s.It("C-CLS-02/idempotent", func(t *T) {
		p := t.Launch()
		for _, which := range []string{"a first", "a second"} {
			if !t.closes(p.Client, which+" close returns without an error", Shown{rt: p.RT}) {
				return
			}
		}
		const expected = "a call behind close fails"
		if p.failsLater(expected) && t.startsNoMore(p.Client, expected) {
			closesWithoutRuntime(t)
		}
	})
	s.It("C-CLS-02/before-start", func(t *T) {
		c := t.Client(nil)
		if !t.closesUnstarted(c) {
			return
		}
		const expected = "a call behind close fails"
		if !t.startsNoMore(c, expected) {
			return
		}
		call, err := c.GoInitialize()
		t.Need("make a call", err)
		t.failsUnlaunched(c, call, expected)
	})
	s.It("C-CLS-03", failedHandshake)
}

// startsNoMore judges that start, where that is a call of its own, launches nothing. One
// that returns and does nothing is no use, and so is no harm. It can return before its runtime has come up,
// which the handshake behind it needs.
func (t *T) startsNoMore(c *harness.Client, expected string) bool {
	start, err := c.GoStart()
	t.Need("make a call", err)
	if start == nil {
		return true
	}
	if !t.launchesNothing(c, start, expected) {
		return false
	}
	call, err := c.GoInitialize()
	t.Need("make a call", err)
	return t.failsUnlaunched(c, call, expected)
}

// closesUnstarted judges that close returns before anything was asked of the client. An
// SDK that can't wait has launched its runtime by then, which has to be a sound one, and is
// not taken for one that a later call launches.
func (t *T) closesUnstarted(c *harness.Client) bool {
	call, err := c.GoClose()
	t.Need("close", err)
	if _, err := c.Accept(t.Ctx, harness.Behaviour{}, call); err != nil {
		t.Conclude(err)
	}
	return t.closed(call, c.Graces(), "close returns without an error before the runtime was started", Shown{})
}

// closesWithoutRuntime closes clients twice whose runtime has died, and whose handshake was
// refused. An SDK may tell of that as the error of close: it has to return.
func closesWithoutRuntime(t *T) {
	p := t.Launch()
	t.Need("end the runtime", p.RT.Exit(3))
	call, err := p.GoPrompt(harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")})
	t.Need("make a call", err)
	if _, err := t.own(call).Await(t.Ctx); err != nil {
		t.Conclude(err) // that a death is noticed is another requirement
		t.visit.Spoil("stuck in " + t.ID)
		return
	}
	t.returnsTwice(p.Client, "close returns behind the death of the runtime, and again", Shown{rt: p.RT})
	if t.Failed() {
		return
	}
	c := t.Client(nil)
	rt, handshake, err := c.Begin(t.Ctx, harness.Behaviour{Manual: []string{protocol.MethodInitialize}})
	t.Need("launch the runtime", err)
	q, err := rt.Next(t.Ctx, protocol.MethodInitialize)
	t.Need("initialize reaches the runtime", err)
	t.Need("refuse initialize", rt.Write(t.Ctx, q.Error(protocol.CodeHandler, "no such provider")))
	_, err = t.own(handshake).Await(t.Ctx)
	t.Need("the handshake is over", err)
	t.returnsTwice(c, "close returns behind a handshake that has failed, and again", Shown{rt: rt})
}

// returnsTwice judges that close comes to an end, whatever it is, and a second one as well.
func (t *T) returnsTwice(c *harness.Client, expected string, show Shown) {
	for range 2 {
		call, err := c.GoClose()
		t.Need("close", err)
		if !t.over(call, c.Graces(), expected, show) {
			return
		}
	}
}

// closes judges that close returns.
func (t *T) closes(c *harness.Client, expected string, show Shown) bool {
	call, err := c.GoClose()
	t.Need("close", err)
	return t.closed(call, c.Graces(), expected, show)
}

// closed judges that a close has returned, and without an error.
func (t *T) closed(call *harness.Call, graces time.Duration, expected string, show Shown) bool {
	if !t.over(call, graces, expected, show) {
		return false
	}
	reply, _ := call.Over()
	if reply.Err != nil {
		t.Fail(expected, reply.Err.Error(), show.frames()...)
	}
	return reply.Err == nil
}

// over judges that a close has come to an end, whatever it is.
func (t *T) over(call *harness.Call, graces time.Duration, expected string, show Shown) bool {
	_, ended := t.EndedWithin(t.own(call), graces+t.run.deadlines.Exit, expected, show)
	return ended
}

// rung is how much of the steps of close a runtime ignores. It ends at the last of the
// steps that have to come, in their order.
type rung struct {
	name    string
	b       harness.Behaviour
	steps   []string
	waiting bool // a call waits for the runtime
	refuses bool // which an SDK may tell of as the error of close, and need not be patient with
}

var rungs = []rung{
	{name: "a sound runtime", steps: []string{"shutdown"}},
	{name: "a runtime that a call waits for", b: harness.Behaviour{Manual: []string{protocol.MethodPrompt}}, steps: []string{"shutdown"}, waiting: true},
	{name: "a runtime that refuses shutdown", b: harness.Behaviour{RefuseShutdown: true}, steps: []string{"shutdown", "stdin ended"}, refuses: true},
	{name: "a runtime that answers shutdown and lives on", b: harness.Behaviour{IgnoreShutdown: true}, steps: []string{"shutdown", "stdin ended"}},
	{name: "a runtime that lives on behind the end of stdin", b: harness.Behaviour{IgnoreShutdown: true, IgnoreEOF: true},
		steps: []string{"shutdown", "stdin ended", "SIGTERM"}},
	{name: "a runtime that ignores everything", b: harness.Stubborn(), steps: []string{"shutdown", "stdin ended", "SIGTERM", "killed"}},
}

// ladder closes clients of runtimes that ignore one step after the other: all of them
// at once where the driver can, because graces may be long.
func ladder(t *T) {
	rungs := rungs
	if !t.Hello.Concurrent {
		rungs = slices.DeleteFunc(slices.Clone(rungs), func(r rung) bool { return r.waiting })
	}
	peers := make([]*Peer, len(rungs))
	calls := make([]*harness.Call, len(rungs))
	for i, r := range rungs {
		peers[i] = t.LaunchWith(r.b, func(o *harness.CreateOptions) {
			if t.Hello.Takes("close") {
				o.CloseTimeout = t.run.brief
			}
		})
		if r.waiting {
			peers[i].Ask()
		}
	}
	for i, p := range peers {
		var err error
		calls[i], err = p.GoClose()
		t.Need("close", err)
		if !t.Hello.Concurrent {
			t.climbed(rungs[i], p, calls[i])
		}
	}
	for i, p := range peers {
		if t.Hello.Concurrent {
			t.climbed(rungs[i], p, calls[i])
		}
	}
}

// climbed judges one close.
func (t *T) climbed(r rung, p *Peer, call *harness.Call) {
	show := Shown{rt: p.RT}
	returned := t.closed
	if r.refuses {
		returned = t.over
	}
	if !returned(call, p.Graces(), "close returns within the graces that the driver declares, of "+r.name, show) {
		return
	}
	reply, _ := call.Over()
	gone, known := p.RT.Vanished()
	if !t.Judge(p.RT.AwaitGone(t.Ctx, t.run.deadlines.Leave), "close returns after the process is gone, of "+r.name, show.frames()...) {
		return
	}
	t.stepsOf(r, p)
	if gone && known {
		return
	}
	// Nobody has waited for it, or it was still there: the times tell.
	ended := p.RT.Steps()
	late := ended[len(ended)-1].At.Sub(reply.At)
	bound := max(t.run.brief/2, 2*t.run.deadlines.Grace)
	t.Expect(late < bound, "close returns after the process is gone, of "+r.name, fmt.Sprintf("it returns %s before", deadline.Span(late)), show.frames()...)
}

// allSteps are the steps of close in their order.
var allSteps = []string{"shutdown", "stdin ended", "SIGTERM", "killed"}

// stepsOf judges the steps that a close has taken. Some may follow the one at which the
// runtime ends, which may be slow, but not before the grace of that step is over.
func (t *T) stepsOf(r rung, p *Peer) {
	expected := fmt.Sprintf("close of %s takes the steps %s, in this order", r.name, strings.Join(r.steps, ", "))
	var seen []string
	var at []time.Time
	for _, s := range p.RT.Steps() {
		if name := s.String(); s.Kind != harness.StepExited && !slices.Contains(seen, name) {
			seen, at = append(seen, name), append(at, s.At)
		}
	}
	told := "it takes " + strings.Join(seen, ", ")
	last, ok := r.reached(seen)
	if !ok {
		t.Fail(expected, told, Shown{rt: p.RT}.frames()...)
		return
	}
	// stdin may end as soon as shutdown was answered.
	for i := max(1, last); i+1 < len(seen) && !r.refuses; i++ {
		if waited := at[i+1].Sub(at[i]); waited < t.grace(seen[i], p.Client)/2 {
			t.Fail(expected+", and waits in between", fmt.Sprintf("%s, the last %s behind the one before it", told, deadline.Span(waited)), Shown{rt: p.RT}.frames()...)
			return
		}
	}
}

// reached says whether the steps that were seen bring a close to its rung, and which of
// them is the last of those. Other signals that can be caught may come in between: the row
// says in which order its own steps come, and not that there are no others. One of them
// ends the runtime in the place of SIGTERM where it comes before it, but behind the end of
// stdin, which a polite runtime has to get first.
func (r rung) reached(seen []string) (last int, ok bool) {
	var own []string
	for i, name := range seen {
		if !slices.Contains(allSteps, name) {
			continue
		}
		if own = append(own, name); len(own) <= len(r.steps) {
			last = i
		}
	}
	if !slices.Equal(own, allSteps[:len(own)]) {
		return last, false
	}
	if another := last + 1; slices.Equal(append(own, "SIGTERM"), r.steps) && another < len(seen) {
		return another, true
	}
	return last, len(own) >= len(r.steps)
}

// grace is how long close waits at most behind a step, 0 where it does not.
func (t *T) grace(step string, c *harness.Client) time.Duration {
	ms := map[string]*float64{"shutdown": t.Hello.Graces.Shutdown, "stdin ended": t.Hello.Graces.EOF, "SIGTERM": t.Hello.Graces.Term}[step]
	switch {
	case ms == nil:
		return 0
	case t.Hello.Takes("close"):
		return t.run.brief
	}
	return time.Duration(*ms * float64(time.Millisecond))
}

// failedHandshake refuses initialize, or answers it with what is no result of it, and
// lives on: nobody may be left who could close the client. One that takes such an answer
// has not failed.
func failedHandshake(t *T) {
	refused := t.answersInitialize(func(q *harness.Request) []byte { return q.Error(protocol.CodeHandler, "no such provider") })
	if t.Failed() || !t.Expect(refused, "a refused initialize fails the call", "the call succeeded") {
		return
	}
	for _, result := range []any{"ready", nil, object{"serverInfo": 7}} {
		if !t.Failed() {
			t.answersInitialize(func(q *harness.Request) []byte { return q.Result(result) })
		}
	}
}

// answersInitialize judges that the runtime is gone if its handshake fails, and says
// whether it does.
func (t *T) answersInitialize(answer func(*harness.Request) []byte) (failed bool) {
	c := t.Client(func(o *harness.CreateOptions) {
		if t.Hello.Takes("close") {
			o.CloseTimeout = t.run.brief
		}
	})
	rt, handshake, err := c.Begin(t.Ctx, harness.Behaviour{Manual: []string{protocol.MethodInitialize}})
	t.Need("launch the runtime", err)
	show := Shown{rt: rt}
	q, err := rt.Next(t.Ctx, protocol.MethodInitialize)
	t.Need("initialize reaches the runtime", err)
	t.Need("answer initialize", rt.Write(t.Ctx, answer(q)))
	reply, ended := t.Ended(t.own(handshake), "an initialize that is answered is over", show)
	if !ended || reply.Err == nil {
		return false
	}
	err = rt.AwaitVanished(t.Ctx, c.Graces()+t.run.deadlines.Exit)
	t.Judge(err, "the runtime is ended and waited for when its handshake has failed", show.frames()...)
	return true
}
