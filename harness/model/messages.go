package model

import (
	"fmt"
	"strconv"
)

// messagesStream is the stream of the messages dialect: a message that holds content blocks, each of which is
// started, filled by deltas, and stopped.
type messagesStream struct {
	out    *output
	asked  Call
	block  int  // index of the block that is open, or of the next
	open   bool // a text block is open
	event  []byte
	deltas int
	called bool
}

func newMessagesStream(out *output, c Call) *messagesStream {
	return &messagesStream{out: out, asked: c}
}

// send writes an event whose data begins with its own name.
func (s *messagesStream) send(name string, rest []byte) error {
	s.event = append(s.event[:0], "event: "...)
	s.event = append(s.event, name...)
	s.event = append(s.event, "\ndata: {\"type\":\""...)
	s.event = append(s.event, name...)
	s.event = append(s.event, '"')
	s.event = append(s.event, rest...)
	s.event = append(s.event, "}\n\n"...)
	return s.out.write(s.event)
}

func (s *messagesStream) begin() error {
	if s.out.started {
		return nil
	}
	s.out.start("text/event-stream")
	// Cutting is for the event that the script asked it for.
	cut := s.out.cut
	s.out.cut = false
	defer func() { s.out.cut = cut }()
	return s.send("message_start", jsonObject(`,"message":{"id":`, fmt.Sprintf("msg_%d", s.asked.Seq),
		`,"type":"message","role":"assistant","model":`, s.asked.Model,
		`,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":`+
			strconv.FormatInt(promptTokens(s.asked), 10)+`,"output_tokens":1}}`))
}

func (s *messagesStream) delta(text []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	if !s.open {
		s.open = true
		if err := s.send("content_block_start", fmt.Appendf(nil, `,"index":%d,"content_block":{"type":"text","text":""}`, s.block)); err != nil {
			return err
		}
	}
	s.deltas++
	s.event = append(s.event[:0], "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	s.event = strconv.AppendInt(s.event, int64(s.block), 10)
	s.event = append(s.event, `,"delta":{"type":"text_delta","text":`...)
	s.event = appendString(s.event, text)
	s.event = append(s.event, "}}\n\n"...)
	return s.out.write(s.event)
}

// stop ends the block that is open.
func (s *messagesStream) stop() error {
	s.open = false
	s.block++
	return s.send("content_block_stop", fmt.Appendf(nil, `,"index":%d`, s.block-1))
}

func (s *messagesStream) call(calls []toolCall) error {
	if err := s.begin(); err != nil {
		return err
	}
	if s.open {
		if err := s.stop(); err != nil {
			return err
		}
	}
	s.called = true
	for _, c := range calls {
		index := strconv.Itoa(s.block)
		if err := s.send("content_block_start", jsonObject(`,"index":`+index+`,"content_block":{"type":"tool_use","id":`, c.id,
			`,"name":`, SubagentTool, `,"input":{}}`)); err != nil {
			return err
		}
		s.deltas++
		if err := s.send("content_block_delta", jsonObject(`,"index":`+index+`,"delta":{"type":"input_json_delta","partial_json":`,
			string(c.arguments), `}`)); err != nil {
			return err
		}
		if err := s.stop(); err != nil {
			return err
		}
	}
	return nil
}

func (s *messagesStream) finish(reason string) error {
	if err := s.begin(); err != nil {
		return err
	}
	if s.open {
		if err := s.stop(); err != nil {
			return err
		}
	}
	if err := s.send("message_delta", jsonObject(`,"delta":{"stop_reason":`, messagesReason(reason, s.called),
		`,"stop_sequence":null},"usage":{"output_tokens":`+strconv.Itoa(max(1, s.deltas))+`}`)); err != nil {
		return err
	}
	if err := s.send("message_stop", nil); err != nil {
		return err
	}
	return s.out.close()
}

func (s *messagesStream) fail(status int, message string) (cut bool, err error) {
	if !s.out.started {
		writeError(s.out.w, Messages, status, message)
		return false, nil
	}
	if err := s.send("error", jsonObject(`,"error":{"type":`, errorKind(status), `,"message":`, message, `}`)); err != nil {
		return true, err
	}
	return true, s.flush()
}

func (s *messagesStream) flush() error { return s.out.flush() }

// messagesReason is the stop reason that this dialect has for a finish reason of the script.
func messagesReason(reason string, called bool) string {
	switch {
	case called:
		return "tool_use"
	case reason == "" || reason == FinishStop:
		return "end_turn"
	case reason == FinishLength:
		return "max_tokens"
	}
	return reason
}
