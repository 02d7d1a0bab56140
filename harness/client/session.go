package client

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/protocol"
)

// Session is a session as its runtime tells of it: it numbers events and turns. Each method gives the line of one
// notification, which is written by whoever asked for it; the numbers run in the order in which the lines are made.
type Session struct {
	ID string
	rt *Runtime

	seq, turn, step int
}

// Session gives the session of that id, made at the first use.
func (rt *Runtime) Session(id string) *Session {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := rt.sessions[id]
	if s == nil {
		s = &Session{ID: id, rt: rt}
		rt.sessions[id] = s
	}
	return s
}

// Event is a session.event of any type.
func (s *Session) Event(kind string, data any) []byte {
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	return s.event(kind, data)
}

func (s *Session) event(kind string, data any) []byte {
	e := struct {
		Type string         `json:"type"`
		Seq  int            `json:"seq"`
		Time int64          `json:"time"`
		Data jsontext.Value `json:"data"`
	}{kind, s.seq, time.Now().UnixMilli(), Encode(data)}
	s.seq++
	return NotificationLine(protocol.NotificationEvent, object{"sessionId": s.ID, "event": e})
}

type object = map[string]any

// TurnStart begins a turn.
func (s *Session) TurnStart() []byte {
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	s.turn++
	s.step = 0
	return s.event(protocol.EventTurnStart, object{"turn": s.turn})
}

// UserMessage tells of the message that the turn is about.
func (s *Session) UserMessage(id string, content jsontext.Value) []byte {
	return s.Event(protocol.EventUserMessage, object{"id": id, "role": "user", "content": content, "source": object{"kind": "user"}})
}

// Chunk is a piece of the assistant's text, as older releases tell it.
func (s *Session) Chunk(text string) []byte {
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	return s.event(protocol.EventAssistantChunk, object{"turn": s.turn, "step": max(s.step, 1), "chunk": TextBlock(text)})
}

// Assistant is a message of the assistant with one text block.
func (s *Session) Assistant(text string) []byte { return s.AssistantBlocks(TextBlock(text)) }

// AssistantBlocks is a message of the assistant with these content blocks.
func (s *Session) AssistantBlocks(blocks ...any) []byte {
	if blocks == nil {
		blocks = []any{}
	}
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	s.step++
	return s.event(protocol.EventAssistantMessage, object{"turn": s.turn, "step": s.step, "message": object{"role": "assistant", "content": blocks}})
}

// TurnEnd ends the turn with a reason, such as Reason("completed").
func (s *Session) TurnEnd(reason any) []byte {
	s.rt.mu.Lock()
	defer s.rt.mu.Unlock()
	return s.event(protocol.EventTurnEnd, object{"turn": s.turn, "reason": reason})
}

// Reason is a reason with this kind and nothing else.
func Reason(kind string) any { return object{"kind": kind} }

// Spliced tells that a message came into the inbox; with "" that one was taken out.
func (s *Session) Spliced(messageID string) []byte {
	data := object{"target": "next-turn", "start": 0, "inserted": []any{}}
	if messageID == "" {
		data["removedCount"] = 1
	} else {
		data["inserted"] = []any{object{"id": messageID, "role": "user", "content": []any{}}}
	}
	return s.Event(protocol.EventInboxSpliced, data)
}

// Status says that the session runs or is idle, in receipt.
func (s *Session) Status(status string) []byte {
	return NotificationLine(protocol.NotificationStatus, object{"sessionId": s.ID, "status": status})
}

// Finished is a session.finished, in accepted. A reason that is nil is left out.
func (s *Session) Finished(status string, reason any) []byte {
	params := object{"sessionId": s.ID, "status": status}
	if reason != nil {
		params["reason"] = reason
	}
	return NotificationLine(protocol.NotificationFinished, params)
}

// ChildStarted tells that a child of this session was started.
func (s *Session) ChildStarted(child string) []byte {
	return NotificationLine(protocol.NotificationSubagentStarted, object{"parentSessionId": s.ID, "childSessionId": child})
}

// ChildFinished tells that a child has settled: status ok or error, the kind of its last turn's reason, and the text
// of its last message, which is left out where it is nil.
func (s *Session) ChildFinished(child, status, stopReason string, last *string) []byte {
	params := object{
		"provider": "local", "agentId": child, "parentSessionId": s.ID, "childSessionId": child,
		"status": status, "stopReason": stopReason,
	}
	if last != nil {
		params["lastAssistantMessage"] = []any{TextBlock(*last)}
	}
	return NotificationLine(protocol.NotificationSubagentFinished, params)
}

// Child is what a sound runtime tells of a child from its start to its end: its session runs one turn that gives the
// text.
func (s *Session) Child(child, text string) [][]byte { return s.ChildWith(child, text, nil) }

// ChildWith is Child with lines in the middle of the child's turn, in front of its text. A between that is nil gives
// none.
func (s *Session) ChildWith(child, text string, between func(*Session) [][]byte) [][]byte {
	c := s.rt.Session(child)
	lines := [][]byte{s.ChildStarted(child)}
	receipt := s.rt.Profile() == protocol.Receipt
	if receipt {
		lines = append(lines, c.Spliced("task-"+child), c.Status("running"))
	}
	lines = append(lines, c.TurnStart())
	if receipt {
		lines = append(lines, c.Spliced(""))
	}
	if between != nil {
		lines = append(lines, between(c)...)
	}
	lines = append(lines, c.Assistant(text), c.TurnEnd(Reason(protocol.KindCompleted)))
	if receipt {
		lines = append(lines, c.Status("idle"))
	}
	return append(lines, s.ChildFinished(child, "ok", protocol.KindCompleted, &text))
}
