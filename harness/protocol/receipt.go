package protocol

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/wire"
)

// receipt is a messageId that a prompt was answered with.
type receipt struct {
	id    string
	line  wire.Line
	quiet bool // nothing ran or waited when its prompt was sent: the next idle is that of its turn
}

// status is the run state of a session in the receipt profile.
type status struct {
	current string // "", running or idle
	changed wire.Line
}

// inbox follows the messages that wait for a turn, as agent/inbox/spliced tells
// them: a splice removes removedCount messages at start and inserts others there.
type inbox struct {
	queues   map[string][]string // by target: ids that wait
	serving  []string            // removed for the turn that is open, or about to start
	seen     map[string]bool     // ids that were ever inserted
	removes  bool                // the server tells removals
	receipts []receipt
	lastIn   wire.Line
}

func (m *Monitor) spliced(l wire.Line, s *session, data wire.Object) {
	if m.o.Profile != Receipt {
		return
	}
	target, _ := data.String("target")
	start, _ := data.Int("start")
	removed, _ := data.Int("removedCount")
	if s.queues == nil {
		s.queues, s.seen = map[string][]string{}, map[string]bool{}
	}
	q := s.queues[target]
	at := int(min(max(start, 0), int64(len(q))))
	n := int(min(max(removed, 0), int64(len(q)-at)))
	if n > 0 {
		s.removes = true
		s.serving = append(s.serving, q[at:at+n]...)
	}
	var in []string
	inserted, _ := wire.AsArray(data["inserted"])
	for _, v := range inserted {
		o, _ := wire.AsObject(v)
		if id, ok := o.String("id"); ok {
			in = append(in, id)
			s.seen[id] = true
			s.lastIn = Evidence(l)
		}
	}
	next := append([]string{}, q[:at]...)
	next = append(next, in...)
	s.queues[target] = append(next, q[at+n:]...)
}

// served takes the message that a user/message shows out of the queue, for
// servers that do not tell removals.
func (s *session) served(data wire.Object) {
	id, ok := data.String("id")
	if !ok {
		return
	}
	for target, q := range s.queues {
		for i, waiting := range q {
			if waiting == id {
				s.queues[target] = append(q[:i:i], q[i+1:]...)
				s.serving = append(s.serving, id)
				return
			}
		}
	}
}

// turnServed empties what the turn that ends has served. Of a server that tells
// no removals a turn is taken to have served the oldest message.
func (s *session) turnServed() {
	if len(s.serving) == 0 && !s.removes {
		for target, q := range s.queues {
			if len(q) > 0 {
				s.queues[target] = q[1:]
				break
			}
		}
	}
	s.serving = nil
}

func (s *session) waiting() int {
	n := len(s.serving)
	for _, q := range s.queues {
		n += len(q)
	}
	return n
}

func (m *Monitor) statusChanges(l wire.Line, params wire.Object) {
	id, _ := params.String("sessionId")
	if m.o.Profile != Receipt {
		m.extras[NotificationStatus]++
		return
	}
	s := m.session(id)
	if s.forked {
		return
	}
	now, _ := params.String("status")
	if s.joined {
		s.current, s.changed = now, Evidence(l)
		return
	}
	if m.childsIdle(l, s, now) {
		return
	}
	m.apply("S-ORD-09")
	switch {
	case now == s.current || (now == "idle" && s.current == ""):
		m.violate("S-ORD-09", "running and idle of a session alternate, running first", fmt.Sprintf("%s while %s", now, orNever(s.current)), s.changed, l)
	case now == "idle" && s.open != nil && !m.ending.endsTurns:
		m.violate("S-ORD-09", "idle comes after the turn/end of its interval", "the turn is still open", s.open.line, l)
	case now == "idle" && !m.ending.endsTurns:
		m.apply("S-ORD-10")
		if s.waiting() > 0 {
			m.violate("S-ORD-10", "no idle between the splice of a message and the end of the turn that serves it", fmt.Sprintf("idle with %d messages not served", s.waiting()), s.lastIn, l)
		}
	}
	if now == "idle" {
		m.receiptsSeen(s)
	}
	s.current, s.changed = now, Evidence(l)
	m.childStatus(l, s, now)
}

// childsIdle judges an idle that comes right behind the end of a child while its
// parent is not in the state to report one: the child's, under the wrong id.
func (m *Monitor) childsIdle(l wire.Line, s *session, now string) bool {
	odd := s.current == "idle" || s.open != nil && !m.ending.endsTurns
	if now != "idle" || s.childEnded == nil || !odd {
		return false
	}
	m.violate("S-SUB-03", "a child's idle is not its parent's", "the parent is reported idle where its child got idle", *s.childEnded, l)
	s.childEnded = nil
	return true
}

func orNever(s string) string {
	if s == "" {
		return "never running"
	}
	return "already " + s
}

// stepsWhileIdle judges a turn that starts in a session that is not running.
// Children need not report a status.
func (m *Monitor) stepsWhileIdle(l wire.Line, s *session) {
	if m.o.Profile != Receipt || s.joined || (m.children[s.id] != nil && s.current == "") {
		return
	}
	if m.children[s.id] == nil && s.current == "" && len(s.prompts) == 0 && len(s.receipts) == 0 {
		return // a session that nobody prompted: a child that was not announced
	}
	m.apply("S-ORD-09")
	if s.current != "running" {
		m.violate("S-ORD-09", "running comes before the first step of its interval", "a turn starts while "+orNever(s.current), s.changed, l)
	}
}

// receiptsSeen judges whether the ids of the receipts showed up in the inbox. A
// splice may come behind its response, so that of a prompt that was sent to a
// busy session may come behind an idle too; the idle after that is its own. A
// message that was queued when the process was told to end may never show.
func (m *Monitor) receiptsSeen(s *session) {
	if m.ending.endsTurns {
		return
	}
	var open []receipt
	for _, r := range s.receipts {
		m.apply("S-TRN-10")
		switch {
		case s.seen[r.id]:
		case r.quiet:
			m.violate("S-TRN-10", "the messageId shows up in agent/inbox/spliced", "it never did: "+Short(r.id), r.line)
		default:
			r.quiet = true
			open = append(open, r)
		}
	}
	s.receipts = open
}
