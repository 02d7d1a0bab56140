package client

import (
	"errors"
	"fmt"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/spec"
)

// T is one spec that runs. It belongs to one goroutine.
type T struct {
	*spec.T
	Profile protocol.Profile
	Hello   harness.Hello // what the driver offers

	run   *runner
	visit *sdk.Visit
}

// newT is the T of a spec.
func (r *runner) newT(base *spec.T) *T {
	t := &T{T: base, Profile: r.Profile, Hello: r.hello, run: r}
	t.visit = r.sdk.Visit(t.visiting())
	base.Whose = func(err error) (reports.Outcome, bool) {
		if base.Ctx.Err() == nil && harness.DriverFault(err) {
			r.abort(&spec.NotRunError{Err: errors.New(harness.Explain(err))})
			<-base.Ctx.Done() // it is told in a goroutine of its own
		}
		return reports.Outcome{}, false
	}
	r.current.Store(t)
	base.Transcribe(t, r.cfg.Driver.Argv)
	return t
}

// leave puts in order what the spec has used. Where it did not pass the driver is
// given up: what hangs in it must not meet the next spec.
func (t *T) leave() {
	if !t.Sound() {
		t.visit.Spoil("the spec of " + t.ID + " did not pass")
	}
	t.release()
}

// release ends the runtimes of the spec, and the calls that wait for them.
func (t *T) release() {
	r := t.run
	if err := t.visit.Release(t.Ctx); err != nil {
		r.abort(&spec.NotRunError{Err: errors.New(harness.Explain(err))})
	}
	r.current.CompareAndSwap(t, nil)
	r.Forget(t)
}

// Lacking ends the spec as not applicable where a capability is lacking that only a
// part of it needs.
func (t *T) Lacking(capability, reason string) {
	k, ok := t.run.Catalogue.Capability(capability)
	if !ok {
		panic("no capability " + capability)
	}
	t.End(reports.Lacking(k, reason))
}

// Session gives a session id that nothing else in this run has.
func (t *T) Session() string { return fmt.Sprintf("s-%d", t.run.counter.Add(1)) }

// Text gives a text that nothing else in this run has, so that an answer shows whose
// it is.
func (t *T) Text(what string) string { return fmt.Sprintf("%s %d", what, t.run.counter.Add(1)) }

// Client makes a client of the SDK; nothing is launched.
func (t *T) Client(change func(*harness.CreateOptions)) *harness.Client {
	c, err := t.visit.Create(t.Ctx, change)
	t.Need("make a client", err)
	return c
}

// Launch makes a client and has it launch its runtime, which leaves these methods to
// the spec.
func (t *T) Launch(manual ...string) *Peer {
	return t.LaunchWith(harness.Behaviour{Manual: manual}, nil)
}

// LaunchWith is Launch for another behaviour and changed options.
func (t *T) LaunchWith(b harness.Behaviour, change func(*harness.CreateOptions)) *Peer {
	c := t.Client(change)
	rt, err := c.Launch(t.Ctx, b)
	t.Need("launch the runtime and initialize", err)
	return &Peer{Client: c, RT: rt, t: t}
}

// Asked makes a client, and a prompt of it that waits for its answer.
func (t *T) Asked() *Asked { return t.Launch(protocol.MethodPrompt).Ask() }

// Greeted makes a client whose initialize waits for its answer, as requests with the methods that
// are named will.
func (t *T) Greeted(change func(*harness.CreateOptions), manual ...string) *Asked {
	c := t.Client(change)
	rt, handshake, err := c.Begin(t.Ctx, harness.Behaviour{Manual: append(manual, protocol.MethodInitialize)})
	t.Need("launch the runtime", err)
	a := &Asked{Call: t.own(handshake), Peer: &Peer{Client: c, RT: rt, t: t}, Shown: Shown{rt: rt}}
	a.Q, err = rt.Next(t.Ctx, protocol.MethodInitialize)
	t.Need("initialize reaches the runtime", err)
	return a
}

// own has a call looked after when the spec is over.
func (t *T) own(c *harness.Call) *harness.Call { return t.visit.Own(c) }

// Ended judges that a call is over, and gives what it came to. An SDK that hangs in
// it, or takes its process along, is the requirement's to judge here.
func (t *T) Ended(c *harness.Call, expected string, show Shown) (harness.Reply, bool) {
	return t.EndedWithin(c, t.run.deadlines.Call, expected, show)
}

// EndedWithin is Ended for calls that may take longer.
func (t *T) EndedWithin(c *harness.Call, within time.Duration, expected string, show Shown) (harness.Reply, bool) {
	reply, err := c.AwaitWithin(t.Ctx, within)
	if err != nil {
		t.Conclude(err)
		t.visit.Spoil("stuck in " + t.ID)
		t.Fail(expected, harness.Explain(err), show.frames()...)
		return reply, false
	}
	return reply, true
}

// Fails judges that a call fails with one of these classes of errors, any where there
// are none: but not by a time-out of its own, unless that is asked for.
func (t *T) Fails(c *harness.Call, expected string, show Shown, classes ...harness.Class) bool {
	reply, ok := t.Ended(c, expected, show)
	return ok && t.failed(reply, expected, show, classes...)
}

func (t *T) failed(reply harness.Reply, expected string, show Shown, classes ...harness.Class) bool {
	e := reply.Err
	if e == nil {
		return t.Expect(false, expected, "the call succeeded: "+protocol.Short(string(reply.Result)), show.frames()...)
	}
	ok := len(classes) == 0 && e.Class != harness.ClassTimeout
	for _, c := range classes {
		ok = ok || e.Class == c
	}
	return t.Expect(ok, expected, e.Error(), show.frames()...)
}
