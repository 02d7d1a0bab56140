package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// Turn is a prompt that was sent and the turn that it asks for.
type Turn struct {
	*harness.Call
	Session string
	t       *T
	s       *harness.Server
	mark    harness.Mark
}

// Settled is a turn that came to its end.
type Settled struct {
	Response wire.Message
	Line     wire.Line // of the response
	Kind     string    // of the reason in the session's last turn/end, "" where none came
	Reason   jsontext.Value
	Events   []Event // of the session, from the prompt on
}

// Event is one session.event.
type Event struct {
	harness.Entry
	Session, Type string
	Seq, Turn     int64 // Turn is -1 where the event carries none
	Data          wire.Object
}

// Prompt is the params of session/prompt with one text block.
func Prompt(session, text string) map[string]any {
	return PromptBlocks(session, map[string]any{"type": "text", "text": text})
}

// PromptBlocks is the params of session/prompt.
func PromptBlocks(session string, blocks ...any) map[string]any {
	return map[string]any{"sessionId": session, "contentBlocks": blocks}
}

// Script makes a script of steps under a tag of its own.
func (t *T) Script(steps ...model.Step) model.Script {
	s := model.NewScript(t.Tag(), steps...)
	t.Scripted(s.Marker())
	return s
}

// Begin sends a prompt whose turn follows the script.
func (t *T) Begin(s *harness.Server, session string, script model.Script) *Turn {
	return t.BeginText(s, session, script.Prompt("Go."))
}

// BeginText sends a prompt with this text.
func (t *T) BeginText(s *harness.Server, session, text string) *Turn {
	mark := s.Mark()
	return &Turn{t.Send(s, protocol.MethodPrompt, Prompt(session, text)), session, t, s, mark}
}

// Held sends a prompt whose turn waits at a gate, and returns when it does. What
// stands before the gate in the answer is first.
func (t *T) Held(s *harness.Server, session string, before, behind []model.Step) (*Turn, *model.Gate) {
	gate := t.Gate()
	steps := append(append(before, model.AtGate(gate.Name())), behind...)
	turn := t.Begin(s, session, t.Script(steps...))
	t.AtGate(turn, gate)
	return turn, gate
}

// AtGate waits until the turn's model call waits at the gate.
func (t *T) AtGate(turn *Turn, gate *model.Gate) {
	bound := turn.s.Deadlines().Turn
	if t.run.oneTurn.Load() { // and that of another session may be held
		bound = turn.s.Deadlines().Call
	}
	ctx, cancel := t.within(bound)
	defer cancel()
	if err := t.reached(ctx, turn.Call, gate); err != nil {
		t.NotReached("the turn calls the model", err)
	}
}

// reached waits until a model call waits at the gate. A prompt that is answered will
// bring none soon, unless the answer came too early; a process that ended, none at all.
func (t *T) reached(ctx context.Context, c *harness.Call, gate *model.Gate) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		m, err := c.Settle(ctx)
		if died := (*harness.DiedError)(nil); errors.As(err, &died) {
			cancel(err)
		}
		if err != nil {
			return
		}
		if m.Error == nil && !t.Profile.Settles() {
			select {
			case <-c.Server().Process().Exited():
				cancel(errors.New("the process ended"))
			case <-ctx.Done():
			}
			return
		}
		soon := time.NewTimer(10 * c.Server().Deadlines().Grace)
		defer soon.Stop()
		select {
		case <-soon.C:
			cancel(fmt.Errorf("the prompt was answered instead: %s", answerOf(m)))
		case <-ctx.Done():
		}
	})
	err := gate.WaitReached(ctx)
	cancel(nil)
	watching.Wait()
	return err
}

// answerOf shows the answer to a prompt.
func answerOf(m wire.Message) string {
	if m.Error != nil {
		return "error " + protocol.Short(string(m.Error))
	}
	return protocol.Short(string(m.Result))
}

// Run sends a prompt and waits until its turn settled.
func (t *T) Run(s *harness.Server, session string, steps ...model.Step) Settled {
	return t.Begin(s, session, t.Script(steps...)).Settle()
}

// begun reports whether there is any sign that a prompt was taken.
func (t *T) begun(turn *Turn, script model.Script) bool {
	_, answered := turn.Now()
	return answered || len(turn.Events()) > 0 || len(t.run.stub.CallsByTag(script.Tag)) > 0
}

