package server

import (
	"slices"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
)

// everyChildFinishes runs children that come to every end, alone, beside each other and
// below each other.
func everyChildFinishes(t *T) {
	srv := t.Shared()
	says := func() kid { return t.kid(model.Text("The child's answer.")) }
	for _, kids := range [][]kid{
		{says()}, {t.kid(noLuck())}, {says(), t.kid(atLimit()...)}, {says(), t.kid(noLuck()), says()},
	} {
		f := t.family(srv, kids...)
		t.ran(f.Turn)
		if !f.eachFinishes(t, kids...) {
			return
		}
	}
	if !t.Profile.Settles() && !childOfAFailedParent(t, srv) {
		return
	}
	if !t.run.lacks("nested-subagents") && !childrenOfChildren(t, srv) {
		return
	}
	t.Exercised(srv, "S-SUB-02")
}

// childOfAFailedParent lets a child end behind the failure of its parent, where it runs
// beside the parent.
func childOfAFailedParent(t *T, srv *harness.Server) bool {
	gate := t.Gate()
	k := t.kid(model.AtGate(gate.Name()), model.Text("The child's answer."))
	f := t.familyWith(srv, []model.Step{noLuck()}, k)
	f.child(t, 0)
	t.AtGate(f.Turn, gate)
	f.meanwhile(t, func() bool { return f.hasEnded(f.Session) })
	gate.Open()
	t.ran(f.Turn)
	return f.eachFinishes(t, k)
}

// childrenOfChildren has children of a child that completes and of one that fails. The
// inner one outlives the failure where it runs beside the outer one.
func childrenOfChildren(t *T, srv *harness.Server) bool {
	for _, end := range []model.Step{model.Text("The outer child's answer."), noLuck()} {
		gate := t.Gate()
		inner := t.kid(model.AtGate(gate.Name()), model.Text("The inner child's answer."))
		outer := t.kid(model.Spawn(inner.Subagent), end)
		f := t.family(srv, outer)
		if !t.Profile.Settles() {
			child := f.child(t, 0)
			f.meanwhile(t, func() bool { return f.hasEnded(child) })
		}
		gate.Open()
		t.ran(f.Turn)
		if !f.eachFinishes(t, outer) {
			return false
		}
		var m members
		m.take(f.Since())
		if _, ok := m.find(inner.prompt); ok && !f.eachFinishes(t, inner) { // S-SUB-04 says where children have none
			return false
		}
	}
	return true
}

// eachFinishes judges that children whose turn ends have their subagent.finished.
func (f family) eachFinishes(t *T, kids ...kid) bool {
	for _, k := range kids {
		child := f.childOf(t, k)
		end, err := f.endOf(t, child)
		t.Need("the child's turn ends", err)
		if _, _, err := f.tryFinished(t, child); err != nil {
			t.Fail("subagent.finished comes for each child that started", "none comes for a child whose turn has ended", end.Line)
			return false
		}
	}
	f.rest(t)
	return true
}

// meanwhile gives what does not wait for a held child the time of some turns to come.
func (f family) meanwhile(t *T, done func() bool) {
	for range 5 {
		if !done() {
			t.settledElsewhere(f.s)
		}
	}
}

// hasEnded reports whether a turn of the session has ended since the prompt.
func (f family) hasEnded(session string) bool {
	return slices.ContainsFunc(EventsOf(f.Since(), session), func(e Event) bool { return e.Type == protocol.EventTurnEnd })
}
