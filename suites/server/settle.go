package server

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// awaitEnd waits for the turn/end of a prompt that was answered. It was to come
// before; where it does not, that is the monitor's to tell, and no other spec is to
// fail for it. A subject that was found to leave it out is not waited for twice.
func (u *Turn) awaitEnd() error {
	ended := func(fresh []harness.Entry) bool {
		for _, e := range slices.Backward(fresh) { // it stands at the end of what may be 16 MiB
			if ev, ok := eventOf(e, u.Session); ok && ev.Type == protocol.EventTurnEnd {
				return true
			}
		}
		return false
	}
	if u.t.run.endMissing.Load() || ended(u.s.Since(u.mark)) {
		return nil
	}
	err := u.s.Await(u.t.Ctx, "turn/end", u.mark, u.s.Deadlines().Call, ended)
	if err != nil && u.t.Ctx.Err() == nil && u.s.Fit() {
		u.t.run.endMissing.Store(true)
		return nil
	}
	return err
}

// awaitIdle waits for the end of the interval that serves the message: the turn
// behind its splice, and idle, in whichever order. A subject that was found to
// report no idle is not waited for twice.
func (u *Turn) awaitIdle(m wire.Message) error {
	result, _ := wire.AsObject(m.Result)
	id, _ := result.String("messageId")
	w := idleWait{session: u.Session, id: id, in: id == "", noIdle: u.t.run.idleMissing.Load()}
	mark := u.mark
	for {
		err := u.s.Await(u.t.Ctx, "idle of the session", mark, u.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
			for _, e := range fresh {
				w.take(e)
				mark = harness.Mark(e.Line.Seq + 1)
				if w.done() {
					return true
				}
			}
			return false
		})
		switch {
		case isSilent(err) && w.in && w.ended:
			u.t.run.idleMissing.Store(true)
			return err
		case err != nil || w.in:
			return err
		}
		// The session is idle and the id was never spliced. Its splice may come behind
		// the response, and so behind an idle that is not its own.
		if err := u.s.Barrier(u.t.Ctx); err != nil {
			return err
		}
		for _, e := range u.s.Since(mark) {
			w.look(e)
		}
		if !w.in {
			return nil // its id is not the inbox's, which the monitor tells; its turn is over
		}
		w.ended = false
	}
}

// idleWait follows a session up to the end of a message's interval.
type idleWait struct {
	session, id     string
	in, ended, idle bool
	noIdle          bool // do not wait for idle
}

func (w *idleWait) done() bool { return w.ended && (w.idle || w.noIdle && w.in) }

func (w *idleWait) take(e harness.Entry) {
	if e.Message.Method == protocol.NotificationStatus && e.Dir == wire.ServerToClient {
		params, _ := wire.AsObject(e.Message.Params)
		if session, _ := params.String("sessionId"); session == w.session {
			status, _ := params.String("status")
			w.idle = status == "idle"
		}
		return
	}
	ev, ok := eventOf(e, w.session)
	if !ok {
		return
	}
	switch ev.Type {
	case protocol.EventInboxSpliced:
		w.look(e)
	case protocol.EventTurnEnd:
		w.ended = true
	case protocol.EventTurnStart:
		w.ended = false
	}
}

// look notes whether the message is spliced in.
func (w *idleWait) look(e harness.Entry) {
	if ev, ok := eventOf(e, w.session); ok && ev.Type == protocol.EventInboxSpliced {
		w.in = w.in || mentions(ev.Data["inserted"], w.id)
	}
}

// mentions reports whether an array of messages holds one with this id.
func mentions(list jsontext.Value, id string) bool {
	messages, _ := wire.AsArray(list)
	for _, m := range messages {
		o, _ := wire.AsObject(m)
		if have, ok := o.String("id"); ok && have == id {
			return true
		}
	}
	return false
}
