package protocol

import (
	"maps"
	"slices"

	"github.com/dshconform/dshconform/harness/wire"
)

// This file is what a monitor has to be careful about that joined a conversation in
// its middle ([Options.Joined]): a recording that was started late, or one in which
// lines are missing.
//
// Responses may answer requests that it has not seen, under whatever id, and
// sessions may be in whatever state: so no response is too many, and a session is
// judged only if what began it was seen, a prompt or its subagent.started, and then
// its first event (seq 0). A prompt that is refused tells that another may run of
// which nothing is known. Nothing is owed at the end: a shutdown may have come
// before. What needs no history (frames, encoding, shapes, payloads, the sequence
// from the first event on) is judged as always.

// begins follows the first event of a session of a conversation that was joined in
// its middle.
func (m *Monitor) begins(s *session, seq int64) {
	if s.joined && s.events == 1 {
		c := m.children[s.id]
		s.joined = seq != 0 || !s.prompted && (c == nil || c.started == nil)
		s.nextSeq = seq
	}
}

// distrust makes a session of such a conversation an unknown one once a prompt of it
// is refused.
func (m *Monitor) distrust(s *session, msg wire.Message) {
	if m.o.Joined && msg.Error != nil {
		s.joined = true
	}
}

// Rows are the ids under which something was applied or violated, sorted.
func (m *Monitor) Rows() []string {
	ids := map[string]bool{}
	for _, counts := range []map[string]int{m.applied, m.counts} {
		for id := range counts {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// strangeReply reports whether a response that answers no request known may answer
// one that was not seen.
func (m *Monitor) strangeReply(msg wire.Message) bool { return m.o.Joined && msg.ID.Present() }
