package client

import (
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
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
		call, err := c.GoInitialize(t.Ctx)
		t.Need("make a call", err)
		t.failsUnlaunched(c, call, expected)
	})
	s.It("C-CLS-03", failedHandshake)
}

// startsNoMore judges that start, where that is a call of its own, launches nothing. One
// that returns and does nothing is no use, and so is no harm. It can return before its runtime has come up,
// which the handshake behind it needs.
func (t *T) startsNoMore(c *harness.Client, expected string) bool {
	start, err := c.GoStart(t.Ctx)
	t.Need("make a call", err)
	if start == nil {
		return true
	}
	if !t.launchesNothing(c, start, expected) {
		return false
	}
	call, err := c.GoInitialize(t.Ctx)
	t.Need("make a call", err)
	return t.failsUnlaunched(c, call, expected)
}

// closesUnstarted judges that close returns before anything was asked of the client. An
// SDK that can't wait has launched its runtime by then, which has to be a sound one, and is
// not taken for one that a later call launches.
func (t *T) closesUnstarted(c *harness.Client) bool {
	call, err := c.GoClose(t.Ctx)
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
	call, err := p.GoPrompt(t.Ctx, harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")})
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
	a := t.Greeted(nil)
	t.Need("refuse initialize", a.RT.Write(t.Ctx, a.Q.Error(protocol.CodeHandler, "no such provider")))
	_, err = a.Await(t.Ctx)
	t.Need("the handshake is over", err)
	t.returnsTwice(a.Client, "close returns behind a handshake that has failed, and again", a.Shown)
}

// returnsTwice judges that close comes to an end, whatever it is, and a second one as well.
func (t *T) returnsTwice(c *harness.Client, expected string, show Shown) {
	for range 2 {
		call, err := c.GoClose(t.Ctx)
		t.Need("close", err)
		if !t.over(call, c.Graces(), expected, show) {
			return
		}
	}
}

// closes judges that close returns.
func (t *T) closes(c *harness.Client, expected string, show Shown) bool {
	call, err := c.GoClose(t.Ctx)
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

// failedHandshake refuses initialize, or answers it with what is no result of it, and
// lives on, once whatever close does but SIGKILL: nobody may be left who could close the
// client. One that takes such an answer has not failed.
func failedHandshake(t *T) {
	for _, b := range []harness.Behaviour{{}, harness.Stubborn()} {
		refused := t.answersInitialize(b, func(q *harness.Request) []byte { return q.Error(protocol.CodeHandler, "no such provider") })
		if t.Failed() || !t.Expect(refused, "a refused initialize fails the call", "the call succeeded") {
			return
		}
	}
	for _, result := range []any{"ready", nil, object{"serverInfo": 7}} {
		if !t.Failed() {
			t.answersInitialize(harness.Behaviour{}, func(q *harness.Request) []byte { return q.Result(result) })
		}
	}
}

// answersInitialize judges that the runtime is gone if its handshake fails, and says
// whether it does.
func (t *T) answersInitialize(b harness.Behaviour, answer func(*harness.Request) []byte) (failed bool) {
	a := t.Greeted(t.closesSoon)
	a.RT.Behave(b)
	t.Need("answer initialize", a.RT.Write(t.Ctx, answer(a.Q)))
	// It may return when the runtime has gone all the way.
	reply, ended := t.EndedWithin(a.Call, a.Graces()+t.run.deadlines.Call, "an initialize that is answered is over", a.Shown)
	if !ended || reply.Err == nil {
		return false
	}
	err := a.RT.AwaitVanished(t.Ctx, a.Graces()+t.run.deadlines.Exit)
	t.Judge(err, "the runtime is ended and waited for when its handshake has failed", a.Shown.frames()...)
	return true
}
