package protocol

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/wire"
)

// overtakes notes that a prompt succeeded while its turn was open. What comes of
// that turn is late, unless the end of a child was taken for the turn's.
func (m *Monitor) overtakes(l wire.Line, s *session) {
	if s.open == nil {
		return
	}
	s.overtaken = &overtaken{number: s.open.number, answer: Evidence(l)}
	if s.childEnded != nil {
		m.violate("S-SUB-03", "the end of a child's turn does not settle the prompt of its parent", "the prompt is answered behind the child's turn/end, before the parent's model spoke again", s.open.line, *s.childEnded, l)
		s.overtaken.blamed = true
	}
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
func (m *Monitor) lateEvent(l wire.Line, s *session, kind string, number int64, numbered bool) bool {
	if !m.o.Profile.Settles() || s.tangled || !ofTheTurn(kind, numbered) {
		return false
	}
	root := m.root(s.id)
	if m.children[s.id] == nil && len(s.prompts) == 0 && s.answered == nil {
		return false // a session that nobody prompted or announced: see subagents
	}
	m.apply("S-ORD-01")
	m.apply("S-ORD-05")
	if len(root.prompts) > 0 || len(s.prompts) > 0 || root.answered == nil {
		// the next prompt is in flight: the turn's number tells whose event it is
		if o := s.overtaken; o == nil || !numbered || number != o.number || kind == EventTurnStart {
			return false
		}
		if !s.overtaken.blamed {
			m.violate("S-ORD-01", "every event of the turn comes before the response", kind+" comes behind it", s.overtaken.answer, l)
		}
		return true
	}
	if s.late || root.overtaken != nil && root.overtaken.blamed {
		return true
	}
	answer := *root.answered
	switch {
	case root.refused && len(root.owedTurn) == 0: // else it is of a turn that was answered before that
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
	if !late && !s.tangled {
		m.apply("S-ORD-06")
		if len(s.owedTurn) == 0 { // the turn of that response is over
			m.finishedNever(s)
		}
		if s.open != nil {
			m.secondTurn(l, s, number)
		}
		m.stepsWhileIdle(l, s)
	}
	if !late {
		s.last, s.overtaken = nil, nil
	}
	s.open, s.turn = &turnStart{number: number, line: Evidence(l)}, max(s.turn, number)
}

// secondTurn judges a turn that starts while another is open. Whose fault that
// is depends on what asked for it.
func (m *Monitor) secondTurn(l wire.Line, s *session, number int64) {
	c := m.children[s.id]
	switch {
	case c != nil && c.disturbed:
		s.tangled = true
	case c != nil && c.failed: // its first turn is over, though no turn/end told so
	case m.o.Profile.Settles() && len(s.prompts) > 1:
		s.tangled, s.owedTurn = true, nil
		q := s.prompts[len(s.prompts)-1]
		m.violate(overlapRow(len(s.prompts)), "a prompt on a session with a running turn is refused", fmt.Sprintf("turn %d starts while turn %d runs", number, s.open.number), s.open.line, q.Line, l)
	case m.o.Profile.Settles() && len(s.owedTurn) > 0:
		q := s.owedTurn[0]
		s.owedTurn = s.owedTurn[1:]
		m.violate("S-TRN-12", "a prompt succeeds only with the turn/end of its turn", fmt.Sprintf("turn %d starts and turn %d has none", number, s.open.number), s.open.line, *q.Response, l)
	default:
		m.violate("S-ORD-06", fmt.Sprintf("turn %d ends before another starts", s.open.number), fmt.Sprintf("turn %d starts", number), s.open.line, l)
	}
}

func (m *Monitor) turnEnds(l wire.Line, s *session, number int64, data wire.Object, late bool) {
	if !late && !s.tangled {
		m.apply("S-ORD-06")
		if s.open == nil || s.open.number != number {
			m.violate("S-ORD-06", "turn/start comes before the turn/end of its turn", fmt.Sprintf("the end of turn %d, which is not open", number), s.turnEvidence(), l)
		}
	}
	reason, _ := data.Object("reason")
	kind, _ := reason.String("kind")
	if m.o.Profile == Receipt {
		m.apply("S-TRN-17") // a turn ends, and no session.finished is to come of it
	}
	s.open = nil
	s.ends++
	s.before, s.reason = s.reason, data["reason"].Clone() // the line goes
	if s.overtaken != nil && s.overtaken.number == number {
		s.overtaken = nil
	}
	s.turnServed()
	if len(s.owedTurn) > 0 {
		s.owedTurn = s.owedTurn[1:]
	}
	if !late {
		s.last = &turnEnd{number: number, kind: kind, reason: s.reason, line: Evidence(l)}
	}
}
