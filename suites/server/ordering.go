package server

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// ordering: the monitor watches the order of everything; these specs bring about
// the turns whose order it watches.
func ordering(s *suite) {
	// Turns to every end on one session, on another one beside it, and with children.
	all := func(row string) {
		s.It(row, shared, func(t *T) {
			srv := t.Shared()
			t.everyEnd(srv, t.Session())
			session := t.Session()
			for range 3 {
				t.Run(srv, session, model.Text("Again."))
			}
			if t.hasChildren() {
				t.ran(t.family(srv, t.kid(model.Text("The child's answer."))).Turn)
			}
			t.settledElsewhere(srv)
			t.Exercised(srv, row)
		})
	}
	all("S-ORD-01")
	s.It("S-ORD-02", shared, func(t *T) {
		srv := t.Shared()
		f := t.family(srv, t.kid(model.Text("The child's answer.")), t.kid(noLuck()))
		t.ran(f.Turn)
		f.finished(t)
		t.Exercised(srv, "S-ORD-02")
	})
	all("S-ORD-03/root")
	s.It("S-ORD-03/child", shared, func(t *T) {
		srv := t.Shared()
		f := t.family(srv, t.kid(model.Text("The child's answer.")))
		t.ran(f.Turn)
		f.finished(t)
		t.Exercised(srv, "S-ORD-03/child")
	})
	all("S-ORD-05")
	all("S-ORD-06")
	all("S-ORD-07")
	s.It("S-ORD-08/many-events", shared, longTurn)
	s.It("S-ORD-08/many-sessions", shared, manySessions)
	s.It("S-ORD-09", shared, func(t *T) {
		srv := t.Shared()
		session := t.Session()
		t.everyEnd(srv, session)
		turns, _, gate := t.queue(srv, 1)
		gate.Open()
		for _, u := range turns {
			t.ran(u)
		}
		t.idleComes(srv)
		t.Exercised(srv, "S-ORD-09")
	})
	s.It("S-ORD-10", shared, func(t *T) {
		srv := t.Shared()
		turns, _, gate := t.queue(srv, 2)
		t.Need("three messages come to the inbox", turns[0].AwaitEvent("the splice of every message", spliced(3)))
		gate.Open()
		for _, u := range turns {
			u.Settle()
		}
		t.Barrier(srv)
		t.Exercised(srv, "S-ORD-10")
	})
	s.It("S-ORD-11", shared, func(t *T) {
		readWhileHeld(t)
		if !t.Failed() && t.hasChildren() {
			childReadWhileHeld(t)
		}
	})
	s.It("S-ORD-12", shared, func(t *T) {
		srv := t.Shared()
		f := t.family(srv, t.kid(model.Text("The child's answer.")))
		t.ran(f.Turn)
		f.finished(t)
		child := f.child(t, 0)
		got := "no"
		for _, p := range Notifications(f.Since(), protocol.NotificationStatus) {
			if id, _ := p.String("sessionId"); id == child {
				got = "yes"
			}
		}
		t.Observe("child sessions report session.status", "%s", got)
	})
}

// spliced counts the messages that were inserted.
func spliced(n int) func(Event) bool {
	in := 0
	return func(e Event) bool {
		if e.Type == protocol.EventInboxSpliced {
			messages, _ := wire.AsArray(e.Data["inserted"])
			in += len(messages)
		}
		return in >= n
	}
}

// settledElsewhere runs a turn on another session, behind which what a server does
// by itself after a turn has begun to show.
func (t *T) settledElsewhere(s *harness.Server) {
	t.Run(s, t.Session(), model.Text("Elsewhere."))
	t.Barrier(s)
}

// byLoad are the rows on order that a load may break.
var byLoad = []string{"S-ORD-01", "S-ORD-03/root", "S-ORD-04", "S-ORD-05", "S-ORD-06", "S-ORD-07"}

// longTurn runs a turn with a delta for each of its many events.
func longTurn(t *T) {
	const deltas = 10_000
	srv := t.Shared()
	t.everyEnd(srv, t.Session())
	t.Barrier(srv)
	defer t.CountAs(byLoad...)()
	turn := t.Begin(srv, t.Session(), t.Script(model.Events(deltas, 1)))
	settled := turn.Settle()
	t.Barrier(srv)
	if n := len(settled.Events); n < deltas {
		t.Undeclared("chunks", "the turn shows no event for each delta of the model")
	}
}

// manySessions runs turns on many sessions, all of them at once: each is held until
// all have come to the model.
func manySessions(t *T) {
	const sessions = 32
	srv := t.Shared()
	t.everyEnd(srv, t.Session())
	t.Barrier(srv)
	if t.run.oneTurn.Load() {
		t.NotReached("turns on several sessions run at once", fmt.Errorf("a turn waits for that of another session"))
	}
	defer t.CountAs(byLoad...)()
	gate := t.Gate()
	var turns []*Turn
	for range sessions {
		turns = append(turns, t.Begin(srv, t.Session(), t.Script(model.Events(20, 5), model.AtGate(gate.Name()), model.Events(20, 5))))
	}
	ctx, cancel := t.within(srv.Deadlines().Turn)
	defer cancel()
	t.Need("the turns of all sessions call the model", gate.WaitCount(ctx, sessions))
	gate.Open()
	for _, u := range turns {
		u.Settle()
	}
	t.Barrier(srv)
}

// idleComes judges that a session reports idle behind its turn: what is out of
// order the monitor tells, what is missing only who waits for it.
func (t *T) idleComes(s *harness.Server) {
	const expected = "idle comes after the turn/end of the interval"
	if t.run.idleMissing.Load() {
		t.Fail(expected, "none comes")
		return
	}
	turn := t.Begin(s, t.Session(), t.Script(model.Text("Fine.")))
	settled, err := turn.TrySettle()
	if end, ended := settled.End(); err != nil && ended {
		t.Conclude(err)
		t.Fail(expected, "none comes", turn.Line, end.Line)
	} else {
		t.Need("a turn settles", err)
	}
}

// readWhileHeld wants the events from before the gate while the model waits there, in the
// first turn of a session and in the next.
func readWhileHeld(t *T) {
	srv, session := t.Shared(), t.Session()
	for range 2 {
		if !t.readWhileHeld(srv, session) {
			return
		}
	}
}

func (t *T) readWhileHeld(srv *harness.Server, session string) bool {
	turn, gate := t.Held(srv, session, []model.Step{model.Text("The words before the gate. ")}, []model.Step{model.Text("And behind it.")})
	want := map[string]bool{protocol.EventTurnStart: true, protocol.EventUserMessage: true}
	if t.run.seen.chunks.Load() { // this one records each delta
		want[protocol.EventAssistantChunk] = true
	}
	err := srv.Await(t.Ctx, "the events from before the gate", turn.mark, srv.Deadlines().Call, func(fresh []harness.Entry) bool {
		for _, e := range EventsOf(fresh, turn.Session) {
			delete(want, e.Type)
		}
		return len(want) == 0
	})
	gate.Open()
	if err != nil {
		t.Conclude(err)
		t.Fail("the events from before the gate can be read while the model is held", "not there: "+list(want), turn.Line)
		return false
	}
	turn.Settle()
	return true
}
