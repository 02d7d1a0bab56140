package client

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Turn says what a turn brings. The zero value is a turn that completes with the text "ok".
type Turn struct {
	// Text is that of the assistant's message; Blocks are its content blocks in the place of a text. Silent is a turn
	// without any message.
	Text   string
	Blocks []any
	Silent bool
	// Unquoted leaves out the event that repeats the prompt, which may be long.
	Unquoted bool
	// Between gives lines that come before the assistant's message: children, unknown events, messages of earlier
	// steps.
	Between func(*Session) [][]byte
	// Reason is the turn's, {"kind":"completed"} where it is nil; Status is that of the response (directional) or of
	// session.finished (accepted), and follows from the reason where it is "".
	Reason any
	Status string
	// Ended is the reason of turn/end where that says something else than the outcome.
	Ended any
}

// Played is a turn as lines, in the order in which a sound server writes them: what comes before the response, the
// response, and what comes after it (in receipt).
type Played struct {
	Before   [][]byte
	Response []byte
	After    [][]byte

	MessageID string         // the receipt
	Status    string         // of the outcome; "" in receipt, where there is none
	Reason    jsontext.Value // of the turn
	Session   *Session
}

// Lines are all lines in their order.
func (p Played) Lines() [][]byte {
	return slices.Concat(p.Before, [][]byte{p.Response}, p.After)
}

// Joined are all lines as one piece.
func (p Played) Joined() []byte { return bytes.Join(p.Lines(), nil) }

// Notifications are the lines besides the response.
func (p Played) Notifications() [][]byte { return slices.Concat(p.Before, p.After) }

// Turn makes the lines of the turn that answers a prompt, in the runtime's profile.
func (q *Request) Turn(t Turn) Played {
	s := q.rt.Session(q.SessionID())
	reason := t.Reason
	if reason == nil {
		reason = Reason(protocol.KindCompleted)
	}
	ended := t.Ended
	if ended == nil {
		ended = reason
	}
	p := Played{Session: s, Reason: Encode(reason)}
	profile := q.rt.Profile()
	if profile == protocol.Receipt {
		p.MessageID = q.rt.messageID()
		p.Before = [][]byte{s.Spliced(p.MessageID), s.Status("running"), s.TurnStart(), s.Spliced("")}
		p.Response = q.Result(object{"messageId": p.MessageID})
		p.After = append(t.body(q, s, p.MessageID), s.TurnEnd(ended), s.Status("idle"))
		return p
	}
	p.Before = append([][]byte{s.TurnStart()}, t.body(q, s, "m1")...)
	p.Before = append(p.Before, s.TurnEnd(ended))
	p.Status = t.Status
	if p.Status == "" {
		p.Status = settled(profile, p.Reason)
	}
	if profile == protocol.Accepted {
		p.Before = append(p.Before, s.Finished(p.Status, reason))
		p.Response = q.Result(object{"accepted": true})
	} else {
		p.Response = q.Result(object{"status": p.Status, "reason": reason})
	}
	return p
}

// body is what lies between the start and the end of the turn.
func (t Turn) body(q *Request, s *Session, messageID string) [][]byte {
	params, _ := wire.AsObject(q.Params())
	content := params["contentBlocks"]
	if content == nil {
		content = jsontext.Value("[]")
	}
	var lines [][]byte
	if !t.Unquoted {
		lines = append(lines, s.UserMessage(messageID, content))
	}
	if t.Between != nil {
		lines = append(lines, t.Between(s)...)
	}
	switch {
	case t.Silent:
	case t.Blocks != nil:
		lines = append(lines, s.AssistantBlocks(t.Blocks...))
	case t.Text != "":
		lines = append(lines, s.Assistant(t.Text))
	default:
		lines = append(lines, s.Assistant("ok"))
	}
	return lines
}

func settled(profile protocol.Profile, reason jsontext.Value) string {
	o, _ := wire.AsObject(reason)
	status := protocol.SettledStatus(wire.Unquote(o["kind"]), false)
	if profile == protocol.Accepted && status != "ok" {
		return "error"
	}
	return status
}

// messageID gives a fresh one.
func (rt *Runtime) messageID() string {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.ids++
	return fmt.Sprintf("message-%d", rt.ids)
}
