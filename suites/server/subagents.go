package server

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// subagents: children of a turn.
func subagents(s *suite) {
	s.It("S-SUB-01", shared, func(t *T) {
		srv := t.Shared()
		f := t.family(srv, t.kid(model.Text("The child's answer.")))
		t.ran(f.Turn)
		f.child(t, 0)
		t.Barrier(srv)
		t.Exercised(srv, "S-SUB-01")
	})
	s.It("S-SUB-02", shared, everyChildFinishes)
	s.It("S-SUB-03", shared, func(t *T) {
		if t.Profile.Settles() {
			promptOutlivesChild(t)
		} else {
			idleIsNotTheParents(t)
		}
	})
	s.It("S-SUB-04", shared, func(t *T) {
		srv := t.Shared()
		inner := t.kid(model.Text("The inner child's answer."))
		outer := t.kid(model.Spawn(inner.Subagent), model.Text("The outer child's answer."))
		f := t.family(srv, outer)
		t.ran(f.Turn)
		f.finished(t)
		parent := f.child(t, 0)
		child := f.nested(t, outer, inner)
		for _, e := range f.Since() {
			if e.Message.Method != protocol.NotificationSubagentStarted || e.Dir != wire.ServerToClient {
				continue
			}
			p, _ := wire.AsObject(e.Message.Params)
			if id, _ := p.String("childSessionId"); id == child {
				named, _ := p.String("parentSessionId")
				who := map[string]string{f.Session: "the session of the prompt", child: "the child itself"}[named]
				if who == "" {
					who = "a session that is not its parent's"
				}
				t.Expect(named == parent, "the child of a child names that child as its parent", "it names "+who, e.Line)
			}
		}
		t.finishes(f, child)
	})
	s.It("S-SUB-05", shared, failedChild)
	s.It("S-SUB-06", shared, inTheBackground)
	s.It("S-SUB-07", shared, func(t *T) {
		// White space at its ends and between its lines belongs to the content.
		oneOfEach(t, "S-SUB-07", t.kid(model.Text(" \n\t The child's answer.\n\n  Its end. \n")))
	})
	s.It("S-SUB-08", shared, messageWithoutText)
	s.It("S-SUB-09", shared, func(t *T) {
		oneOfEach(t, "S-SUB-09", t.kid(model.Text("The child's answer.")))
		if !t.run.oneTurn.Load() {
			childrenAtOnce(t)
		}
	})
}

// childrenAtOnce has the children of two sessions run at once: the monitor tells where
// the parent of one is named as that of the other.
func childrenAtOnce(t *T) {
	srv := t.Shared()
	var families []family
	var gates []*model.Gate
	for range 2 {
		gate := t.Gate()
		f := t.family(srv, t.kid(model.AtGate(gate.Name()), model.Text("The child's answer.")))
		t.AtGate(f.Turn, gate)
		families, gates = append(families, f), append(gates, gate)
	}
	for i, f := range families {
		gates[i].Open()
		t.ran(f.Turn)
		f.finished(t)
	}
}

// oneOfEach runs a child that completes and one that fails, each with its subagent.finished.
func oneOfEach(t *T, row string, completes kid) {
	srv := t.Shared()
	f := t.family(srv, completes, t.kid(noLuck()))
	t.ran(f.Turn)
	f.finished(t)
	t.Exercised(srv, row)
}

// finishes waits for a child's end as something that the spec needs.
func (t *T) finishes(f family, child string) {
	_, _, err := f.tryFinished(t, child)
	t.Need("every child finishes", err)
	f.rest(t)
}

// promptOutlivesChild holds the parent's next step when its child has ended.
func promptOutlivesChild(t *T) {
	srv := t.Shared()
	gate := t.Gate()
	f := t.familyWith(srv, []model.Step{model.AtGate(gate.Name()), model.Text(parentSays)}, t.kid(model.Text("The child's answer.")))
	t.Barrier(srv)
	if m, early := f.Now(); early {
		t.NotReached("the prompt's turn runs", fmt.Errorf("the prompt was answered before its child started: %s%s", m.Result, m.Error))
	}
	child := f.child(t, 0)
	end, err := f.endOf(t, child)
	t.Need("the child's turn ends", err)
	t.AtGate(f.Turn, gate)
	t.Barrier(srv)
	m, early := f.Now()
	if early && m.Error == nil {
		t.Fail("the end of a child's turn does not settle its parent's prompt", "the prompt is answered while its next step is held: "+protocol.Short(string(m.Result)), end.Line, f.ResponseLine())
	}
	gate.Open()
	if !early {
		t.ran(f.Turn)
	} else {
		_ = f.awaitEnd() // what comes behind the response is told already
		t.Barrier(srv)
	}
}

// idleIsNotTheParents lets a child end and get idle while its parent's model is held.
func idleIsNotTheParents(t *T) {
	srv := t.Shared()
	gate := t.Gate()
	f := t.familyWith(srv, []model.Step{model.AtGate(gate.Name()), model.Text(parentSays)}, t.kid(model.Text("The child's answer.")))
	child := f.child(t, 0)
	end, err := f.endOf(t, child)
	t.Need("the child's turn ends", err)
	t.AtGate(f.Turn, gate)
	t.settledElsewhere(srv) // behind it the child has long been idle
	for _, e := range f.Since() {
		if e.Dir != wire.ServerToClient || e.Message.Method != protocol.NotificationStatus {
			continue
		}
		params, _ := wire.AsObject(e.Message.Params)
		session, _ := params.String("sessionId")
		status, _ := params.String("status")
		if session == f.Session && status == "idle" {
			t.Fail("no idle comes under the parent's id while its model is held", "one comes when its child has ended", end.Line, e.Line)
			break
		}
	}
	gate.Open()
	if !t.Failed() {
		t.ran(f.Turn)
		f.finished(t)
	}
}

// failedChild wants the child's failure told, and its parent to go on.
func failedChild(t *T) {
	const goesOn = "the parent of a failed child goes on and completes"
	srv := t.Shared()
	f := t.family(srv, t.kid(noLuck()))
	settled, err := f.TrySettle()
	if isRefused(err) {
		t.Fail(goesOn, "its prompt is answered with an error", f.Line, settled.Line)
		return
	}
	t.Need("a turn settles", err)
	child := f.child(t, 0)
	p, finished, err := f.tryFinished(t, child)
	t.Need("the failed child finishes", err)
	status, _ := p.String("status")
	t.Expect(status == "error", `a failed child has status "error"`, "it is "+orNothing(protocol.Short(string(p["status"]))), finished.Line)
	f.rest(t)
	var said []string
	for _, e := range f.Events() {
		if e.Type != protocol.EventTurnEnd {
			continue
		}
		reason, _ := e.Data.Object("reason")
		kind, _ := reason.String("kind")
		t.Expect(!cutShort(kind), goesOn, "its turn ends with kind "+orNothing(kind), finished.Line, e.Line)
	}
	said = Settled{Events: f.Events()}.Said()
	t.Expect(strings.Contains(strings.Join(said, ""), parentSays), goesOn, "it says nothing more", finished.Line)
}
