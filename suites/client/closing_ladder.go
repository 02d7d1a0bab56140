package client

import (
	"fmt"
	"slices"
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/deadline"
)

// rung is how much of the steps of close a runtime ignores. It ends at the last of the
// steps that have to come, in their order.
type rung struct {
	name  string
	b     harness.Behaviour
	steps []string
}

var rungs = []rung{
	{name: "a sound runtime", steps: []string{"shutdown"}},
	{name: "a runtime that answers shutdown and lives on", b: harness.Behaviour{IgnoreShutdown: true}, steps: []string{"shutdown", "stdin ended"}},
	{name: "a runtime that lives on behind the end of stdin", b: harness.Behaviour{IgnoreShutdown: true, IgnoreEOF: true},
		steps: []string{"shutdown", "stdin ended", "SIGTERM"}},
	{name: "a runtime that ignores everything", b: harness.Stubborn(), steps: []string{"shutdown", "stdin ended", "SIGTERM", "killed"}},
}

// ladder closes clients of runtimes that ignore one step after the other: all of them
// at once where the driver can, because graces may be long.
func ladder(t *T) {
	peers := make([]*Peer, len(rungs))
	calls := make([]*harness.Call, len(rungs))
	for i, r := range rungs {
		peers[i] = t.LaunchWith(r.b, t.closesSoon)
	}
	for i, p := range peers {
		var err error
		calls[i], err = p.GoClose(t.Ctx)
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

// closesSoon shortens the graces of close, where they can be set.
func (t *T) closesSoon(o *harness.CreateOptions) {
	if t.Hello.Takes("close") {
		o.CloseTimeout = t.run.brief
	}
}

// climbed judges one close.
func (t *T) climbed(r rung, p *Peer, call *harness.Call) {
	show := Shown{rt: p.RT}
	if !t.closed(call, p.Graces(), "close returns within the graces that the driver declares, of "+r.name, show) {
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
	for i := max(1, last); i+1 < len(seen); i++ {
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
// stdin, which a polite runtime has to get first. What comes behind the steps of its rung
// meets a runtime that is ending, which sees a signal and the end of stdin in either order,
// and not all of it: their order is for the rungs above to tell.
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
	required := min(len(own), len(r.steps))
	if !slices.Equal(own[:required], r.steps[:required]) {
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
