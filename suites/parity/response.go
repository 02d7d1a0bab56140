package parity

import (
	"strings"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// other are blocks that have no part in the text, whatever they hold.
func other(kind, s string) any {
	return members{"type": kind, "text": s, "name": "x", "input": members{"text": s}}
}

func before(blocks ...any) func(*harness.Session) [][]byte {
	return func(s *harness.Session) [][]byte { return [][]byte{s.AssistantBlocks(blocks...)} }
}

// logs are event logs that a final response is made of.
var logs = []input[harness.Turn]{
	{"one message", harness.Turn{Text: "the answer"}},
	{"several text blocks", harness.Turn{Blocks: []any{block("one "), block("two"), block("\nthree")}}},
	{"mixed blocks", harness.Turn{Blocks: []any{other("reasoning", "no"), block("yes "), other("tool_use", "no"), block("and yes")}}},
	{"an earlier message", harness.Turn{Text: "the last", Between: before(block("the first "))}},
	{"a last message without text", harness.Turn{Blocks: []any{other("tool_use", "no")}, Between: before(block("the first"))}},
	{"a last message without blocks", harness.Turn{Blocks: []any{}, Between: before(block("the first"))}},
	{"an empty text", harness.Turn{Blocks: []any{block("")}, Between: before(block("the first"))}},
	{"no message", harness.Turn{Silent: true}},
	{"chunks alone", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte { return [][]byte{s.Chunk("a "), s.Chunk("draft")} }}},
	{"a child's message behind the session's", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return append([][]byte{s.Assistant("the parent's")}, s.Child("child", "the child's")...)
	}}},
	{"a child's message alone", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte { return s.Child("child", "the child's") }}},
	{"a message of another role", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.Event(protocol.EventAssistantMessage, members{"turn": 1, "step": 1, "message": members{"role": "user", "content": []any{block("the user's")}}})}
	}}},
	{"a message behind the end of the turn", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.TurnEnd(harness.Reason(protocol.KindCompleted)), s.Assistant("behind the end")}
	}}},
}

// malformedMessages are the data of an assistant/message that are none.
var malformedMessages = texts(
	`null`, `"hello"`, `{}`, `{"message":null}`, `{"message":"hello"}`, `{"message":[]}`, `{"message":{}}`,
	`{"message":{"role":"assistant","content":null}}`, `{"message":{"role":"assistant","content":"hello"}}`,
	`{"message":{"role":"assistant","content":{"type":"text","text":"hello"}}}`, `{"message":{"content":[{"type":"text","text":"no role"}]}}`,
	`{"message":{"role":"assistant","content":[null,7,"hello",[]]}}`,
	`{"message":{"role":"assistant","content":[{"type":"text"},{"type":"text","text":null},{"type":"text","text":7},{"text":"hello"},{"type":"text","text":"good"}]}}`,
)

// malformedEnvelopes are the params of a session.event that are none.
var malformedEnvelopes = texts(
	`{"sessionId":"s1"}`, `{"sessionId":"s1","event":null}`, `{"sessionId":"s1","event":"turn/end"}`, `{"sessionId":"s1","event":[]}`,
	`{"sessionId":"s1","event":{}}`, `{"sessionId":"s1","event":{"type":null,"seq":0,"time":0,"data":{}}}`,
	`{"sessionId":"s1","event":{"type":"turn/start"}}`, `{"sessionId":"s1","event":{"type":"turn/end","seq":"0","time":"now","data":7}}`,
	`{"event":{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}}`, `{"sessionId":7,"event":{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}}`,
	`{"sessionId":null,"event":null}`, `{}`, `[]`, `null`, `"hello"`, `7`,
)

// finalResponse: the text that is rebuilt out of the events of a turn.
func finalResponse(s *suite) {
	s.play("P-RSP-01", func(p *Play) {
		each(p, logs, func(a *Asked, turn harness.Turn) {
			a.Write(a.Q.Turn(turn).Joined())
			a.Ends()
		})
	})
	s.play("P-RSP-02", func(p *Play) {
		each(p, malformedMessages, func(a *Asked, data string) {
			a.malformed(`{"sessionId":"s1","event":{"type":"assistant/message","seq":9,"time":0,"data":` + data + `}}`)
		})
	})
	s.play("P-RSP-03", func(p *Play) { each(p, malformedEnvelopes, (*Asked).malformed) })
}

// malformed writes an event that is none in a turn, behind a true message.
func (a *Asked) malformed(params string) {
	a.Settles(harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.Assistant("the true one"), jsonLine(protocol.NotificationEvent, strings.TrimSpace(params))}
	}})
	a.Works("next")
}
