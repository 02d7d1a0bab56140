package protocol

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dshconform/dshconform/harness/wire"
)

// receipt is a messageId that a prompt was answered with.
type receipt struct {
	id    string
	line  wire.Line
	quiet bool // nothing ran or waited when its prompt was sent: the next idle is that of its turn
	shown bool // its splice came
}

// status is the run state of a session in the receipt profile.
type status struct {
	current string // "", running or idle
	changed wire.Line
}

// inbox follows the messages that wait for a turn, as agent/inbox/spliced tells
// them: a splice removes removedCount messages at start and inserts others there.
type inbox struct {
	queues   map[string][]string  // by target: ids that wait
	serving  []string             // removed for the turn that is open, or about to start
	seen     map[string]wire.Line // ids that were inserted, until they are served and a receipt named them
	removes  bool                 // the server tells removals
	receipts []receipt            // since the last idle
	asked    map[string]bool      // ids that prompts got as their receipts, likewise
	idled    []idled
	enough   int // how many ids may be in seen before it is looked which are done with
}

// idled is a message that waited when its session was reported idle.
type idled struct {
	id           string
	splice, idle wire.Line
}

func (m *Monitor) spliced(l wire.Line, s *session, data wire.Object) {
	if m.o.Profile != Receipt {
		return
	}
	target, _ := data.String("target")
	start, _ := data.Int("start")
	removed, _ := data.Int("removedCount")
	if s.queues == nil {
		s.queues, s.seen = map[string][]string{}, map[string]wire.Line{}
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
			s.inserted(id, l)
		}
	}
	next := append([]string{}, q[:at]...)
	next = append(next, in...)
	s.queues[target] = append(next, q[at+n:]...)
	if len(s.queues[target]) == 0 {
		delete(s.queues, target)
	}
}

func (s *session) inserted(id string, l wire.Line) {
	s.seen[id] = Evidence(l)
	for i := range s.receipts {
		if s.receipts[i].id == id {
			s.receipts[i].shown = true
		}
	}
}

// mostReceipts bounds how many receipts wait for an idle.
const mostReceipts = 1024

// given keeps the messageId that a prompt was answered with.
func (s *session) given(r receipt) {
	_, r.shown = s.seen[r.id]
	s.receipts = append(s.receipts, r)
	if len(s.receipts) > mostReceipts { // of a server that reports no idle
		s.receipts = slices.Delete(s.receipts, 0, 1)
	}
	if s.asked == nil {
		s.asked = map[string]bool{}
	}
	s.asked[r.id] = true
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
				if s.queues[target] = append(q[:i:i], q[i+1:]...); len(q) == 1 {
					delete(s.queues, target)
				}
				s.serving = append(s.serving, id)
				return
			}
		}
	}
}

// turnServed empties what the turn that ends has served. Of a server that tells
// no removals a turn is taken to have served the oldest message that a prompt brought, with
// the notes of the server ahead of it; where messages wait for several targets it
// can't be told which, and none of them is judged.
func (s *session) turnServed() {
	if len(s.serving) == 0 && !s.removes {
		guess := len(s.queues) == 1
		for target, q := range s.queues {
			oldest := max(0, slices.IndexFunc(q, func(id string) bool { return s.asked[id] }))
			if s.queues[target] = q[oldest+1:]; !guess || len(s.queues[target]) == 0 {
				delete(s.queues, target)
			}
		}
	}
	s.serving = nil
	s.forgetServed()
}

// forgetServed drops the ids that nothing will be asked of: they were served, and if a
// prompt is to get one of them as its receipt, it has. It looks only when there are
// twice as many as at the last time.
func (s *session) forgetServed() {
	const few = 64
	if len(s.seen)+len(s.asked) <= max(s.enough, few) {
		return
	}
	open := map[string]bool{}
	for _, id := range s.waiting() {
		open[id] = true
	}
	for _, r := range s.receipts {
		if !r.shown {
			open[r.id] = true
		}
	}
	asks := len(s.prompts) > 0
	maps.DeleteFunc(s.seen, func(id string, _ wire.Line) bool { return !open[id] && (s.asked[id] || !asks) })
	maps.DeleteFunc(s.asked, func(id string, _ bool) bool { return !open[id] })
	s.enough = 2 * (len(s.seen) + len(s.asked))
}

// waiting are the messages that no turn has served.
func (s *session) waiting() []string {
	all := slices.Clone(s.serving)
	for _, target := range slices.Sorted(maps.Keys(s.queues)) {
		all = append(all, s.queues[target]...)
	}
	return all
}

// idlesOn notes what waits while its session is reported idle. Only what a prompt
// brought is owed a turn: servers put notes of their own into the inbox, such as that
// a child has finished, and public ones let these wait for the next prompt. Whose a
// message is may show only with the receipt.
func (m *Monitor) idlesOn(l wire.Line, s *session) {
	m.apply("S-ORD-10")
	s.idled = nil
	for _, id := range s.waiting() {
		s.idled = append(s.idled, idled{id, s.seen[id], Evidence(l)})
	}
	m.promptsIdled(s)
}

// promptsIdled judges those of the messages that prompts are known to have brought.
func (m *Monitor) promptsIdled(s *session) {
	at := slices.IndexFunc(s.idled, func(w idled) bool { return s.asked[w.id] })
	if at < 0 {
		return
	}
	w := s.idled[at]
	s.idled = nil
	m.violate("S-ORD-10", "no idle between the splice of a message and the end of the turn that serves it", "idle while the message of a prompt is not served", w.splice, w.idle)
}

func (m *Monitor) statusChanges(l wire.Line, params wire.Object) {
	id, _ := params.String("sessionId")
	if m.o.Profile != Receipt {
		AddExtra(m.extras, NotificationStatus, 1)
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
		m.idlesOn(l, s)
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
		case r.shown:
		case r.quiet:
			m.violate("S-TRN-10", "the messageId shows up in agent/inbox/spliced", "it never did: "+Short(r.id), r.line)
		default:
			r.quiet = true
			open = append(open, r)
		}
	}
	s.receipts = open
	s.forgetServed()
}
