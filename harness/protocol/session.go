package protocol

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// session is what the monitor knows of one session.
type session struct {
	id        string
	prompts   []*Request // in flight
	prompted  bool       // a prompt ever named it
	answered  *wire.Line // the last response of a prompt that left none in flight
	refused   bool       // that response was an error
	owedTurn  []*Request // successful prompts whose turn has not shown its turn/end
	overtaken *overtaken // the turn that was open when its prompt succeeded

	nextSeq int64
	events  int
	first   wire.Line // the first event, evidence of a child that nobody announced
	open    *turnStart
	last    *turnEnd
	ends    int            // turn/end seen
	turn    int64          // the highest number of a turn that started
	reason  jsontext.Value // of the last turn/end
	before  jsontext.Value // of the one before it
	late    bool           // the events that come belong to a turn that was already judged late

	joined  bool // it may be older than what the monitor has seen
	crowded bool // several prompts were sent before its first event
	forked  bool // it was created twice: two sequences under one id can't be told apart
	tangled bool // two turns ran at once, until no prompt is in flight

	finished []finished // accepted: session.finished since the last response
	lacking  *wire.Line // accepted: the response that came without

	said       jsontext.Value // content of the last assistant/message, where no prompt named the session
	saidBefore jsontext.Value // of the message before that
	saidLine   wire.Line
	childEnded *wire.Line // the end of a child's turn, until the session itself goes on
	inbox
	status
}

type turnStart struct {
	number int64
	line   wire.Line
}

// overtaken is a turn whose prompt succeeded before its turn/end was seen.
type overtaken struct {
	number int64
	answer wire.Line
	blamed bool // under a requirement more specific than the late events
}

type turnEnd struct {
	number int64
	kind   string
	reason jsontext.Value
	line   wire.Line
}

// lastEnd is what the outcome of a prompt is compared with, nil where nothing is.
func (s *session) lastEnd() *turnEnd {
	if s == nil || s.tangled || s.forked || s.joined {
		return nil
	}
	return s.last
}

func (m *Monitor) session(id string) *session {
	m.revive(id)
	s := m.sessions[id]
	if s == nil {
		s = &session{id: id, joined: m.o.Joined || m.forgot}
		m.sessions[id] = s
	}
	return s
}

