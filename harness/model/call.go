package model

import (
	"net/http"
	"slices"
	"time"
)

// Dialect is the form of the endpoint that a call used.
type Dialect string

// The dialects of calls. The first two are those of `model-endpoint` in a target.
const (
	ChatCompletions Dialect = "chat-completions" // POST …/chat/completions, OpenAI style
	Messages        Dialect = "messages"         // POST …/v1/messages, Anthropic style
	InServer        Dialect = "in-server"        // reported to the control URL by a server with a test model of its own
	Unserved        Dialect = "unserved"         // a method and path that the stub does not serve: answered 404
)

// Outcome is how a call ended.
type Outcome string

// The outcomes of calls.
const (
	Pending    Outcome = ""            // still being answered
	Replied    Outcome = "replied"     // answered to the end
	Failed     Outcome = "failed"      // ended by a fail step
	Dropped    Outcome = "dropped"     // ended by a drop step
	Refused    Outcome = "refused"     // answered by the stub's own error: a wrong key, a body that is no request, a malformed marker, an unserved path
	ClientLeft Outcome = "client left" // the subject closed the connection first
)

// A Call is one request that reached the stub. What it refers to is shared between copies: read it, do not
// change it.
type Call struct {
	Seq     int       // counts every call of the stub from 1
	Time    time.Time // when its body was in
	Dialect Dialect
	Method  string
	Path    string
	Header  http.Header // as received, with the values of Authorization and X-Api-Key replaced

	BadKey    bool   // it had no or another key than [Stub.Key]: answered 401
	BodyError string // why the body could not be read as a request; what was read before is kept

	Model     string
	MaxTokens string // the number as written, of max_tokens or max_completion_tokens; empty where there was none
	Stream    bool   // it asked for server-sent events

	// Messages are the messages of the conversation, in order. The system text of the messages dialect, which is
	// no message there, comes as a first message of role "system".
	Messages []Message
	Tools    []string // names of the tools that it offered

	Tag            string // of the script that answers it; empty for the default reply
	Position       int    // which segment of the script: see [Script.Segment]
	Ended          string // the tag of the last script of the conversation where that had come to its end: the call is one that no marker asked for
	ScriptError    string // why the marker that counts is none
	NoSubagentTool bool   // the script called for a subagent, and the request did not offer [SubagentTool]

	Body     []byte // the body as received; nil where [Options.KeepBody] or KeepBodies did not leave it
	BodySize int64
	Digest   string // SHA-256 of the body, hexadecimal
	Trimmed  bool   // Messages were dropped to bound memory

	Outcome Outcome
}

// A Message is one message of a conversation.
type Message struct {
	Role string

	// Texts are its text blocks in order; content that is a plain string is one block. Text that is not
	// representable (lone surrogates, invalid UTF-8) has U+FFFD in its place; RawTexts tells the truth then.
	Texts []string

	// RawTexts is nil unless a text was changed by decoding. Then it has an element for each of Texts: the JSON
	// string literal as it stood in the body, quotes included, or "" where that text is exact.
	RawTexts []string

	Blocks      []string     // the type of each content block in order, "text" for plain string content
	ToolCalls   []ToolCall   // of an assistant message
	ToolResults []ToolResult // of a message of role "tool" (chat completions) or of the user (messages); their text is not in Texts
}

// A ToolCall is a call of a tool as it stands in a conversation.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON as written
}

// A ToolResult is what a tool returned.
type ToolResult struct {
	ID    string // of the call
	Texts []string
}

// Lossy tells whether decoding changed a text of m: see [Message.RawTexts].
func (m Message) Lossy() bool { return m.RawTexts != nil }

// UserTexts gives the text blocks of all user messages, in order.
func (c Call) UserTexts() []string { return c.RoleTexts("user") }

// RoleTexts gives the text blocks of all messages of that role, in order.
func (c Call) RoleTexts(role string) []string {
	var texts []string
	for _, m := range c.Messages {
		if m.Role == role {
			texts = append(texts, m.Texts...)
		}
	}
	return texts
}

// Lossy tells whether decoding changed a text of any message.
func (c Call) Lossy() bool {
	for _, m := range c.Messages {
		if m.Lossy() {
			return true
		}
	}
	return false
}

// Offers tells whether the call offered the tool of that name.
func (c Call) Offers(tool string) bool {
	for _, name := range c.Tools {
		if name == tool {
			return true
		}
	}
	return false
}

// textSize is about the memory that the parsed part of c takes.
func (c Call) textSize() int64 {
	const perItem = 64
	size := int64(perItem)
	for _, m := range c.Messages {
		size += perItem
		for _, text := range m.Texts {
			size += int64(len(text)) + 16
		}
		for _, text := range m.RawTexts {
			size += int64(len(text)) + 16
		}
		size += int64(len(m.Blocks)) * 16
		for _, call := range m.ToolCalls {
			size += perItem + int64(len(call.Arguments))
		}
		for _, result := range m.ToolResults {
			size += perItem
			for _, text := range result.Texts {
				size += int64(len(text)) + 16
			}
		}
	}
	for _, name := range c.Tools {
		size += int64(len(name)) + 16
	}
	return size
}

// WithoutSubagents reports whether a script called for subagents and no call of its turn offered the tool. One call
// alone tells nothing of a server: those made besides, such as for a title, have no tools.
func WithoutSubagents(calls []Call) bool {
	return slices.ContainsFunc(calls, func(c Call) bool {
		return c.NoSubagentTool && !slices.ContainsFunc(calls, func(other Call) bool { return other.Tag == c.Tag && !other.NoSubagentTool })
	})
}
