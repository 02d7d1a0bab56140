package client

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// finalResponse: the text that most callers want, rebuilt out of the events of a turn.
func finalResponse(s *suite) {
	s.It("C-RSP-01", finalText)
	s.It("C-RSP-02/message", func(t *T) {
		var params []string
		for _, data := range malformedMessages {
			params = append(params, `{"sessionId":%s,"event":{"type":"assistant/message","seq":0,"time":0,"data":`+data+`}}`)
		}
		malformedEvents(t, params)
	})
	s.It("C-RSP-02/envelope", func(t *T) { malformedEvents(t, malformedEnvelopes) })
}

// log is an event log with the text that it gives.
type log struct {
	name string
	turn harness.Turn
	text string
}

func text(s string) any { return harness.TextBlock(s) }

// other are blocks that have no part in the text, whatever they hold.
func other(kind, s string) any {
	return object{"type": kind, "text": s, "name": "x", "input": object{"text": s}}
}

var logs = []log{
	{"one message", harness.Turn{Text: "the answer"}, "the answer"},
	{"several text blocks", harness.Turn{Blocks: []any{text("one "), text("two"), text("\nthree")}}, "one two\nthree"},
	{"mixed blocks", harness.Turn{Blocks: []any{other("reasoning", "no"), text("yes "), other("tool_use", "no"), text("and yes")}}, "yes and yes"},
	{"an earlier message of the turn", harness.Turn{Text: "the last", Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.Assistant("the first "), s.AssistantBlocks(other("tool_use", "no"))}
	}}, "the last"},
	{"a last message without text", harness.Turn{Blocks: []any{other("tool_use", "no")}, Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.Assistant("the first")}
	}}, ""},
	{"a last message without blocks", harness.Turn{Blocks: []any{}, Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.Assistant("the first")}
	}}, ""},
	{"no message", harness.Turn{Silent: true}, ""},
	{"chunks beside the message", harness.Turn{Text: "the message", Between: func(s *harness.Session) [][]byte {
		return [][]byte{s.Chunk("a "), s.Chunk("draft")}
	}}, "the message"},
	{"a child's message behind that of the session", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return append([][]byte{s.Assistant("the parent's")}, s.Child(s.ID+".child", "the child's")...)
	}}, "the parent's"},
	{"equal text blocks", harness.Turn{Blocks: []any{text("ha"), text("ha"), text(""), text("ha")}}, "hahaha"},
	{"blocks of types that are like text", harness.Turn{Blocks: []any{other("text_delta", "no"), other("texts", "no"), text("yes")}}, "yes"},
	{"markup in the message", harness.Turn{Text: markup}, markup},
	{"line ends of every kind", harness.Turn{Text: lineEnds}, lineEnds},
	{"a long message", harness.Turn{Text: longText}, longText},
	{"a child's message alone", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return s.Child(s.ID+".only-child", "the child's")
	}}, ""},
	{"a grandchild's message behind that of the session", harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		return append([][]byte{s.Assistant("the parent's")}, s.ChildWith(s.ID+".elder", "the child's", func(c *harness.Session) [][]byte {
			return c.Child(s.ID+".grandchild", "the grandchild's")
		})...)
	}}, "the parent's"},
}

// markup has what some take out of a text before they show it.
const markup = "<think>hm</think> <b>1 &lt; 2 &amp; 3</b> \x1b[31mred\x1b[0m **bold** [a](b) ```x``` {{y}} $z %s \\n"

// lineEnds has what tidying takes off or makes one of: line ends, a byte order mark, a NUL.
const lineEnds = "\ufeffone\r\ntwo\rthree\n\n\n\tfour\x00five \r\n"

// longText is of several scripts, with characters that forms of Unicode write differently.
// It is as long as a line may be that no row about sizes is about.
var longText = strings.Repeat("你好，世界 e\u0301 \u00e9 ก็ิ \u212b ﬁ שלום 👩‍👩‍👧 𝒳\n", 600)

// finalText plays logs on one session, so that the text of one must not be taken for
// that of the next, and then some that are made up.
func finalText(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	session := t.Session()
	play := func(l log) bool {
		a := p.AskWith(harness.Prompt{SessionID: session, Text: t.Text("prompt")})
		if l.turn.Blocks == nil && l.turn.Text == "" {
			l.turn.Silent = true
		}
		answer := a.Turn(l.turn)
		answer.Text = l.text
		return a.Settles(fmt.Sprintf("the final response is %q for a log with %s", protocol.Short(l.text), l.name), answer)
	}
	for _, l := range logs {
		if !play(l) {
			return
		}
	}
	r := rand.New(rand.NewPCG(t.run.Seed, 1))
	for i := range 20 {
		if !play(madeUp(r, fmt.Sprintf("%s.made-up-%d", session, i))) {
			return
		}
	}
}

