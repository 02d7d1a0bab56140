package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/spec"
)

// T is one spec that runs. It belongs to one goroutine.
type T struct {
	*spec.T
	Profile protocol.Profile

	run     *runner
	servers []*harness.Server // that this spec has to leave in order
	used    *harness.Server   // the shared process, where the spec took it
	apart   *harness.Server   // the process with directories of its own, likewise
	written []*harness.Server // those that have taken something of this spec
	tags    int
	gates   []*model.Gate

	diagnosed *harness.Server // the process that the diagnosis is about
	diagnosis *reports.Diagnosis

	hurry      bool   // a property has failed, and a smaller counterexample is looked for
	shrinkTime string // for its properties; "" for the default
}

// newT is the T of a spec.
func (r *runner) newT(t *spec.T) *T {
	t.Whose = func(err error) (o reports.Outcome, ours bool) {
		var start *process.StartError
		if t.Ctx.Err() != nil || !errors.As(err, &start) {
			return o, false
		}
		return reports.Outcome{Verdict: reports.Error, Reason: err.Error()}, true
	}
	return &T{T: t, Profile: r.cfg.Profile, run: r}
}

// Undeclared ends the spec where the subject turned out to lack a capability
// that its target does not say it lacks. What was not exercised does not pass.
func (t *T) Undeclared(capability, seen string) {
	t.End(reports.Outcome{Verdict: reports.NotReached, Reason: fmt.Sprintf("%s; where that is so by design, a target file says `lacks: [{capability: %s, reason: …}]`", seen, capability)})
}

// Answered judges that a call gets a response: a result, an error, whatever.
func (t *T) Answered(c *harness.Call, expected string) (wire.Message, bool) {
	m, err := c.Answer(t.Ctx)
	if err != nil {
		c.Disown() // judged here, so the monitor need not
		if t.Ctx.Err() == nil {
			t.run.spoil(c.Server(), t.ID)
		}
	}
	return m, t.Judge(err, expected, c.Line)
}

// unanswered is for a call that was waited for in vain, where the requirement at hand
// does not say that it has to be answered: that every request gets a response holds
// there too. Of a process that died meanwhile its end is judged.
func (t *T) unanswered(c *harness.Call, err error) {
	t.Conclude(err)
	if silent := (*harness.SilentError)(nil); errors.As(err, &silent) {
		c.Overdue()
	}
	c.Disown()
	t.run.spoil(c.Server(), t.ID)
}

// needResponse ends the spec as not reached where a call was waited for in vain.
func (t *T) needResponse(step string, c *harness.Call, err error) {
	if err != nil {
		t.unanswered(c, err)
		t.NotReached(step, err)
	}
}

// Refused judges that a call gets an error response.
func (t *T) Refused(c *harness.Call, expected string) (wire.Message, bool) {
	m, ok := t.Answered(c, expected)
	if !ok {
		return m, false
	}
	return m, t.Expect(m.Error != nil, expected, "a result: "+protocol.Short(string(m.Result)), c.Line, c.ResponseLine())
}

// Send writes a request; the spec ends where the subject does not take it.
func (t *T) Send(s *harness.Server, method string, params any) *harness.Call {
	c, err := s.Send(t.Ctx, method, params)
	t.taken("write a request", s, err)
	return c
}

// taken ends the spec where the subject did not take what was written. One that has
// died of what the spec wrote before is left to whoever waits for an answer: it could as
// well have died a moment later, with the same bytes in the pipe.
func (t *T) taken(step string, s *harness.Server, err error) {
	var died *harness.DiedError
	if errors.As(err, &died) && slices.Contains(t.written, s) {
		return
	}
	t.Need(step, err)
	if !slices.Contains(t.written, s) {
		t.written = append(t.written, s)
	}
}

// Write writes bytes as one write; the spec ends where the subject does not
// take them.
func (t *T) Write(s *harness.Server, raw string) []*harness.Call {
	q, err := s.Write(t.Ctx, []byte(raw))
	t.taken("write to stdin", s, err)
	return s.Calls(q)
}

// WriteApart writes each piece when the subject has taken up the one before, so
// that they arrive one by one.
func (t *T) WriteApart(s *harness.Server, pieces ...[]byte) []*harness.Call {
	q, err := s.WriteApart(t.Ctx, pieces...)
	t.Need("write to stdin", err)
	return s.Calls(q)
}

// Served judges that the subject still answers: the barrier that closes most
// stimuli. It is what "the next frame is served" means.
func (t *T) Served(s *harness.Server, expected string, frames ...wire.Line) bool {
	err := s.Barrier(t.Ctx)
	if err != nil && t.Ctx.Err() == nil {
		t.run.spoil(s, t.ID)
	}
	return t.Judge(err, expected, frames...)
}

// Barrier is a barrier that the spec needs rather than judges.
func (t *T) Barrier(s *harness.Server) { t.Need("a barrier", s.Barrier(t.Ctx)) }

// Session gives a session id that nothing else in this run has.
func (t *T) Session() string { return t.run.session() }

// Tag gives a tag for a script, unique in the run.
func (t *T) Tag() string {
	t.tags++
	return fmt.Sprintf("%s.%d.%d", t.ID, t.tags, t.run.count())
}

// Gate makes a gate of the model that is opened at the end of the spec at the
// latest.
func (t *T) Gate() *model.Gate {
	g := t.run.stub.Gate(t.Tag())
	t.gates = append(t.gates, g)
	return g
}

// Sent are the lines that the client wrote since the mark.
func Sent(entries []harness.Entry) (lines []wire.Line) {
	for _, e := range entries {
		if e.Dir == wire.ClientToServer {
			lines = append(lines, e.Line)
		}
	}
	return lines
}

// within gives a context with a deadline of its own below the spec's.
func (t *T) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(t.Ctx, d, fmt.Errorf("not within %s", deadline.Span(d)))
}
