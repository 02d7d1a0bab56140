package server

import (
	"slices"
	"sync"

	harness "github.com/dshconform/dshconform/harness/server"

	"github.com/dshconform/dshconform/harness/protocol"
)

// attribution decides which requirement a finding of the monitor counts against,
// where the wire alone does not tell. One fault is to cost one requirement, the
// most specific: the monitor sees that an event is late; that the prompt was
// answered while the model was still held, or that it takes a certain load to
// bring it about, is known here.
type attribution struct {
	mu      sync.Mutex
	probing bool    // the first prompt runs: what it shows decides on the findings
	waiting []found // until then
	early   bool    // prompts are answered while their turn runs
	own     map[string]bool
	others  []string // rows whose findings are left to their own specs
	load    string   // the id that the findings of some rows count against
	rows    []string // those rows
}

type found struct {
	s *harness.Server
	v protocol.Violation
}

// late are the rows that a prompt shows which is answered while its turn runs:
// all that comes of the turn is behind the response then.
var late = []string{"S-ORD-01", "S-ORD-02", "S-ORD-07"}

// assign gives the id that a violation counts against; ok is false where that is
// not known yet.
func (a *attribution) assign(s *harness.Server, v protocol.Violation) (id string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.probing && slices.Contains(late, v.Row) {
		a.waiting = append(a.waiting, found{s, v})
		return "", false
	}
	if a.early && slices.Contains(late, v.Row) {
		return "S-TRN-07", true
	}
	if slices.Contains(a.others, v.Row) {
		return "", false
	}
	if a.load != "" && slices.Contains(a.rows, v.Row) && !a.own[v.Row] {
		return a.load, true
	}
	if a.own == nil {
		a.own = map[string]bool{}
	}
	a.own[v.Row] = true
	return v.Row, true
}

// probe says that the first prompt runs. The function that it returns tells what
// it showed, and gives the findings that waited for that.
func (a *attribution) probe() (done func(early bool) []found) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.probing = true
	return func(early bool) []found {
		a.mu.Lock()
		defer a.mu.Unlock()
		waiting := a.waiting
		a.probing, a.waiting, a.early = false, nil, early
		return waiting
	}
}

// CountAs has the monitor's findings on rows count against the spec's own id until
// the function that it returns is called. What was found on a row before counts
// against that row: it takes no load to bring it about. So a spec runs the same
// without the load first.
//
// A monitor tells a few findings of a row and counts the rest. What it told before
// says nothing about what another id is to be blamed for: it tells anew on both ends.
func (t *T) CountAs(rows ...string) (end func()) {
	t.run.blame.countAs(t.ID, rows)
	t.retell(rows)
	return func() {
		t.run.blame.countAs("", nil)
		t.retell(rows)
	}
}

func (a *attribution) countAs(id string, rows []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.load, a.rows = id, rows
}

// retell has the monitors of all processes tell what they find on rows, though they
// have found it before.
func (t *T) retell(rows []string) {
	t.run.mu.Lock()
	all := slices.Concat(t.run.all, t.servers)
	t.run.mu.Unlock()
	for _, s := range all {
		s.Inspect(func(m *protocol.Monitor) { m.Retell(rows...) })
	}
}

// LeaveTo leaves what the monitor finds on rows to the specs of these, until the
// function that it returns is called: here it can't be told which of them it is.
func (t *T) LeaveTo(rows ...string) (end func()) {
	a := &t.run.blame
	a.mu.Lock()
	defer a.mu.Unlock()
	a.others = rows
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.others = nil
	}
}
