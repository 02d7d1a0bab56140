package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// readRequest reads the body of a request of any dialect into c. It takes what it can use and passes over all
// else, whatever its type: judging a subject by what it sends to its model is not the stub's business. Doubled
// members, lone surrogates and invalid UTF-8 are read; only what is no JSON at all, or no object, is an error.
func readRequest(body []byte, c *Call) error {
	r := bodyReader{jsontext.NewDecoder(bytes.NewBuffer(body),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if kind := r.dec.PeekKind(); kind != '{' && kind > 0 {
		return fmt.Errorf("the body is JSON of kind %v, not an object", kind)
	}
	var system, messages []Message
	err := r.object(func(name string) (err error) {
		switch name {
		case "model":
			c.Model, err = r.plainString()
		case "stream":
			c.Stream = r.dec.PeekKind() == 't'
			err = r.dec.SkipValue()
		case "max_tokens", "max_completion_tokens":
			var value jsontext.Value
			value, err = r.dec.ReadValue()
			if value.Kind() == '0' {
				c.MaxTokens = string(value)
			}
		case "messages":
			messages = nil
			err = r.array(func() error {
				m, err := r.message()
				messages = append(messages, m)
				return err
			})
		case "system":
			var content []block
			content, err = r.content()
			system = nil
			if len(content) > 0 {
				system = []Message{newMessage("system", content)}
			}
		case "tools":
			c.Tools = nil
			err = r.array(func() error {
				name, err := r.tool()
				c.Tools = append(c.Tools, name)
				return err
			})
		case "tag": // of a report by an in-server model
			c.Tag, err = r.plainString()
		default:
			err = r.dec.SkipValue()
		}
		return err
	})
	c.Messages = append(system, messages...)
	if err == nil {
		if _, err = r.dec.ReadToken(); errors.Is(err, io.EOF) {
			return nil
		} else if err == nil {
			err = errors.New("more than one value")
		}
	}
	if errors.Is(err, io.EOF) && len(bytes.TrimSpace(body)) == 0 {
		return errors.New("the body is empty")
	}
	return fmt.Errorf("the body is no JSON object: %w", err)
}

// bodyReader walks a body in one pass. Each of its methods reads exactly one value.
type bodyReader struct{ dec *jsontext.Decoder }

// object calls member with the name of each member of an object; member reads the value. Any other value is
// passed over.
func (r bodyReader) object(member func(name string) error) error {
	if r.dec.PeekKind() != '{' {
		return r.dec.SkipValue()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// array calls element at each element of an array; element reads it. Any other value is passed over.
func (r bodyReader) array(element func() error) error {
	if r.dec.PeekKind() != '[' {
		return r.dec.SkipValue()
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// literal is a JSON string: decoded, and as written where decoding lost something.
type literal struct {
	text string
	raw  string
}

func (r bodyReader) str() (literal, error) {
	value, err := r.dec.ReadValue()
	if err != nil || value.Kind() != '"' {
		return literal{}, err
	}
	text, lost := jsontext.AppendUnquote(make([]byte, 0, len(value)), []byte(value))
	out := literal{text: string(text)}
	if lost != nil {
		out.raw = string(value)
	}
	return out, nil
}

func (r bodyReader) plainString() (string, error) {
	s, err := r.str()
	return s.text, err
}

func (r bodyReader) tool() (name string, err error) {
	err = r.object(func(member string) (err error) {
		switch member {
		case "name":
			name, err = r.plainString()
		case "function":
			name, err = r.tool()
		default:
			err = r.dec.SkipValue()
		}
		return err
	})
	return name, err
}

// block is a content block of either dialect.
type block struct {
	kind    string
	text    literal
	call    ToolCall
	result  string // the id of the call that a tool_result answers
	content []block
}

func (r bodyReader) message() (Message, error) {
	var role, callID string
	var content []block
	var calls []ToolCall
	err := r.object(func(name string) (err error) {
		switch name {
		case "role":
			role, err = r.plainString()
		case "content", "texts":
			content, err = r.content()
		case "tool_calls":
			calls = nil
			err = r.array(func() error {
				b, err := r.block()
				calls = append(calls, b.call)
				return err
			})
		case "tool_call_id":
			callID, err = r.plainString()
		default:
			err = r.dec.SkipValue()
		}
		return err
	})
	if role == "tool" {
		content = []block{{kind: "tool_result", result: callID, content: content}}
	}
	m := newMessage(role, content)
	m.ToolCalls = append(m.ToolCalls, calls...)
	return m, err
}

// content reads content in any form: a string, or an array of blocks, a string among which is a text block.
func (r bodyReader) content() (blocks []block, err error) {
	if r.dec.PeekKind() == '"' {
		text, err := r.str()
		return []block{{kind: "text", text: text}}, err
	}
	err = r.array(func() error {
		if r.dec.PeekKind() == '"' {
			text, err := r.str()
			blocks = append(blocks, block{kind: "text", text: text})
			return err
		}
		b, err := r.block()
		blocks = append(blocks, b)
		return err
	})
	return blocks, err
}

// block reads a content block, or an element of tool_calls, whose members do not clash.
func (r bodyReader) block() (b block, err error) {
	err = r.object(func(name string) (err error) {
		switch name {
		case "type":
			b.kind, err = r.plainString()
		case "text":
			b.text, err = r.str()
		case "id":
			b.call.ID, err = r.plainString()
		case "name":
			b.call.Name, err = r.plainString()
		case "input":
			var input jsontext.Value
			input, err = r.dec.ReadValue()
			b.call.Arguments = string(input)
		case "arguments":
			b.call.Arguments, err = r.plainString()
		case "function":
			var inner block
			inner, err = r.block()
			b.call.Name, b.call.Arguments = inner.call.Name, inner.call.Arguments
		case "tool_use_id":
			b.result, err = r.plainString()
		case "content":
			b.content, err = r.content()
		default:
			err = r.dec.SkipValue()
		}
		return err
	})
	return b, err
}

func newMessage(role string, content []block) Message {
	m := Message{Role: role}
	for _, b := range content {
		m.Blocks = append(m.Blocks, b.kind)
		switch b.kind {
		case "text":
			m.Texts = append(m.Texts, b.text.text)
			if b.text.raw != "" && m.RawTexts == nil {
				m.RawTexts = make([]string, len(m.Texts)-1, len(content))
			}
			if m.RawTexts != nil {
				m.RawTexts = append(m.RawTexts, b.text.raw)
			}
		case "tool_use":
			m.ToolCalls = append(m.ToolCalls, b.call)
		case "tool_result":
			result := ToolResult{ID: b.result}
			for _, inner := range b.content {
				if inner.kind == "text" {
					result.Texts = append(result.Texts, inner.text.text)
				}
			}
			m.ToolResults = append(m.ToolResults, result)
		}
	}
	return m
}
