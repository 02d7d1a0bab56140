package model

import (
	"fmt"
	"strconv"
)

// wholeReply is the answer to a request that did not ask for a stream: one JSON object, written at the end. Until
// then nothing is out, so a fail step always sets the status.
type wholeReply struct {
	out    *output
	asked  Call
	text   []byte
	calls  []toolCall
	deltas int
}

func (r *wholeReply) delta(text []byte) error {
	r.deltas++
	r.text = append(r.text, text...)
	return nil
}

func (r *wholeReply) call(calls []toolCall) error {
	r.calls = append(r.calls, calls...)
	return nil
}

func (r *wholeReply) flush() error { return nil }

func (r *wholeReply) fail(status int, message string) (cut bool, err error) {
	writeError(r.out.w, r.asked.Dialect, status, message)
	return false, nil
}

func (r *wholeReply) finish(reason string) error {
	body := r.chat(reason)
	if r.asked.Dialect == Messages {
		body = r.messages(reason)
	}
	r.out.start("application/json")
	if err := r.out.write(append(body, '\n')); err != nil {
		return err
	}
	return r.out.close()
}

func (r *wholeReply) chat(reason string) []byte {
	body := jsonObject(`{"id":`, fmt.Sprintf("chatcmpl-%d", r.asked.Seq),
		`,"object":"chat.completion","created":`+strconv.FormatInt(r.asked.Time.Unix(), 10)+`,"model":`, r.asked.Model,
		`,"choices":[{"index":0,"message":{"role":"assistant","content":`, string(r.text), ``)
	for i, c := range r.calls {
		open := `,{"id":`
		if i == 0 {
			open = `,"tool_calls":[{"id":`
		}
		body = append(body, jsonObject(open, c.id, `,"type":"function","function":{"name":`, SubagentTool,
			`,"arguments":`, string(c.arguments), `}}`)...)
	}
	if len(r.calls) > 0 {
		body = append(body, ']')
	}
	return append(body, jsonObject(`},"finish_reason":`, chatReason(reason, len(r.calls) > 0),
		`}],"usage":`+chatUsage(r.asked, r.deltas)+`}`)...)
}

func (r *wholeReply) messages(reason string) []byte {
	body := jsonObject(`{"id":`, fmt.Sprintf("msg_%d", r.asked.Seq),
		`,"type":"message","role":"assistant","model":`, r.asked.Model, `,"content":[`)
	comma := ""
	if r.deltas > 0 {
		body = append(body, jsonObject(`{"type":"text","text":`, string(r.text), `}`)...)
		comma = ","
	}
	for _, c := range r.calls {
		body = append(body, jsonObject(comma+`{"type":"tool_use","id":`, c.id, `,"name":`, SubagentTool,
			`,"input":`+string(c.arguments)+`}`)...)
		comma = ","
	}
	return append(body, jsonObject(`],"stop_reason":`, messagesReason(reason, len(r.calls) > 0),
		fmt.Sprintf(`,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`,
			promptTokens(r.asked), max(1, r.deltas)))...)
}
