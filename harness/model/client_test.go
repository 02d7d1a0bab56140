package model_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

// dialects are those that are called over HTTP.
var dialects = []model.Dialect{model.ChatCompletions, model.Messages}

func TestMain(m *testing.M) {
	// Nothing here asserts a time: this only ends a test that hangs.
	SetDefaultEventuallyTimeout(5 * time.Minute)
	os.Exit(m.Run())
}

func start(t testing.TB, o model.Options) *model.Stub {
	t.Helper()
	stub, err := model.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stub.Close(); err != nil {
			t.Error(err)
		}
	})
	return stub
}

// agent is a small server in the sense of the stub: it calls the model as the real ones do, runs subagents, and
// keeps the conversation.
type agent struct {
	stub     *model.Stub
	dialect  model.Dialect
	whole    bool // ask for no stream
	noTools  bool
	messages []map[string]any
	answers  []answer // every answer of the model, those to children too, in the order of their ends
}

// answer is what came of one call.
type answer struct {
	status    int
	text      string
	deltas    []string
	reason    string
	errorText string // of an error body or an error event
	calls     []toolUse
	ended     bool // the stream ended as its dialect says
	broken    error
	headers   http.Header
	body      []byte
}

type toolUse struct{ id, name, arguments string }

func path(d model.Dialect) string {
	if d == model.Messages {
		return "/v1/messages"
	}
	return "/chat/completions"
}

func (a *agent) request() []byte {
	body := map[string]any{"model": "m1", "stream": !a.whole, "messages": a.messages, "max_tokens": 4096}
	schema := map[string]any{"type": "object"}
	if !a.noTools {
		if a.dialect == model.Messages {
			body["tools"] = []any{map[string]any{"name": "subagent", "input_schema": schema}}
		} else {
			body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "subagent", "parameters": schema}}}
		}
	}
	if a.dialect == model.Messages {
		body["system"] = []any{map[string]any{"type": "text", "text": "Be brief."}}
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return data
}

func (a *agent) user(texts ...string) {
	var blocks []any
	for _, text := range texts {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	a.messages = append(a.messages, map[string]any{"role": "user", "content": blocks})
}

// run prompts and goes on until an answer calls no tool; it gives that answer.
func (a *agent) run(ctx context.Context, prompt ...string) answer {
	a.user(prompt...)
	for {
		got := post(ctx, a.stub, a.dialect, a.request())
		a.answers = append(a.answers, got)
		if got.status != 200 || got.broken != nil || !got.ended {
			return got
		}
		a.messages = append(a.messages, a.assistant(got))
		if len(got.calls) == 0 {
			return got
		}
		var results []any
		for _, call := range got.calls {
			var arguments struct{ Description, Prompt string }
			if err := json.Unmarshal([]byte(call.arguments), &arguments); err != nil {
				panic(err)
			}
			child := &agent{stub: a.stub, dialect: a.dialect, whole: a.whole}
			last := child.run(ctx, arguments.Prompt)
			a.answers = append(a.answers, child.answers...)
			if a.dialect == model.Messages {
				results = append(results, map[string]any{"type": "tool_result", "tool_use_id": call.id, "content": last.text})
			} else {
				a.messages = append(a.messages, map[string]any{"role": "tool", "tool_call_id": call.id, "content": last.text})
			}
		}
		if a.dialect == model.Messages {
			a.messages = append(a.messages, map[string]any{"role": "user", "content": results})
		}
	}
}

func (a *agent) assistant(got answer) map[string]any {
	if a.dialect == model.Messages {
		var blocks []any
		if got.text != "" {
			blocks = append(blocks, map[string]any{"type": "text", "text": got.text})
		}
		for _, call := range got.calls {
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": call.id, "name": call.name, "input": json.RawMessage(call.arguments)})
		}
		return map[string]any{"role": "assistant", "content": blocks}
	}
	m := map[string]any{"role": "assistant", "content": got.text}
	var calls []any
	for _, call := range got.calls {
		calls = append(calls, map[string]any{"id": call.id, "type": "function",
			"function": map[string]any{"name": call.name, "arguments": call.arguments}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

func newRequest(ctx context.Context, stub *model.Stub, d model.Dialect, body []byte) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, stub.URL()+path(d), bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if d == model.Messages {
		r.Header.Set("X-Api-Key", stub.Key())
	} else {
		r.Header.Set("Authorization", "Bearer "+stub.Key())
	}
	return r
}

// transport keeps no connection, so that a cut one is never retried on another behind the test's back.
var transport = &http.Transport{DisableKeepAlives: true}

func post(ctx context.Context, stub *model.Stub, d model.Dialect, body []byte) answer {
	return do(newRequest(ctx, stub, d, body), d)
}

func do(r *http.Request, d model.Dialect) (got answer) {
	response, err := transport.RoundTrip(r)
	if err != nil {
		return answer{broken: err}
	}
	defer response.Body.Close()
	got.status, got.headers = response.StatusCode, response.Header
	if response.Header.Get("Content-Type") != "text/event-stream" {
		got.body, got.broken = io.ReadAll(response.Body)
		got.readWhole(d)
		return got
	}
	var raw bytes.Buffer
	lines := bufio.NewReader(io.TeeReader(response.Body, &raw))
	event := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				got.broken = err
			}
			got.body = raw.Bytes()
			return got
		}
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			event = name
		} else if data, ok := strings.CutPrefix(line, "data: "); ok {
			got.read(d, event, data)
		} else if line != "" {
			got.broken = fmt.Errorf("a line that is no event stream: %q", line)
		} else {
			event = ""
		}
	}
}

