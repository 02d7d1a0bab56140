package spec

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// T is one spec that runs, as far as its verdict is concerned. It belongs to one
// goroutine.
type T struct {
	Ctx context.Context
	ID  string // of the requirement or variant
	// Whose looks at an error that a step met, and gives the outcome where it says
	// nothing about the subject: the suite could not start it. Nil is allowed.
	Whose func(error) (reports.Outcome, bool)

	// Behind is set where the process had served other specs before this one.
	Behind bool

	run       *Run
	level     requirements.Level
	outcome   reports.Outcome
	found     []reports.Mismatch
	shown     []wire.Line // the frames of these
	stopped   bool        // the run was stopped: no verdict
	recorders []*recorder
	scripts   []string
}

// Stopped ends the body of a spec; its outcome says why.
type Stopped struct{}

// Fail records a mismatch and goes on: a spec reports all that it sees.
func (t *T) Fail(expected, actual string, frames ...wire.Line) {
	t.shown = append(t.shown, frames...)
	t.found = append(t.found, reports.Mismatch{Expected: expected, Actual: actual, Frames: t.run.Frames(frames)})
}

// Expect records a mismatch unless ok.
func (t *T) Expect(ok bool, expected, actual string, frames ...wire.Line) bool {
	if !ok {
		t.Fail(expected, actual, frames...)
	}
	return ok
}

// Failed reports whether a mismatch was recorded.
func (t *T) Failed() bool { return len(t.found) > 0 }

// Sound reports whether the spec came to its end and nothing was found wrong with its
// requirement, by itself or by a monitor. What a monitor found on other requirements
// meanwhile says nothing about whether this one holds.
func (t *T) Sound() bool {
	return t.outcome.Verdict.Sound() && !t.Failed() && !t.run.foundBroken(t.ID)
}

// Stop ends the spec with what was recorded.
func (t *T) Stop() { panic(Stopped{}) }

// Observe records what the subject does where nothing is right or wrong. A spec
// of an OBSERVE row that records nothing has not been exercised.
func (t *T) Observe(what, format string, args ...any) {
	t.outcome.Observed = append(t.outcome.Observed, reports.Observation{What: what, Value: fmt.Sprintf(format, args...)})
}

// NotReached ends the spec: a step that it needs failed, which is no verdict on
// its requirement.
func (t *T) NotReached(step string, err error) {
	t.Conclude(err)
	t.End(reports.Outcome{Verdict: reports.NotReached, Reason: fmt.Sprintf("%s: %v", step, err)})
}

// NotProvoked ends the spec: the situation can't be brought about on this
// subject, for a reason that the row itself allows for.
func (t *T) NotProvoked(reason string) {
	o := reports.NotProvoked()
	o.Reason = reason
	t.End(o)
}

// End ends the spec with o, unless a mismatch was recorded before: what was seen
// stays true.
func (t *T) End(o reports.Outcome) {
	if !t.Failed() {
		o.Observed = t.outcome.Observed
		t.outcome = o
	}
	t.Stop()
}

// Conclude ends the spec where an error is not the subject's: the run was
// stopped, or the suite could not start it.
func (t *T) Conclude(err error) {
	if t.Whose != nil {
		if o, ok := t.Whose(err); ok {
			t.End(o)
		}
	}
	if t.Ctx.Err() != nil || errors.Is(err, context.Canceled) {
		t.stopped = true
		t.Stop()
	}
}

// Need ends the spec as not reached unless err is nil.
func (t *T) Need(step string, err error) {
	if err != nil {
		t.NotReached(step, err)
	}
}

// Judge records err as the mismatch of the requirement. It reports whether err
// was nil.
func (t *T) Judge(err error, expected string, frames ...wire.Line) bool {
	if err == nil {
		return true
	}
	t.Conclude(err)
	t.Fail(expected, err.Error(), frames...)
	return false
}

// perform runs the spec's body and brings what it recorded to a verdict.
func (t *T) perform(body func()) {
	defer func() {
		switch p := recover().(type) {
		case nil, Stopped:
		default:
			buf := make([]byte, 4096)
			buf = buf[:runtime.Stack(buf, false)]
			t.outcome = reports.Outcome{Verdict: reports.Error, Reason: fmt.Sprintf("the spec panicked: %v\n%s", p, buf)}
			t.found = nil
		}
		t.conclusion()
	}()
	body()
}

// conclusion derives the verdict where the spec did not end early.
func (t *T) conclusion() {
	switch {
	case len(t.found) > 0:
		first := t.found[0]
		observed := t.outcome.Observed
		t.outcome = reports.Outcome{Verdict: reports.Fail, Expected: first.Expected, Actual: first.Actual, Frames: first.Frames, More: t.found[1:], Observed: observed}
	case t.outcome.Verdict != "" || t.stopped:
	case t.level != requirements.Observe:
		t.outcome.Verdict = reports.Pass
	case len(t.outcome.Observed) > 0:
		t.outcome.Verdict = reports.Observed
	default:
		t.outcome = reports.Outcome{Verdict: reports.Error, Reason: "the spec observed nothing"}
	}
}
