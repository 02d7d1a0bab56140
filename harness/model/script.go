package model

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what a [Step] does. Its value is the member of the step's JSON object that stands for it.
type Kind string

// The kinds of steps of dshconform.script/v1.
const (
	KindText     Kind = "text"
	KindEvents   Kind = "events"
	KindGate     Kind = "gate"
	KindFail     Kind = "fail"
	KindDrop     Kind = "drop"
	KindFinish   Kind = "finish"
	KindSubagent Kind = "subagent"
)

// The finish reasons that both dialects know. A script may name any other: it is sent verbatim.
const (
	FinishStop   = "stop"
	FinishLength = "length"
)

// SubagentTool is the name of the only tool that a script ever calls.
const SubagentTool = "subagent"

// maxEvents bounds an events step, in deltas and in bytes of text, so that a slip in a script (or in a
// shrunk property) can't ask for more than a machine has.
const (
	maxEvents     = 1 << 24
	maxEventBytes = 1 << 30
)

// A Script says what the model answers in one turn. A turn may take several calls of the model: each
// subagent step ends an answer, and the steps behind it are the answer to the call that brings the
// tool's result.
type Script struct {
	Tag   string // names the turn in the record of calls; not empty
	Steps []Step
}

// A Step is one thing that the model does. Kind selects which of the other fields count. Build steps by
// [Text], [CutText], [Events], [AtGate], [Fail], [Drop], [Finish] and [Spawn].
type Step struct {
	Kind      Kind
	Text      string     // text: what the delta holds
	Cut       bool       // text: write the event in pieces that cut inside each multibyte character
	Events    int        // events: how many deltas
	Size      int        // events: bytes of text in each
	Gate      string     // gate: its name
	Status    int        // fail: the HTTP status, 400 to 599
	Message   string     // fail: the message of the error
	Finish    string     // finish: the reason
	Subagents []Subagent // subagent: the calls, one or more, made in one message
}

// A Subagent is one call of the tool [SubagentTool].
type Subagent struct {
	Description string
	Prompt      string  // the child's prompt; the marker of Script is appended to it
	Script      *Script // what the child's model answers; nil for the default reply
}

// Text is a step that sends s in one delta.
func Text(s string) Step { return Step{Kind: KindText, Text: s} }

// CutText is [Text] with the body of the HTTP response cut, and flushed, inside each multibyte character of
// that event.
func CutText(s string) Step { return Step{Kind: KindText, Text: s, Cut: true} }

// Events is a step that sends n deltas of size ASCII bytes each; [Script.Answer] tells which.
func Events(n, size int) Step { return Step{Kind: KindEvents, Events: n, Size: size} }

// AtGate is a step that waits until the gate of that name is opened.
func AtGate(name string) Step { return Step{Kind: KindGate, Gate: name} }

// Fail is a step that ends the answer by an error: before any output an HTTP response of that status, after
// output an error event and a cut connection.
func Fail(status int, message string) Step {
	return Step{Kind: KindFail, Status: status, Message: message}
}

// Drop is a step that cuts the connection with no word.
func Drop() Step { return Step{Kind: KindDrop} }

// Finish is a step that sets the finish reason of the message it stands in.
func Finish(reason string) Step { return Step{Kind: KindFinish, Finish: reason} }

// Spawn is a step that calls the tool [SubagentTool] once for each of children, in one message, and so ends
// that message.
func Spawn(children ...Subagent) Step { return Step{Kind: KindSubagent, Subagents: children} }

// Child is the [Subagent] whose child answers by steps, recorded under tag.
func Child(description, prompt, tag string, steps ...Step) Subagent {
	return Subagent{Description: description, Prompt: prompt, Script: &Script{Tag: tag, Steps: steps}}
}

// NewScript is the script of that tag and those steps.
func NewScript(tag string, steps ...Step) Script { return Script{Tag: tag, Steps: steps} }

// WithGate waits at the gate of that name, then says text: the commonest held turn.
func WithGate(tag, gate, text string) Script { return NewScript(tag, AtGate(gate), Text(text)) }

// FullPrompt is the prompt that the tool call carries: Prompt, a space, and the marker of Script.
func (a Subagent) FullPrompt() string {
	if a.Script == nil {
		return a.Prompt
	}
	return a.Prompt + " " + a.Script.Marker()
}

// Segment gives the steps that answer the model call at position, which is the number of answers with tool
// calls that the turn already has. The segment's last step is its subagent step, where it has one. Past the
// script's end ok is false.
func (s Script) Segment(position int) (steps []Step, ok bool) {
	if position < 0 {
		return nil, false
	}
	start := 0
	for i, step := range s.Steps {
		if step.Kind != KindSubagent {
			continue
		}
		if position == 0 {
			return s.Steps[start : i+1], true
		}
		position--
		start = i + 1
	}
	if position > 0 {
		return nil, false
	}
	return s.Steps[start:], true
}

// Answer is the whole text that the model streams at position, up to a fail or drop step.
func (s Script) Answer(position int) string {
	steps, _ := s.Segment(position)
	var text strings.Builder
	letters := 0
	for _, step := range steps {
		switch step.Kind {
		case KindText:
			text.WriteString(step.Text)
		case KindEvents:
			text.Write(eventText(letters, step.Events*step.Size))
			letters += step.Events * step.Size
		case KindFail, KindDrop:
			return text.String()
		}
	}
	return text.String()
}

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// eventText is n letters of the endless row a…z a…z…, from the one at offset on. The row goes on from event to
// event, so that a lost or doubled one shows in the joined text.
func eventText(offset, n int) []byte {
	text := make([]byte, 0, n)
	for len(text) < n {
		from := (offset + len(text)) % len(alphabet)
		text = append(text, alphabet[from:min(len(alphabet), from+n-len(text))]...)
	}
	return text
}

// Validate says what the grammar has against s, nil if nothing.
func (s Script) Validate() error {
	if s.Tag == "" {
		return errors.New(`"tag" is missing or empty`)
	}
	for i, step := range s.Steps {
		if err := step.validate(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) validate() error {
	switch s.Kind {
	case KindText, KindDrop:
	case KindEvents:
		if s.Events < 0 || s.Events > maxEvents {
			return fmt.Errorf(`"events" is %d, not one of 0 to %d`, s.Events, maxEvents)
		}
		if s.Size < 1 || s.Size > maxEventBytes {
			return fmt.Errorf(`"size" is %d, not one of 1 to %d`, s.Size, maxEventBytes)
		}
		if int64(s.Events)*int64(s.Size) > maxEventBytes {
			return fmt.Errorf("%d events of %d bytes are more than %d bytes", s.Events, s.Size, maxEventBytes)
		}
	case KindGate:
		if s.Gate == "" {
			return errors.New("a gate needs a name")
		}
	case KindFail:
		if s.Status < 400 || s.Status > 599 {
			return fmt.Errorf(`"fail" is %d, not a status of 400 to 599`, s.Status)
		}
	case KindFinish:
		if s.Finish == "" {
			return errors.New("an empty finish reason")
		}
	case KindSubagent:
		if len(s.Subagents) == 0 {
			return errors.New("no subagent to call")
		}
		for i, child := range s.Subagents {
			if child.Script == nil {
				continue
			}
			if err := child.Script.Validate(); err != nil {
				return fmt.Errorf("script of subagent %d: %w", i+1, err)
			}
		}
	default:
		return fmt.Errorf("no such kind of step: %q", s.Kind)
	}
	return nil
}
