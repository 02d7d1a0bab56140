package server

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// inTheBackground sees whether the parent gets idle while its child is held.
func inTheBackground(t *T) {
	srv := t.Shared()
	gate := t.Gate()
	f := t.family(srv, t.kid(model.AtGate(gate.Name()), model.Text("The child's answer.")))
	f.child(t, 0)
	t.AtGate(f.Turn, gate)
	idle := func() bool {
		for _, p := range Notifications(f.Since(), protocol.NotificationStatus) {
			session, _ := p.String("sessionId")
			status, _ := p.String("status")
			if session == f.Session && status == "idle" {
				return true
			}
		}
		return false
	}
	// A parent that does not wait for its child is done in the time of some turns.
	f.meanwhile(t, idle)
	where := "in the foreground: the parent waits for them"
	if idle() {
		where = "in the background: the parent gets idle meanwhile"
	}
	gate.Open()
	t.ran(f.Turn)
	f.finished(t)
	t.Observe("children run", "%s", where)
}

// messageWithoutText has a child's last message be a call of a tool and nothing
// else, behind which its model fails.
func messageWithoutText(t *T) {
	srv := t.Shared()
	inner := t.kid(model.Text("The inner child's answer."))
	f := t.family(srv, t.kid(model.Spawn(inner.Subagent), noLuck()))
	t.ran(f.Turn)
	child := f.child(t, 0)
	p, _, err := f.tryFinished(t, child)
	t.Need("the child finishes", err)
	last := "no message"
	for _, e := range EventsOf(f.Since(), child) {
		if e.Type == protocol.EventAssistantMessage {
			message, _ := e.Data.Object("message")
			last = blocks(message["content"])
		}
	}
	got, there := p["lastAssistantMessage"]
	value := "absent"
	if there {
		value = blocks(got)
	}
	t.Observe("lastAssistantMessage where the child's last message holds "+last, "%s", value)
	var m members
	m.take(f.Since())
	if id, ok := m.find(inner.prompt); ok {
		t.finishes(f, id)
	}
	f.rest(t)
}

// blocks tells the types of content blocks.
func blocks(content jsontext.Value) string {
	list, isArray := wire.AsArray(content)
	if !isArray {
		return protocol.Short(string(content))
	}
	var types []string
	for _, b := range list {
		o, _ := wire.AsObject(b)
		kind, _ := o.String("type")
		if text, isText := o.String("text"); isText && text == "" {
			kind += " (empty)"
		}
		types = append(types, kind)
	}
	if len(types) == 0 {
		return "an empty list"
	}
	return "blocks: " + strings.Join(types, ", ")
}

// promptToChild sends a prompt to the session of a child that is held.
func promptToChild(t *T) {
	srv := t.Shared()
	gate := t.Gate()
	f := t.family(srv, t.kid(model.AtGate(gate.Name()), model.Text("The child's answer.")))
	child := f.child(t, 0)
	t.AtGate(f.Turn, gate)
	turn := t.Begin(srv, child, t.Script(model.Text("The answer to the prompt.")))
	m, answered := t.atOnce(turn.Call)
	gate.Open()
	var got string
	switch result, _ := wire.AsObject(m.Result); {
	case !answered:
		got = "no answer while the child runs"
	case m.Error != nil:
		e, _ := wire.AsObject(m.Error)
		got = fmt.Sprintf("an error, code %s", e["code"])
	default:
		names := map[string]bool{}
		for name := range result {
			names[name] = true
		}
		got = "a result with " + list(names)
	}
	t.Observe("a prompt on the session of a running child gets", "%s", got)
	t.ran(f.Turn)
	if answered && m.Error == nil || !answered {
		if _, err := turn.TrySettle(); err != nil {
			t.unanswered(turn.Call, err)
			return
		}
	}
	_, _, err := f.tryFinished(t, child)
	t.Need("the child finishes", err)
	f.rest(t)
}