// wireEvent is an event, or a whole reply, of either dialect.
type wireEvent struct {
	Type    string
	Index   int
	Content []struct {
		Type, Text, ID, Name string
		Input                json.RawMessage
	}
	StopReason string `json:"stop_reason"`
	Message    *struct {
		Role, Model string
		Usage       map[string]int
	}
	ContentBlock struct{ Type, ID, Name string } `json:"content_block"`
	Delta        struct {
		Type, Text  string
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	}
	Error *struct{ Type, Message string }

	ID, Object, Model string
	Created           int64
	Choices           []struct {
		Delta        wireMessage
		Message      wireMessage
		FinishReason *string `json:"finish_reason"`
	}
	Usage map[string]int
}

type wireMessage struct {
	Role      string
	Content   string
	ToolCalls []struct {
		Index    int
		ID, Type string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func (a *answer) read(d model.Dialect, event, data string) {
	if data == "[DONE]" {
		a.ended = d == model.ChatCompletions
		return
	}
	var e wireEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		a.broken = fmt.Errorf("event %s: %w", data, err)
		return
	}
	if e.Error != nil {
		a.errorText = e.Error.Message
		return
	}
	if d == model.Messages {
		if event != e.Type {
			a.broken = fmt.Errorf("event line %q, type %q", event, e.Type)
		}
		a.readMessages(e)
		return
	}
	if e.ID == "" || e.Object != "chat.completion.chunk" || e.Created == 0 || e.Model == "" || len(e.Choices) != 1 {
		a.broken = fmt.Errorf("not a whole chunk: %s", data)
		return
	}
	choice := e.Choices[0]
	if choice.FinishReason != nil {
		a.reason = *choice.FinishReason
		if e.Usage["total_tokens"] == 0 {
			a.broken = fmt.Errorf("no usage: %s", data)
		}
	}
	for _, call := range choice.Delta.ToolCalls {
		if call.ID != "" {
			a.calls = append(a.calls, toolUse{id: call.ID, name: call.Function.Name})
		}
		a.calls[call.Index].arguments += call.Function.Arguments
	}
	if choice.Delta.Role == "" && choice.FinishReason == nil && choice.Delta.ToolCalls == nil {
		a.text += choice.Delta.Content
		a.deltas = append(a.deltas, choice.Delta.Content)
	}
}

func (a *answer) readMessages(e wireEvent) {
	switch e.Type {
	case "content_block_start":
		if e.ContentBlock.Type == "tool_use" {
			a.calls = append(a.calls, toolUse{id: e.ContentBlock.ID, name: e.ContentBlock.Name})
		}
	case "content_block_delta":
		if e.Delta.Type == "text_delta" {
			a.text += e.Delta.Text
			a.deltas = append(a.deltas, e.Delta.Text)
		} else {
			a.calls[len(a.calls)-1].arguments += e.Delta.PartialJSON
		}
	case "message_delta":
		a.reason = e.Delta.StopReason
	case "message_stop":
		a.ended = true
	}
}

// readWhole reads a reply that is no stream.
func (a *answer) readWhole(d model.Dialect) {
	var e wireEvent
	if err := json.Unmarshal(a.body, &e); err != nil {
		a.broken = errors.Join(a.broken, err)
		return
	}
	if e.Error != nil {
		a.errorText = e.Error.Message
		return
	}
	a.ended = true
	if d == model.Messages {
		a.reason = e.StopReason
		for _, block := range e.Content {
			if block.Type == "text" {
				a.text += block.Text
			} else {
				a.calls = append(a.calls, toolUse{block.ID, block.Name, string(block.Input)})
			}
		}
		return
	}
	a.text, a.reason = e.Choices[0].Message.Content, *e.Choices[0].FinishReason
	for _, call := range e.Choices[0].Message.ToolCalls {
		a.calls = append(a.calls, toolUse{call.ID, call.Function.Name, call.Function.Arguments})
	}
}

// eachDialect runs a test in both dialects, streamed and whole.
func eachDialect(t *testing.T, test func(t *testing.T, g *WithT, a *agent)) {
	for _, d := range dialects {
		for _, whole := range []bool{false, true} {
			name := string(d) + "/stream"
			if whole {
				name = string(d) + "/whole"
			}
			t.Run(name, func(t *testing.T) {
				test(t, NewWithT(t), &agent{stub: start(t, model.Options{}), dialect: d, whole: whole})
			})
		}
	}
}

// eachStream runs a test in both dialects, streamed.
func eachStream(t *testing.T, test func(t *testing.T, g *WithT, a *agent)) {
	for _, d := range dialects {
		t.Run(string(d), func(t *testing.T) {
			test(t, NewWithT(t), &agent{stub: start(t, model.Options{}), dialect: d})
		})
	}
}
