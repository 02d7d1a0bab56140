package protocol

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// session is what the monitor knows of one session.
type session struct {
	id       string
	prompts  []*Request // in flight
	answered *wire.Line // the last response of a prompt that left none in flight
	refused  bool       // that response was an error
	owedTurn []*Request // successful prompts whose turn has not shown its turn/end

	nextSeq int64
	events  int
	first   wire.Line // the first event, evidence of a child that nobody announced
	open    *turnStart
	last    *turnEnd
	late    bool // the events that come belong to a turn that was already judged late

	finished []finished // accepted: session.finished since the last response
	inbox
	status
}

type turnStart struct {
	number int64
	line   wire.Line
}

type turnEnd struct {
	number int64
	kind   string
	reason jsontext.Value
	line   wire.Line
}

func (s *session) lastEnd() *turnEnd {
	if s == nil {
		return nil
	}
	return s.last
}

func (m *Monitor) session(id string) *session {
	s := m.sessions[id]
	if s == nil {
		s = &session{id: id}
		m.sessions[id] = s
	}
	return s
}

// root is the session whose prompt the turns of id belong to.
func (m *Monitor) root(id string) *session {
	for range m.children { // a chain is not longer than there are children
		c := m.children[id]
		if c == nil {
			break
		}
		id = c.parent
	}
	return m.session(id)
}

// running is the number of sessions with an open turn or a prompt in flight.
func (m *Monitor) running() int {
	n := 0
	for _, s := range m.sessions {
		if s.open != nil || len(s.prompts) > 0 {
			n++
		}
	}
	return n
}

func (m *Monitor) prompted(q *Request) {
	s := m.session(q.Session)
	s.prompts = append(s.prompts, q)
	s.answered, s.late = nil, false
}

// settled keeps the bookkeeping of a prompt that was answered.
func (m *Monitor) settled(l wire.Line, msg wire.Message, q *Request) {
	s := m.sessions[q.Session]
	if !q.prompt || s == nil {
		return
	}
	for i, p := range s.prompts {
		if p == q {
			s.prompts = append(s.prompts[:i:i], s.prompts[i+1:]...)
			break
		}
	}
	if !m.o.Profile.Settles() {
		return
	}
	ok := msg.Error == nil
	if m.o.Profile == Accepted && ok {
		m.finishedOnce(l, s)
	}
	if ok {
		m.apply("S-TRN-12")
		if s.last == nil || s.open != nil {
			s.owedTurn = append(s.owedTurn, q)
		}
	}
	if len(s.prompts) == 0 {
		kept := Evidence(l)
		s.answered, s.refused = &kept, !ok
	}
	if ok {
		s.forgetTurn()
	}
}

// forgetTurn makes the next prompt start without a turn/end of an earlier one,
// while a turn that is still open stays so.
func (s *session) forgetTurn() { s.last = nil }

// neverEnded reports the successful prompts whose turn never ended.
func (m *Monitor) neverEnded() {
	for _, s := range m.sessions {
		for _, q := range s.owedTurn {
			if !q.afterShutdown {
				m.violate("S-TRN-12", "a prompt succeeds only with the turn/end of its turn", "none came, then or later", q.Line, *q.Response)
			}
		}
	}
	m.childrenAtTheEnd()
	m.inboxesAtTheEnd()
}

// event judges one session.event.
func (m *Monitor) event(l wire.Line, params wire.Object) {
	id, _ := params.String("sessionId")
	e, _ := params.Object("event")
	kind, _ := e.String("type")
	data, _ := e.Object("data")
	s := m.session(id)
	s.events++
	if s.events == 1 {
		s.first = Evidence(l)
	}
	m.sequence(l, e, s)
	m.childEvent(l, id, kind, data)
	number, numbered := data.Int("turn")
	late := m.lateEvent(l, s, kind, numbered)
	switch kind {
	case EventTurnStart:
		m.turnStarts(l, s, number, late)
	case EventTurnEnd:
		m.turnEnds(l, s, number, data, late)
	case EventInboxSpliced:
		m.spliced(l, s, data)
	default:
		if kind == EventUserMessage {
			s.served(data)
		}
		if numbered && !late {
			m.apply("S-ORD-06")
			if s.open == nil || s.open.number != number {
				m.violate("S-ORD-06", fmt.Sprintf("an event with turn %d lies between the turn/start and the turn/end of that turn", number), kind+" outside of it", s.turnEvidence(), l)
			}
		}
	}
	if m.o.Profile == Accepted && !late && len(s.finished) > 0 && ofTheTurn(kind, numbered) {
		m.violate("S-ORD-07", "session.finished comes after the events of its turn", kind+" comes behind it", s.finished[0].line, l)
	}
}

