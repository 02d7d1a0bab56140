package model

import (
	"fmt"
	"strconv"
)

// chatStream is the stream of the chat completions dialect: chunks, the last of which has the finish reason and
// the usage, then [DONE].
type chatStream struct {
	out    *output
	asked  Call
	head   string // of every chunk, up to its delta
	event  []byte // scratch
	deltas int
	called bool
}

func newChatStream(out *output, c Call) *chatStream {
	return &chatStream{out: out, asked: c, head: string(jsonObject(
		`data: {"id":`, fmt.Sprintf("chatcmpl-%d", c.Seq),
		`,"object":"chat.completion.chunk","created":`+strconv.FormatInt(c.Time.Unix(), 10)+`,"model":`, c.Model,
		`,"choices":[{"index":0,"delta":`))}
}

const chatTail = `,"finish_reason":null}]}` + "\n\n"

func (s *chatStream) begin() error {
	if s.out.started {
		return nil
	}
	s.out.start("text/event-stream")
	_, err := s.out.buffer.WriteString(s.head + `{"role":"assistant","content":""}` + chatTail)
	return err
}

func (s *chatStream) delta(text []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	s.deltas++
	s.event = append(s.event[:0], s.head...)
	s.event = append(s.event, `{"content":`...)
	s.event = appendString(s.event, text)
	s.event = append(s.event, `}`+chatTail...)
	return s.out.write(s.event)
}

func (s *chatStream) call(calls []toolCall) error {
	if err := s.begin(); err != nil {
		return err
	}
	s.called = true
	for i, c := range calls {
		if err := s.callTool(i, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *chatStream) callTool(i int, c toolCall) error {
	index := strconv.Itoa(i)
	open := jsonObject(`{"tool_calls":[{"index":`+index+`,"id":`, c.id,
		`,"type":"function","function":{"name":`, SubagentTool, `,"arguments":""}}]}`)
	arguments := jsonObject(`{"tool_calls":[{"index":`+index+`,"function":{"arguments":`, string(c.arguments), `}}]}`)
	for _, delta := range [][]byte{open, arguments} {
		s.deltas++
		if _, err := s.out.buffer.WriteString(s.head + string(delta) + chatTail); err != nil {
			return err
		}
	}
	return nil
}

func (s *chatStream) finish(reason string) error {
	if err := s.begin(); err != nil {
		return err
	}
	event := jsonObject(s.head+`{},"finish_reason":`, chatReason(reason, s.called), `}],"usage":`+chatUsage(s.asked, s.deltas)+"}\n\ndata: [DONE]\n\n")
	if _, err := s.out.buffer.Write(event); err != nil {
		return err
	}
	return s.out.close()
}

func (s *chatStream) fail(status int, message string) (cut bool, err error) {
	if !s.out.started {
		writeError(s.out.w, ChatCompletions, status, message)
		return false, nil
	}
	event := append([]byte("data: "), errorBody(ChatCompletions, status, message)...)
	if _, err := s.out.buffer.Write(append(event, "\n\n"...)); err != nil {
		return true, err
	}
	return true, s.flush()
}

func (s *chatStream) flush() error { return s.out.flush() }

func chatReason(reason string, called bool) string {
	switch {
	case called:
		return "tool_calls"
	case reason == "":
		return FinishStop
	}
	return reason
}

// chatUsage makes up the numbers that an endpoint would count: about four bytes a token in, a token for each delta
// out.
func chatUsage(c Call, deltas int) string {
	in := promptTokens(c)
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, in, deltas, in+int64(deltas))
}

func promptTokens(c Call) int64 { return c.BodySize/4 + 1 }
