package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The forms of a script in JSON. Pointers tell a member that is absent from one that is empty.
type (
	scriptJSON struct {
		Tag   string     `json:"tag"`
		Steps []stepJSON `json:"steps"`
	}
	stepJSON struct {
		Text      *string         `json:"text,omitzero"`
		Cut       *bool           `json:"cut,omitzero"`
		Events    *int            `json:"events,omitzero"`
		Size      *int            `json:"size,omitzero"`
		Gate      *string         `json:"gate,omitzero"`
		Fail      *int            `json:"fail,omitzero"`
		Message   *string         `json:"message,omitzero"`
		Drop      *bool           `json:"drop,omitzero"`
		Finish    *string         `json:"finish,omitzero"`
		Subagent  *subagentJSON   `json:"subagent,omitzero"`
		Subagents *[]subagentJSON `json:"subagents,omitzero"`
	}
	subagentJSON struct {
		Description string      `json:"description"`
		Prompt      string      `json:"prompt"`
		Script      *scriptJSON `json:"script,omitzero"`
	}
)

// A script comes out of a prompt that went through the subject: what the subject did to its characters is
// for the specs to judge, so a lone surrogate or an invalid byte does not stop the script.
var scriptOptions = json.JoinOptions(
	json.RejectUnknownMembers(true),
	jsontext.AllowInvalidUTF8(true),
)

// MarshalJSON gives s in the form that the marker carries.
func (s Script) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(toScriptJSON(s), scriptOptions)
	if err != nil {
		return nil, fmt.Errorf("writing the script %q: %w", s.Tag, err)
	}
	return data, nil
}

// UnmarshalJSON reads a script and checks it by [Script.Validate]. Unknown members, doubled members and steps
// of no or of two kinds are errors that say which step is wrong.
func (s *Script) UnmarshalJSON(data []byte) error {
	var in scriptJSON
	if err := json.Unmarshal(data, &in, scriptOptions); err != nil {
		return fmt.Errorf("not a script: %w", err)
	}
	out, err := fromScriptJSON(in)
	if err != nil {
		return err
	}
	if err := out.Validate(); err != nil {
		return err
	}
	*s = out
	return nil
}

func toScriptJSON(s Script) scriptJSON {
	out := scriptJSON{Tag: s.Tag, Steps: make([]stepJSON, 0, len(s.Steps))}
	for _, step := range s.Steps {
		out.Steps = append(out.Steps, toStepJSON(step))
	}
	return out
}

func toStepJSON(s Step) stepJSON {
	yes := true
	var out stepJSON
	switch s.Kind {
	case KindText:
		out.Text = &s.Text
		if s.Cut {
			out.Cut = &yes
		}
	case KindEvents:
		out.Events = &s.Events
		if s.Size != 1 {
			out.Size = &s.Size
		}
	case KindGate:
		out.Gate = &s.Gate
	case KindFail:
		out.Fail = &s.Status
		if s.Message != "" {
			out.Message = &s.Message
		}
	case KindDrop:
		out.Drop = &yes
	case KindFinish:
		out.Finish = &s.Finish
	case KindSubagent:
		children := make([]subagentJSON, 0, len(s.Subagents))
		for _, child := range s.Subagents {
			c := subagentJSON{Description: child.Description, Prompt: child.Prompt}
			if child.Script != nil {
				script := toScriptJSON(*child.Script)
				c.Script = &script
			}
			children = append(children, c)
		}
		if len(children) == 1 {
			out.Subagent = &children[0]
		} else {
			out.Subagents = &children
		}
	}
	return out
}

func fromScriptJSON(in scriptJSON) (Script, error) {
	if in.Steps == nil {
		return Script{}, errors.New(`"steps" is missing`)
	}
	out := Script{Tag: in.Tag, Steps: make([]Step, 0, len(in.Steps))}
	for i, step := range in.Steps {
		s, err := fromStepJSON(step)
		if err != nil {
			return Script{}, fmt.Errorf("step %d: %w", i+1, err)
		}
		out.Steps = append(out.Steps, s)
	}
	return out, nil
}

func fromStepJSON(in stepJSON) (Step, error) {
	var kinds []string
	var out Step
	take := func(kind Kind, member string) {
		out.Kind = kind
		kinds = append(kinds, member)
	}
	if in.Text != nil {
		take(KindText, "text")
		out.Text = *in.Text
	}
	if in.Events != nil {
		take(KindEvents, "events")
		out.Events, out.Size = *in.Events, 1
	}
	if in.Gate != nil {
		take(KindGate, "gate")
		out.Gate = *in.Gate
	}
	if in.Fail != nil {
		take(KindFail, "fail")
		out.Status = *in.Fail
	}
	if in.Drop != nil {
		take(KindDrop, "drop")
		if !*in.Drop {
			return out, errors.New(`"drop" is false: leave the step out`)
		}
	}
	if in.Finish != nil {
		take(KindFinish, "finish")
		out.Finish = *in.Finish
	}
	var children []subagentJSON
	if in.Subagent != nil {
		take(KindSubagent, "subagent")
		children = []subagentJSON{*in.Subagent}
	}
	if in.Subagents != nil {
		take(KindSubagent, "subagents")
		children = *in.Subagents
	}
	switch len(kinds) {
	case 1:
	case 0:
		return out, errors.New("does nothing: one of text, events, gate, fail, drop, finish, subagent, subagents is needed")
	default:
		return out, fmt.Errorf("is several steps in one: %s", strings.Join(kinds, ", "))
	}
	for _, child := range children {
		c := Subagent{Description: child.Description, Prompt: child.Prompt}
		if child.Script != nil {
			script, err := fromScriptJSON(*child.Script)
			if err != nil {
				return out, fmt.Errorf("script of subagent %q: %w", child.Description, err)
			}
			c.Script = &script
		}
		out.Subagents = append(out.Subagents, c)
	}
	return out, fromModifiers(in, &out)
}

// fromModifiers reads the members that change a step, each of which belongs to one kind.
func fromModifiers(in stepJSON, out *Step) error {
	if in.Cut != nil {
		if out.Kind != KindText {
			return errors.New(`"cut" goes with "text" alone`)
		}
		out.Cut = *in.Cut
	}
	if in.Size != nil {
		if out.Kind != KindEvents {
			return errors.New(`"size" goes with "events" alone`)
		}
		out.Size = *in.Size
	}
	if in.Message != nil {
		if out.Kind != KindFail {
			return errors.New(`"message" goes with "fail" alone`)
		}
		out.Message = *in.Message
	}
	return nil
}