func (s *session) turnEvidence() wire.Line {
	switch {
	case s.open != nil:
		return s.open.line
	case s.last != nil:
		return s.last.line
	}
	return wire.Line{}
}

func (m *Monitor) sequence(l wire.Line, e wire.Object, s *session) {
	seq, ok := e.Int("seq")
	if !ok {
		return // its schema says so
	}
	m.apply("S-ORD-03")
	if seq != s.nextSeq {
		m.violate("S-ORD-03", fmt.Sprintf("the next event of session %q has seq %d", Short(s.id), s.nextSeq), fmt.Sprintf("seq %d", seq), l)
	}
	s.nextSeq = seq + 1
}

// ofTheTurn tells whether an event belongs to a turn: it carries a turn number,
// or is of a type that only turns emit. Events of the session (its title, its
// inbox, …) may come at any time.
func ofTheTurn(kind string, numbered bool) bool {
	if numbered {
		return true
	}
	switch family, _, _ := strings.Cut(kind, "/"); family {
	case "turn", "assistant", "tool", "step":
		return true
	}
	return kind == EventUserMessage
}

// lateEvent judges an event of a turn whose prompt was answered already. It
// reports whether the event is late, so that it is not judged a second time.
func (m *Monitor) lateEvent(l wire.Line, s *session, kind string, numbered bool) bool {
	if !m.o.Profile.Settles() || !ofTheTurn(kind, numbered) {
		return false
	}
	root := m.root(s.id)
	if m.children[s.id] == nil && len(s.prompts) == 0 && s.answered == nil {
		return false // a session that nobody prompted or announced: see subagents
	}
	m.apply("S-ORD-01")
	m.apply("S-ORD-05")
	if len(root.prompts) > 0 || len(s.prompts) > 0 || root.answered == nil {
		return false
	}
	if s.late {
		return true
	}
	answer := *root.answered
	switch {
	case root.refused:
		m.violate("S-ORD-04", "an error response comes after the notifications that its handler emitted", kind+" comes behind it", answer, l)
		s.late = kind == EventTurnStart
	case kind == EventTurnStart && m.children[s.id] == nil && len(s.owedTurn) == 0:
		m.violate("S-ORD-05", "a turn starts where a prompt asks for it", "a turn that no prompt asked for", answer, l)
		s.late = true
	default:
		m.violate("S-ORD-01", "every event of the turn comes before the response", kind+" comes behind it", answer, l)
	}
	return true
}

func (m *Monitor) turnStarts(l wire.Line, s *session, number int64, late bool) {
	if !late {
		m.apply("S-ORD-06")
		if s.open != nil {
			m.violate("S-ORD-06", fmt.Sprintf("turn %d ends before another starts", s.open.number), fmt.Sprintf("turn %d starts", number), s.open.line, l)
		}
		m.stepsWhileIdle(l, s)
	}
	s.open = &turnStart{number: number, line: Evidence(l)}
}

func (m *Monitor) turnEnds(l wire.Line, s *session, number int64, data wire.Object, late bool) {
	if !late {
		m.apply("S-ORD-06")
		if s.open == nil || s.open.number != number {
			m.violate("S-ORD-06", "turn/start comes before the turn/end of its turn", fmt.Sprintf("the end of turn %d, which is not open", number), s.turnEvidence(), l)
		}
	}
	reason, _ := data.Object("reason")
	kind, _ := reason.String("kind")
	s.open = nil
	s.turnServed()
	if len(s.owedTurn) > 0 {
		s.owedTurn = s.owedTurn[1:]
	}
	if !late {
		s.last = &turnEnd{number: number, kind: kind, reason: data["reason"], line: Evidence(l)}
	}
}