// root is the session whose prompt the turns of id belong to.
func (m *Monitor) root(id string) *session {
	for range len(m.children) + len(m.retired) { // a chain is not longer than there are children
		m.revive(id)
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
	q.quiet = s.current != "running" && len(s.prompts) == 0 && len(s.receipts) == 0 && !m.childRuns(s.id)
	if len(s.prompts) == 0 && s.tangled {
		s.tangled, s.open = false, nil
	}
	s.crowded = s.crowded || len(s.prompts) > 0 && s.events == 0
	s.prompts, s.prompted = append(s.prompts, q), true
	s.answered, s.late, s.said = nil, false, nil
	if c := m.children[q.Session]; c != nil {
		c.disturbed = true // what a prompt does to a child has no right answer
	}
}

// sessionOf is the session that a prompt names, nil where it names none: the
// empty string is a name too.
func (m *Monitor) sessionOf(q *Request) *session {
	if !q.named {
		return nil
	}
	return m.sessions[q.Session]
}

// mostOwed bounds how many successful prompts of a session wait for the end of their
// turns: a server that never tells it is known by the first.
const mostOwed = 64

// settled keeps the bookkeeping of a prompt that was answered.
func (m *Monitor) settled(l wire.Line, msg wire.Message, q *Request) {
	s := m.sessionOf(q)
	if !q.prompt || s == nil {
		return
	}
	for i, p := range s.prompts {
		if p == q {
			s.prompts = append(s.prompts[:i:i], s.prompts[i+1:]...)
			break
		}
	}
	m.distrust(s, msg)
	if !m.o.Profile.Settles() || s.joined {
		return
	}
	ok := msg.Error == nil
	if m.o.Profile == Accepted && ok {
		m.finishedOnce(l, s)
	}
	if ok && !s.tangled && !s.forked && m.children[s.id] == nil && !m.succeedsBeside(l, s, q) {
		m.apply("S-TRN-12")
		if s.last == nil || s.open != nil {
			if len(s.owedTurn) < mostOwed {
				s.owedTurn = append(s.owedTurn, q)
			}
		}
		m.overtakes(l, s)
	}
	if len(s.prompts) == 0 {
		kept := Evidence(l)
		s.answered, s.refused = &kept, !ok
		if !ok && len(s.owedTurn) == 0 && m.children[s.id] == nil {
			s.open = nil // a handler that fails need not tell the end of its turn
		}
	}
	if ok {
		s.last = nil // the next prompt needs a turn/end of its own
	}
}

// succeedsBeside judges a prompt that succeeds while the turn of an earlier one
// runs on: it was to be refused.
func (m *Monitor) succeedsBeside(l wire.Line, s *session, q *Request) bool {
	if s.open == nil || len(s.prompts) == 0 || s.prompts[0].Line.Seq > q.Line.Seq {
		return false
	}
	m.violate(overlapRow(len(s.prompts)+1), "a prompt on a session with a running turn is refused", "it succeeds while that turn runs on", s.open.line, q.Line, l)
	return true
}

// overlapRow is the row that is broken where one of so many prompts in flight on a
// session was to be refused. When each was written says nothing: the turn of the first
// may have begun unseen.
func overlapRow(inFlight int) string {
	if inFlight > 2 {
		return "S-OVL-06"
	}
	return "S-OVL-01"
}

// neverEnded reports the successful prompts whose turn never ended.
func (m *Monitor) neverEnded() {
	for _, s := range m.sessions {
		for _, q := range s.owedTurn {
			if !q.afterShutdown {
				m.violate("S-TRN-12", "a prompt succeeds only with the turn/end of its turn", "none came, then or later", q.Line, *q.Response)
			}
		}
		m.finishedNever(s)
	}
	m.childrenAtTheEnd()
}

// event judges one session.event.
func (m *Monitor) event(l wire.Line, params wire.Object) {
	id, _ := params.String("sessionId")
	e, _ := params.Object("event")
	kind, _ := e.String("type")
	data, _ := e.Object("data")
	s := m.session(id)
	s.events++
	if m.speaker != nil && m.speaker != s && m.speaker.open != nil {
		m.apply("S-FLS-03") // another session writes into an open turn
	}
	m.speaker = s
	if s.events == 1 {
		s.first = Evidence(l)
	}
	number, numbered := data.Int("turn")
	m.sequence(l, e, s, kind == EventTurnStart && number > s.turn)
	if s.forked || s.joined {
		return
	}
	m.childEvent(l, s, kind, data)
	late := m.lateEvent(l, s, kind, number, numbered)
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
		if numbered && !late && !s.tangled {
			m.apply("S-ORD-06")
			if s.open == nil || s.open.number != number {
				m.violate("S-ORD-06", fmt.Sprintf("an event with turn %d lies between the turn/start and the turn/end of that turn", number), kind+" outside of it", s.turnEvidence(), l)
			}
		}
	}
	if m.o.Profile == Accepted && !late && !s.tangled && len(s.finished) > 0 && ofTheTurn(kind, numbered) {
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

// sequence judges the seq of an event. One that comes again where prompts came
// together is that of a second session under the id, unless a later turn starts.
func (m *Monitor) sequence(l wire.Line, e wire.Object, s *session, nextTurn bool) {
	seq, ok := e.Int("seq")
	if !ok {
		return // its schema says so
	}
	m.begins(s, seq)
	row := "S-ORD-03/root"
	if m.children[s.id] != nil || !s.prompted && !s.joined {
		row = "S-ORD-03/child"
	}
	m.apply(row)
	if s.crowded {
		m.apply("S-OVL-10")
		if seq < s.nextSeq && !s.forked && !nextTurn {
			m.violate("S-OVL-10", "prompts that come together create their session once, with one sequence of events", fmt.Sprintf("seq %d comes a second time", seq), s.first, l)
			s.forked = true
		}
	}
	if seq != s.nextSeq && !s.forked {
		m.violate(row, fmt.Sprintf("the next event of session %q has seq %d", Short(s.id), s.nextSeq), fmt.Sprintf("seq %d", seq), l)
	}
	s.nextSeq = seq + 1
}
