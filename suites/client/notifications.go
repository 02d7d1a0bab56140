package client

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// notifications: what the caller sees of a turn: everything of it, in order, and
// nothing of anybody else's.
func notifications(s *suite) {
	s.It("C-NTF-01", func(t *T) {
		via := t.channel()
		expected := "all notifications that were written before the response, in the same chunk too, are " + string(via)
		a := t.Launch(protocol.MethodPrompt).Hear(via, harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")})
		answer := a.Turn(harness.Turn{Between: func(s *harness.Session) [][]byte { return numbered(s, 50) }})
		if a.Settles(expected, answer) {
			lines := answer.Notifications()
			if t.returnsEarly() && via != toSubscription {
				lines = answer.Before
			}
			a.collected(expected, lines, answer.Session.ID)
		}
	})
	s.It("C-NTF-02", wireOrder)
	s.It("C-NTF-03/child", func(t *T) { family(t, 1, false) })
	s.It("C-NTF-03/nested", func(t *T) { family(t, 2, false) })
	s.It("C-NTF-03/earlier-child", func(t *T) { family(t, 1, true) })
	s.It("C-NTF-04/notification", func(t *T) {
		t.goesOn("a notification of an unknown method", func(s *harness.Session) [][]byte {
			return [][]byte{
				harness.NotificationLine("dshconform/news", object{"sessionId": s.ID, "text": "new"}),
				harness.NotificationLine("session.dshconform", object{"sessionId": s.ID}),
				[]byte(`{"jsonrpc":"2.0","method":"dshconform/bare"}` + "\n"),
			}
		})
	})
	s.It("C-NTF-04/event-type", func(t *T) {
		t.goesOn("an event of an unknown type", func(s *harness.Session) [][]byte {
			return [][]byte{
				s.Event("dshconform/news", object{"text": "new"}),
				s.Event("assistant/dshconform", object{"message": object{"role": "assistant", "content": []any{harness.TextBlock("no message")}}}),
				s.Event("dshconform/list", []any{1, "two"}),
			}
		})
	})
	s.It("C-NTF-05/callback", throwingCallback)
	s.It("C-NTF-05/filter", func(t *T) { throwingSubscription(t, harness.FilterThrow, harness.CallbackReport) })
}

// goesOn judges that a turn with something new in its middle settles, and the next one.
func (t *T) goesOn(what string, lines func(*harness.Session) [][]byte) {
	a := t.Asked()
	if a.Settles("the call settles with "+what+" in its turn", a.Turn(harness.Turn{Between: lines})) {
		a.Works("the next call works behind " + what)
	}
}

// numbered are events of a session, each with a number of its own. They are of a type
// that every client knows, and have no part in an answer.
func numbered(s *harness.Session, n int) (lines [][]byte) {
	for i := range n {
		lines = append(lines, s.UserMessage(fmt.Sprintf("number-%d", i), harness.Encode([]any{text(fmt.Sprint("number ", i))})))
	}
	return lines
}

// collected judges that every event of these sessions among the lines was handed over.
func (h *Heard) collected(expected string, lines [][]byte, sessions ...string) bool {
	wanted := h.via.form(events(harness.NotificationsOf(lines), sessions...))
	missing := without(wanted, h.got(wanted))
	if len(missing) == 0 {
		return true
	}
	h.t.Fail(expected, fmt.Sprintf("%d are missing, the first of them: %s", len(missing), protocol.Short(string(missing[0].Params))), h.Shown.frames()...)
	return false
}

// events are the session.event notifications of these sessions.
func events(list []harness.Notification, sessions ...string) (out []harness.Notification) {
	for _, n := range list {
		if n.Method == protocol.NotificationEvent && slices.Contains(sessions, of(n)) {
			out = append(out, n)
		}
	}
	return out
}

// of is the session that a notification is of: of those about children, the parent.
func of(n harness.Notification) string {
	o, _ := wire.AsObject(n.Params)
	if id, ok := o.String("sessionId"); ok {
		return id
	}
	id, _ := o.String("parentSessionId")
	return id
}

// without are the notifications of a list that are not in another.
func without(list, in []harness.Notification) (out []harness.Notification) {
	for _, n := range list {
		same := func(m harness.Notification) bool { return m.Method == n.Method && wire.SameValue(m.Params, n.Params) }
		if !slices.ContainsFunc(in, same) {
			out = append(out, n)
		}
	}
	return out
}

// wireOrder writes many notifications of several methods, in several chunks. What comes
// of them has to come in the order of the wire, and to a callback as well.
func wireOrder(t *T) {
	const expected = "notifications are handed over in the order of the wire"
	prompt := harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")}
	if slices.Contains(t.Hello.Callbacks, harness.CallPrompt) {
		prompt.Callback = harness.CallbackReport
	}
	a := t.Launch(protocol.MethodPrompt).Hear(t.channel(), prompt)
	answer := a.Turn(harness.Turn{Between: func(s *harness.Session) (lines [][]byte) {
		for i := range 20 {
			lines = append(lines, numbered(s, 10)...)
			lines = append(lines, s.Child(fmt.Sprintf("%s.%d", s.ID, i), "a child's answer")...)
		}
		return lines
	}})
	for chunk := range slices.Chunk(answer.Lines(), 7) {
		if !a.Write(expected, bytes.Join(chunk, nil)) {
			return
		}
	}
	if !a.Gets(expected, answer) {
		return
	}
	written := harness.NotificationsOf(answer.Notifications())
	own := events(written, answer.Session.ID)
	got := a.got(a.via.form(own[len(own)-1:]))
	if len(got) == 0 {
		t.NotReached("notifications are handed over", errors.New("there are none "+string(a.via)))
	}
	t.Judge(harness.InOrder(a.via.form(written), got), expected+", "+string(a.via), a.Shown.frames()...)
	if prompt.Callback != "" && a.via != toCallback {
		t.Judge(harness.InOrder(written, a.Events()), expected+", "+string(toCallback), a.Shown.frames()...)
	}
}
