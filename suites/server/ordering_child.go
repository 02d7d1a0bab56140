package server

import (
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// childReadWhileHeld wants the events of a child from before the gate while its model
// waits there. What never comes was not held back: other rows ask for it.
func childReadWhileHeld(t *T) {
	srv := t.Shared()
	gate := t.Gate()
	f := t.family(srv, t.kid(model.Text("The words before the gate. "), model.AtGate(gate.Name()), model.Text("And behind it.")))
	t.AtGate(f.Turn, gate)
	child, line := f.announced(t)
	want := map[string]bool{protocol.EventTurnStart: true, protocol.EventUserMessage: true}
	err := srv.Await(t.Ctx, "the child's events from before the gate", f.mark, srv.Deadlines().Call, func(fresh []harness.Entry) bool {
		for _, e := range EventsOf(fresh, child) {
			delete(want, e.Type)
		}
		return len(want) == 0
	})
	gate.Open()
	t.ran(f.Turn)
	f.finished(t)
	if err == nil {
		return
	}
	t.Conclude(err)
	late := map[string]bool{}
	for _, e := range EventsOf(f.Since(), child) {
		if want[e.Type] {
			late[e.Type] = true
		}
	}
	t.Expect(len(late) == 0, "the events of a child from before the gate can be read while its model is held", "not there: "+list(late), line)
}

// announced waits for the subagent.started of the family's only child.
func (f family) announced(t *T) (child string, line wire.Line) {
	err := f.s.Await(t.Ctx, "subagent.started", f.mark, f.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range fresh {
			if e.Dir != wire.ServerToClient || e.Message.Method != protocol.NotificationSubagentStarted {
				continue
			}
			p, _ := wire.AsObject(e.Message.Params)
			if parent, _ := p.String("parentSessionId"); parent == f.Session {
				child, _ = p.String("childSessionId")
				line = e.Line
				return true
			}
		}
		return false
	})
	t.Need("the child is announced", err)
	return child, line
}
