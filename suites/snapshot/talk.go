package snapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// talk is one conversation with one process.
type talk struct {
	ctx      context.Context
	s        *harness.Server
	stub     *model.Stub
	profile  protocol.Profile
	scenario string
	tags     int
	end      string // how the process ended, in words
}

// errNotOffered says that the server does not offer what the situation needs.
var errNotOffered = errors.New("the server does not offer it")

func (t *talk) tag(what string) string {
	t.tags++
	return fmt.Sprintf("%s.%s.%d", t.scenario, what, t.tags)
}

func (t *talk) gate(what string) *model.Gate { return t.stub.Gate(t.tag("gate-" + what)) }

// call sends a request and waits for its response.
func (t *talk) call(method string, params any) (wire.Message, error) {
	return t.s.Call(t.ctx, method, params)
}

// prompt sends a prompt whose turn follows the steps.
func (t *talk) prompt(session, text string, steps ...model.Step) (*harness.Call, error) {
	script := model.NewScript(t.tag("turn"), steps...)
	return t.s.Send(t.ctx, protocol.MethodPrompt, map[string]any{
		"sessionId":     session,
		"contentBlocks": []any{map[string]any{"type": "text", "text": script.Prompt(text)}},
	})
}

// turn sends a prompt and waits until its turn has settled.
func (t *talk) turn(session, text string, steps ...model.Step) error {
	c, err := t.prompt(session, text, steps...)
	if err != nil {
		return err
	}
	return t.settle(c)
}

// held sends a prompt whose turn waits at a gate, and returns when it does.
func (t *talk) held(session string) (*harness.Call, *model.Gate, error) {
	gate := t.gate("held")
	c, err := t.prompt(session, "Wait.", model.AtGate(gate.Name()), model.Text("Waited."))
	if err != nil {
		return nil, nil, err
	}
	return c, gate, t.reach(gate)
}

func (t *talk) reach(gate *model.Gate) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.s.Deadlines().Turn)
	defer cancel()
	if err := gate.WaitReached(ctx); err != nil {
		return errors.New("the turn did not call the model")
	}
	return nil
}

// settle waits until the turn of a prompt has settled, as its answer says: an answer
// of the receipt profile comes before that.
func (t *talk) settle(c *harness.Call) error {
	m, err := c.Settle(t.ctx)
	if err != nil {
		return err
	}
	shape, _ := protocol.ShapeOf(m)
	if shape != protocol.Receipt && !(t.profile == protocol.Receipt && protocol.HasShapeOf(m, protocol.Receipt)) {
		return nil
	}
	result, _ := wire.AsObject(m.Result)
	id, _ := result.String("messageId")
	var in, ended bool
	return t.s.Await(t.ctx, "idle of the session", 0, t.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range fresh {
			n, ok := notificationOf(e)
			if !ok || n.session != c.Session {
				continue
			}
			switch {
			case n.event == protocol.EventInboxSpliced && inserts(n.data, id):
				in = true
			case n.event == protocol.EventTurnStart:
				ended = false
			case n.event == protocol.EventTurnEnd:
				ended = in
			case n.status == "idle" && ended:
				return true
			}
		}
		return false
	})
}

// awaitChild waits until a child runs, held at its gate, and tells whether its parent
// goes on meanwhile. Only in the receipt profile may it; there the parent, which comes
// to its own gate at once if it goes on, is given the time of a call.
func (t *talk) awaitChild(child, parent *model.Gate) (background bool, err error) {
	turn, cancel := context.WithTimeout(t.ctx, t.s.Deadlines().Turn)
	defer cancel()
	select {
	case <-child.Reached():
	case <-parent.Reached():
		if model.WithoutSubagents(t.stub.Calls()) {
			return false, errNotOffered
		}
	case <-turn.Done():
		return false, errors.New("the turn started no child")
	}
	if t.profile != protocol.Receipt {
		return false, nil
	}
	soon, stop := context.WithTimeout(t.ctx, t.s.Deadlines().Call)
	defer stop()
	if parent.WaitReached(soon) != nil {
		return false, nil
	}
	if err := child.WaitReached(turn); err != nil {
		return false, errors.New("the child did not call the model")
	}
	return true, nil
}

// awaitWoken waits until the parent of a background child was woken by its end and
// is idle again.
func (t *talk) awaitWoken(mark harness.Mark, parent *harness.Call) error {
	finished := false
	return t.s.Await(t.ctx, "idle of the parent behind the end of its child", mark, t.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range fresh {
			n, ok := notificationOf(e)
			switch {
			case !ok:
			case n.method == protocol.NotificationSubagentFinished:
				finished = true
			case finished && n.session == parent.Session && n.status == "idle":
				return true
			}
		}
		return false
	})
}

// shutdown ends the process by the protocol.
func (t *talk) shutdown() error {
	e, err := t.s.Shutdown(t.ctx)
	if e.Exited {
		t.end = e.Exit.String()
	}
	return err
}

// problem says why a situation did not come to its end, in words that two runs share.
func (t *talk) problem(err error) string {
	var silent *harness.SilentError
	var died *harness.DiedError
	switch {
	case errors.As(err, &silent):
		return "nothing came: " + silent.Awaited
	case errors.As(err, &died):
		return "the process ended before " + died.Awaited
	}
	return err.Error()
}

// notification is what the canon and the waits need of one.
type notification struct {
	method, session string
	event           string      // type of a session.event
	data            wire.Object // of that
	status          string      // of a session.status
}

func notificationOf(e harness.Entry) (notification, bool) {
	if e.Dir != wire.ServerToClient || e.Message.Kind != wire.Notification {
		return notification{}, false
	}
	n := notification{method: e.Message.Method}
	params, _ := wire.AsObject(e.Message.Params)
	n.session, _ = params.String("sessionId")
	if parent, ok := params.String("parentSessionId"); ok && n.session == "" {
		n.session = parent
	}
	event, _ := params.Object("event")
	n.event, _ = event.String("type")
	n.data, _ = event.Object("data")
	if n.method == protocol.NotificationStatus {
		n.status, _ = params.String("status")
	}
	return n, true
}

func inserts(data wire.Object, id string) bool {
	messages, _ := wire.AsArray(data["inserted"])
	for _, m := range messages {
		o, _ := wire.AsObject(m)
		if have, ok := o.String("id"); ok && have == id {
			return true
		}
	}
	return false
}