// madeUp makes a log at random: messages with any blocks, messages of the user, chunks
// and children, in any order.
func madeUp(r *rand.Rand, child string) log {
	var steps []func(*harness.Session) [][]byte
	final := ""
	for i := range r.IntN(8) {
		switch r.IntN(4) {
		case 0, 1:
			blocks, said := []any{}, ""
			for j := range r.IntN(4) {
				if s := fmt.Sprintf("%d.%d ", i, j); r.IntN(3) > 0 {
					blocks, said = append(blocks, text(s)), said+s
				} else {
					blocks = append(blocks, other([]string{"reasoning", "tool_use", "image"}[r.IntN(3)], s))
				}
			}
			final = said
			steps = append(steps, func(s *harness.Session) [][]byte { return [][]byte{s.AssistantBlocks(blocks...)} })
		case 2:
			id := fmt.Sprintf("%s.%d", child, i)
			steps = append(steps, func(s *harness.Session) [][]byte { return s.Child(id, "the child's") })
		case 3:
			steps = append(steps, func(s *harness.Session) [][]byte {
				return append(numbered(s, 1), s.Chunk("a draft"))
			})
		}
	}
	return log{fmt.Sprintf("%d steps that are made up", len(steps)), harness.Turn{Silent: true, Between: func(s *harness.Session) (lines [][]byte) {
		for _, step := range steps {
			lines = append(lines, step(s)...)
		}
		return lines
	}}, final}
}

// malformedMessages are the data of an assistant/message that are none.
var malformedMessages = []string{
	`null`, `"hello"`, `{}`, `{"turn":1,"step":1}`, `{"message":null}`, `{"message":"hello"}`, `{"message":[]}`,
	`{"message":{}}`, `{"message":{"role":"assistant","content":null}}`, `{"message":{"role":"assistant","content":"hello"}}`,
	`{"message":{"role":"assistant","content":{"type":"text","text":"hello"}}}`,
	`{"message":{"role":"assistant","content":7}}`, `{"message":{"role":"assistant","content":[null,7,"hello",[]]}}`,
	`{"message":{"role":"assistant","content":[{"type":"text","text":{"x":1}},{"type":["text"],"text":"hello"},{"type":7}]}}`,
	`{"message":{"role":"assistant","content":[{"type":"text"},{"type":"text","text":null},{"type":"text","text":7},{"text":"hello"}]}}`,
}

// malformedEnvelopes are the params of a session.event that are none; %s stands for the
// session.
var malformedEnvelopes = []string{
	`{"sessionId":%s}`, `{"sessionId":%s,"event":null}`, `{"sessionId":%s,"event":"turn/end"}`, `{"sessionId":%s,"event":[]}`,
	`{"sessionId":%s,"event":{}}`, `{"sessionId":%s,"event":{"type":null,"seq":0,"time":0,"data":{}}}`,
	`{"sessionId":%s,"event":{"type":"turn/start"}}`, `{"sessionId":%s,"event":{"type":"turn/end","seq":"0","time":"now","data":7}}`,
	`{"event":{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}}`,
	`{"sessionId":7,"event":{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}}`,
	`{"sessionId":["x"],"event":{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}}`,
	`{"sessionId":{"x":1},"event":{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}}`,
	`{"sessionId":%s,"event":7}`, `{"sessionId":%s,"event":{"type":"","seq":0,"time":0,"data":{}}}`,
	`{"sessionId":%s,"event":{"type":["turn/start"],"seq":0,"time":0,"data":{}}}`,
	`{"sessionId":null,"event":null}`, `{}`, `[]`, `null`, `"hello"`, `7`,
}

// malformedEvents writes each before the true message, and behind it, where it is the last
// that a client finds. The call may refuse it, or leave it out: before the true message
// that changes nothing of the outcome, and behind it what stands in its place is open.
func malformedEvents(t *T, params []string) {
	p := t.Launch(protocol.MethodPrompt)
	for _, form := range params {
		for _, place := range []string{"before the message", "behind the message"} {
			if !p.endures(form, place) {
				return
			}
		}
	}
}

// endures judges a call with a malformed event in its turn, and the next one.
func (p *Peer) endures(form, place string) bool {
	t := p.t
	a, ok := p.Asks("the call behind ones with malformed events works")
	if !ok {
		return false
	}
	bad := strings.ReplaceAll(form, "%s", string(harness.Encode(a.Q.SessionID())))
	expected := "the call with the malformed event " + protocol.Short(bad) + " " + place + " ends with a protocol error or with its outcome"
	said := t.Text("answer")
	answer := a.Turn(harness.Turn{Silent: true, Between: func(s *harness.Session) [][]byte {
		lines := [][]byte{harness.NotificationLine(protocol.NotificationEvent, jsontext.Value(bad)), s.Assistant(said)}
		if place == "behind the message" {
			slices.Reverse(lines)
		}
		return lines
	}})
	answer.Text = said
	if !a.Write(expected, answer.Joined()) {
		return false
	}
	reply, ended := t.Ended(a.Call, expected, a.Shown)
	switch {
	case !ended || reply.Err != nil && !t.failed(reply, expected, a.Shown, harness.ClassProtocol):
		return false
	case reply.Err == nil && place == "before the message":
		if why := t.differs(reply.Outcome(), answer); !t.Expect(why == "", expected, why, a.Shown.frames()...) {
			return false
		}
	}
	return p.Works("the call behind one with the malformed event " + protocol.Short(bad) + " works")
}
