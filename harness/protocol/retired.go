package protocol

import (
	"slices"

	"github.com/dshconform/dshconform/harness/wire"
)

// retired is what is left of a child that finished: enough to judge what comes of it
// all the same. Its evidence is gone.
type retired struct {
	parent                             string
	nextSeq, turn                      int64
	events, ends                       int
	current                            string
	cut, disturbed, judgedLate, failed bool
}

// retirement bounds what is kept of children that are over.
type retirement struct {
	over         []string            // finished children that are still kept whole, oldest first
	retired      map[string]*retired // by id
	retiredOrder []string            // of these, oldest first
	forgot       bool                // some are not even retired: an id that seems new may not be
}

const (
	keptChildren    = 64              // that finished, with their evidence
	retiredChildren = rememberedLines // that finished before those
)

// finishedChild notes that a child is over, and retires those before it that nothing is
// open of any more.
func (m *Monitor) finishedChild(id string) {
	m.over = append(m.over, id)
	for range len(m.over) - keptChildren {
		first := m.over[0]
		m.over = m.over[1:]
		switch c, s := m.children[first], m.sessions[first]; {
		case c == nil || c.finished == nil || s != nil && s.prompted: // the client knows it: it stays
		case s != nil && (s.open != nil && !c.failed || s.current == "running"), m.childRuns(first):
			m.over = append(m.over, first) // later
		default:
			m.retire(c, s)
		}
	}
}

func (m *Monitor) retire(c *child, s *session) {
	r := &retired{parent: c.parent, cut: c.cut, disturbed: c.disturbed, judgedLate: c.judgedLate, failed: c.failed}
	if s != nil {
		r.nextSeq, r.turn, r.events, r.ends, r.current = s.nextSeq, s.turn, s.events, s.ends, s.current
	}
	delete(m.children, c.id)
	delete(m.sessions, c.id)
	if m.speaker == s {
		m.speaker = nil
	}
	m.retired[c.id] = r
	m.retiredOrder = append(m.retiredOrder, c.id)
	if len(m.retiredOrder) > retiredChildren {
		delete(m.retired, m.retiredOrder[0])
		m.retiredOrder = m.retiredOrder[1:]
		m.forgot = true
	}
}

// revive brings a child back that something still comes of.
func (m *Monitor) revive(id string) {
	r := m.retired[id]
	if r == nil {
		return
	}
	delete(m.retired, id)
	m.retiredOrder = slices.DeleteFunc(m.retiredOrder, func(o string) bool { return o == id })
	m.children[id] = &child{
		id: id, parent: r.parent, started: &wire.Line{}, finished: &wire.Line{},
		cut: r.cut, disturbed: r.disturbed, judgedLate: r.judgedLate, failed: r.failed,
	}
	m.sessions[id] = &session{
		id: id, nextSeq: r.nextSeq, turn: r.turn, events: r.events, ends: r.ends,
		joined: m.o.Joined, status: status{current: r.current},
	}
	m.over = append(m.over, id)
}