// Settle waits until the turn settled, as the profile defines it; the spec ends
// where it does not.
func (u *Turn) Settle() Settled {
	settled, err := u.TrySettle()
	u.t.Need("a turn settles", err)
	return settled
}

// TrySettle waits until the turn settled, as the profile defines it.
func (u *Turn) TrySettle() (Settled, error) {
	m, err := u.Call.Settle(u.t.Ctx)
	if err != nil {
		u.t.run.spoil(u.s, u.t.ID)
		return Settled{}, err
	}
	if m.Error != nil {
		return u.settled(m), &harness.RefusedError{Method: protocol.MethodPrompt, Error_: string(m.Error)}
	}
	if u.t.Profile == protocol.Receipt {
		err = u.awaitIdle(m)
	} else {
		err = u.awaitEnd()
	}
	return u.settled(m), err
}

// settled is what was seen of a turn whose prompt was answered.
func (u *Turn) settled(m wire.Message) Settled {
	out := Settled{Response: m, Line: u.ResponseLine(), Events: u.Events()}
	if e, ok := out.End(); ok {
		reason, _ := e.Data.Object("reason")
		out.Kind, _ = reason.String("kind")
		out.Reason = e.Data["reason"]
	}
	return out
}

// End is the last turn/end of the session, false where none came.
func (s Settled) End() (Event, bool) {
	for i := len(s.Events) - 1; i >= 0; i-- {
		if s.Events[i].Type == protocol.EventTurnEnd {
			return s.Events[i], true
		}
	}
	return Event{}, false
}

// Said are the texts of the session's assistant messages in the turn, in order.
func (s Settled) Said() (texts []string) {
	for _, e := range s.Events {
		if e.Type != protocol.EventAssistantMessage {
			continue
		}
		message, _ := e.Data.Object("message")
		blocks, _ := wire.AsArray(message["content"])
		for _, b := range blocks {
			block, _ := wire.AsObject(b)
			if text, ok := block.String("text"); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// Events waits for nothing: the events of the session from the prompt on.
func (u *Turn) Events() []Event { return EventsOf(u.s.Since(u.mark), u.Session) }

// Since are all lines from the prompt on.
func (u *Turn) Since() []harness.Entry { return u.s.Since(u.mark) }

// AwaitEvent waits for an event of the session from the prompt on.
func (u *Turn) AwaitEvent(what string, found func(Event) bool) error {
	return u.s.Await(u.t.Ctx, what, u.mark, u.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range EventsOf(fresh, u.Session) {
			if found(e) {
				return true
			}
		}
		return false
	})
}

// EventsOf picks the events of a session out of lines; "" stands for every session.
func EventsOf(entries []harness.Entry, session string) []Event {
	var out []Event
	for _, e := range entries {
		if ev, ok := eventOf(e, session); ok {
			out = append(out, ev)
		}
	}
	return out
}

// eventOf reads an event of a session; "" stands for every session.
func eventOf(e harness.Entry, of string) (Event, bool) {
	if e.Dir != wire.ServerToClient || e.Message.Method != protocol.NotificationEvent {
		return Event{}, false
	}
	params, _ := wire.AsObject(e.Message.Params)
	session, _ := params.String("sessionId")
	if of != "" && session != of {
		return Event{}, false // events are large, and most of a busy stream are another session's
	}
	event, ok := params.Object("event")
	if !ok {
		return Event{}, false
	}
	kind, _ := event.String("type")
	seq, _ := event.Int("seq")
	data, _ := event.Object("data")
	turn, has := data.Int("turn")
	if !has {
		turn = -1
	}
	return Event{Entry: e, Session: session, Type: kind, Seq: seq, Turn: turn, Data: data}, true
}

// Notifications picks the notifications of a method out of lines.
func Notifications(entries []harness.Entry, method string) []wire.Object {
	var out []wire.Object
	for _, e := range entries {
		if e.Dir == wire.ServerToClient && e.Message.Kind == wire.Notification && e.Message.Method == method {
			if params, ok := wire.AsObject(e.Message.Params); ok {
				out = append(out, params)
			}
		}
	}
	return out
}
