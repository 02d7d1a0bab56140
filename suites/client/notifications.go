package client

import (
	"fmt"
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// notifications: what the caller sees of a turn: everything of it, in order, and
// nothing of anybody else's.
func notifications(s *suite) {
	s.It("C-NTF-01", collectedInTime)
	s.It("C-NTF-02", wireOrder)
	s.It("C-NTF-03/child", func(t *T) { family(t, 1, false) })
	s.It("C-NTF-03/nested", func(t *T) { family(t, 4, false) })
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

// collectedInTime looks, when the call has returned, at the channel that tells most, and at
// the callback of the prompt: what that gets is there before the call returns, too.
func collectedInTime(t *T) {
	const expected = "all notifications that were written before the response, in the same chunk too, are "
	via := t.channel()
	prompt, channels := t.listened(harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")}), []channel{via}
	if prompt.Callback != "" && via != toCallback {
		channels = append(channels, toCallback)
	}
	a := t.Launch(protocol.MethodPrompt).Hear(via, prompt)
	answer := a.Turn(harness.Turn{Between: func(s *harness.Session) [][]byte {
		return append(numbered(s, 50), s.Child(t.Session(), "a child's answer")...)
	}})
	if !a.Settles(expected+string(via), answer) {
		return
	}
	for _, c := range channels {
		lines := answer.Notifications()
		if t.returnsEarly() && c != toSubscription {
			lines = answer.Before
		}
		if !a.through(c).collected(expected+string(c), lines, answer.Session.ID) {
			return
		}
	}
}

// goesOn judges that a turn with something new in its middle settles, and the next one.
func (t *T) goesOn(what string, lines func(*harness.Session) [][]byte) {
	a := t.Asked()
	if !a.Settles("the call settles with "+what+" in its turn", a.Turn(harness.Turn{Between: lines})) || !a.Works("the next call works behind "+what) {
		return
	}
	// With no call in flight: they have been read before the next one is made.
	t.Need("write "+what, a.RT.WriteApart(t.Ctx, append(lines(a.RT.Session(a.Q.SessionID())), nil)...))
	a.Works("a call works behind " + what + " between calls")
}

// numbered are events of a session, each with a number of its own. They are of a type
// that every client knows, and have no part in an answer.
func numbered(s *harness.Session, n int) (lines [][]byte) {
	for i := range n {
		lines = append(lines, s.UserMessage(fmt.Sprintf("number-%d", i), harness.Encode([]any{text(fmt.Sprint("number ", i))})))
	}
	return lines
}

// collected judges that what these sessions tell of their turns among the lines was handed over.
func (h *Heard) collected(expected string, lines [][]byte, sessions ...string) bool {
	wanted := h.via.form(events(harness.NotificationsOf(lines), sessions...))
	missing := without(wanted, h.got(wanted))
	if len(missing) == 0 {
		return true
	}
	h.t.Fail(expected, fmt.Sprintf("%d are missing, the first of them: %s", len(missing), protocol.Short(string(missing[0].Params))), h.Shown.frames()...)
	return false
}

// ofTurns are the methods that tell of turns, in every profile.
var ofTurns = []string{protocol.NotificationEvent, protocol.NotificationSubagentStarted, protocol.NotificationSubagentFinished}

// events are the notifications of these sessions that tell of their turns.
func events(list []harness.Notification, sessions ...string) (out []harness.Notification) {
	for _, n := range list {
		if slices.Contains(ofTurns, n.Method) && slices.Contains(sessions, of(n)) {
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
		if !slices.ContainsFunc(in, func(m harness.Notification) bool { return same(m, n) }) {
			out = append(out, n)
		}
	}
	return out
}

func same(a, b harness.Notification) bool {
	return a.Method == b.Method && wire.SameValue(a.Params, b.Params)
}
