package protocol

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// child is a subagent's session.
type child struct {
	id, parent string
	started    *wire.Line // subagent.started
	finished   *wire.Line // subagent.finished
	cut        bool       // shutdown, EOF or a signal came while it ran
	disturbed  bool       // the client sent it a prompt: what becomes of it has no right answer
	failed     bool       // it finished with an error and no turn/end, as a handler that fails may
	judgedLate bool
}

func (m *Monitor) child(id string) *child {
	c := m.children[id]
	if c == nil {
		c = &child{id: id}
		m.children[id] = c
	}
	return c
}

func (m *Monitor) subagentStarted(l wire.Line, params wire.Object) {
	parent, _ := params.String("parentSessionId")
	id, _ := params.String("childSessionId")
	m.apply("S-SUB-01")
	m.apply("S-SUB-02")
	m.revive(id)
	if s := m.sessions[id]; s != nil && s.events > 0 && m.children[id] == nil {
		m.violate("S-SUB-01", "subagent.started comes before any event of the child", "events of "+Short(id)+" came before it", s.first, l)
	}
	m.lateSubagent(l, parent, NotificationSubagentStarted)
	c := m.child(id)
	if c.started != nil {
		m.violate("S-SUB-02", "a child starts once", "a second subagent.started of "+Short(id), *c.started, l)
		return
	}
	kept := Evidence(l)
	c.parent, c.started, c.cut = parent, &kept, m.ending.endsTurns
	if s := m.sessions[id]; s != nil && s.prompted {
		c.disturbed = true
	}
}

// lateSubagent judges a notification of a child of a parent whose prompt was
// answered already.
func (m *Monitor) lateSubagent(l wire.Line, parent, what string) {
	if !m.o.Profile.Settles() {
		return
	}
	m.apply("S-ORD-02")
	root := m.root(parent)
	if root.joined || root.tangled || root.overtaken != nil && root.overtaken.blamed {
		return
	}
	if len(root.prompts) == 0 && root.answered != nil && m.ending.quiet == nil && !m.ending.shutdownAnswered {
		m.violate("S-ORD-02", what+" of the turn comes before the response", "it comes behind it", *root.answered, l)
	}
}

func (m *Monitor) subagentFinished(l wire.Line, params wire.Object) {
	parent, _ := params.String("parentSessionId")
	id, _ := params.String("childSessionId")
	agent, _ := params.String("agentId")
	status, _ := params.String("status")
	m.lateSubagent(l, parent, NotificationSubagentFinished)
	m.revive(id)
	defer m.finishedChild(id)
	c := m.children[id]
	if (c == nil || c.started == nil) && m.o.Joined {
		return
	}
	if c == nil || c.started == nil {
		if other := m.mistaken(parent); other != nil {
			m.apply("S-SUB-09")
			m.violate("S-SUB-09", "subagent.finished names the child that subagent.started named: "+Short(other.id), "it names "+Short(id), *other.started, l)
			kept := Evidence(l)
			other.finished = &kept
			m.finishedChild(other.id)
			return
		}
		m.apply("S-SUB-01")
		m.violate("S-SUB-01", "subagent.started comes before anything else of a child", "subagent.finished of "+Short(id)+", which never started", l)
		kept := Evidence(l)
		m.child(id).finished, m.child(id).parent = &kept, parent
		return
	}
	m.apply("S-SUB-02")
	m.apply("S-SUB-09")
	if c.disturbed {
		return
	}
	if c.finished != nil {
		m.violate("S-SUB-02", "subagent.finished comes once for each child", "a second one of "+Short(id), *c.finished, l)
		return
	}
	kept := Evidence(l)
	c.finished = &kept
	switch {
	case parent != c.parent:
		m.violate("S-SUB-09", fmt.Sprintf("the child %q is one of the parent %q", Short(id), Short(c.parent)), fmt.Sprintf("parent %q", Short(parent)), *c.started, l)
	case agent != id && isLocal(params):
		m.violate("S-SUB-09", fmt.Sprintf("the agentId of a local child equals its childSessionId %q", Short(id)), fmt.Sprintf("agentId %q", Short(agent)), *c.started, l)
	}
	// a child that had children may be woken by one of them once it has ended, and a
	// turn that was cut may have no end
	if s := m.sessions[id]; s != nil && s.open != nil && s.ends == 0 && !c.cut {
		if status == "error" {
			c.failed = true // an event of its turn that still comes tells that it had not ended
			return
		}
		m.violate("S-SUB-02", "subagent.finished comes after the child's turn/end", "its turn is still open", s.open.line, l)
		c.judgedLate = true
		return
	}
	m.lastMessage(l, params, c)
}

// isLocal reports whether a child runs in the server. Its provider alone tells: the events
// of an agent elsewhere may be shown too, and it has an id of its own.
func isLocal(finished wire.Object) bool {
	provider, _ := finished.String("provider")
	return provider == "local"
}

// mistaken is the child of parent that a subagent.finished under an unknown id
// is most likely about: the only one that started and has no end, and whose own
// session, under the id that was announced, does not run.
func (m *Monitor) mistaken(parent string) *child {
	var found *child
	for _, c := range m.children {
		if c.parent != parent || c.started == nil || c.finished != nil || c.disturbed {
			continue
		}
		if s := m.sessions[c.id]; s != nil && s.open != nil {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}

// lastMessage compares lastAssistantMessage with what the child showed.
func (m *Monitor) lastMessage(l wire.Line, params wire.Object, c *child) {
	s := m.sessions[c.id]
	if s == nil || s.ends == 0 {
		return // the child's turn was not shown, so there is nothing to compare with
	}
	m.apply("S-SUB-07")
	got, there := params["lastAssistantMessage"]
	switch {
	case s.said == nil && there:
		m.violate("S-SUB-07", "lastAssistantMessage is absent where the child has no assistant/message", "it is "+Short(string(got)), l)
	case s.said == nil || !hasText(s.said):
		// what stands there when that message has no text has no right answer (S-SUB-08)
	case !there:
		m.violate("S-SUB-07", "lastAssistantMessage is the content of the child's last assistant/message", "it is absent", s.saidLine, l)
	case s.turn > 1 && s.saidBefore != nil && wire.SameValue(got, s.saidBefore):
		// it was woken by a child of its own when it had settled
	case !wire.SameValue(got, s.said):
		m.violate("S-SUB-07", "lastAssistantMessage is the content of the child's last assistant/message: "+Short(string(s.said)), "it is "+Short(string(got)), s.saidLine, l)
	}
}

func hasText(content jsontext.Value) bool {
	blocks, _ := wire.AsArray(content)
	for _, b := range blocks {
		o, _ := wire.AsObject(b)
		if text, _ := o.String("text"); text != "" {
			return true
		}
	}
	return false
}

// childEvent keeps what the rules of children need of a session's events.
func (m *Monitor) childEvent(l wire.Line, s *session, kind string, data wire.Object) {
	if !s.prompted && kind == EventAssistantMessage { // a child, or one that was not announced yet
		message, _ := data.Object("message")
		s.saidBefore, s.said, s.saidLine = s.said, message["content"].Clone(), Evidence(l)
	}
	if strings.HasPrefix(kind, "assistant/") || strings.HasPrefix(kind, "turn/") {
		s.childEnded = nil
	}
	c := m.children[s.id]
	if c == nil {
		return
	}
	if c.finished != nil && !c.judgedLate && !c.cut && !c.disturbed && s.ends == 0 && ofTheTurn(kind, false) {
		c.judgedLate = true
		m.violate("S-SUB-02", "subagent.finished comes after the child's turn/end", kind+" of the child comes behind it", *c.finished, l)
	}
	if kind == EventTurnEnd {
		m.childEnds(l, c)
	}
}

// childEnds tells the ancestors of a child that its turn ended.
func (m *Monitor) childEnds(l wire.Line, c *child) {
	kept := Evidence(l)
	for range m.children {
		m.session(c.parent).childEnded = &kept
		if c = m.children[c.parent]; c == nil {
			return
		}
	}
}

// childStatus follows what a session itself says of its state.
func (m *Monitor) childStatus(l wire.Line, s *session, now string) {
	s.childEnded = nil
	if c := m.children[s.id]; c != nil && now == "idle" {
		kept := Evidence(l)
		m.session(c.parent).childEnded = &kept
	}
}

// childRuns reports whether a child of the session has started and not finished.
func (m *Monitor) childRuns(id string) bool {
	for _, c := range m.children {
		if c.parent == id && c.started != nil && c.finished == nil {
			return true
		}
	}
	return false
}

// childrenAtTheEnd reports children whose end was never told.
func (m *Monitor) childrenAtTheEnd() {
	for _, c := range m.children {
		if c.started != nil && c.finished == nil && !c.cut && !c.disturbed {
			m.violate("S-SUB-02", "subagent.finished comes once for each started child", "none of "+Short(c.id), *c.started)
		}
	}
}

// Children are the ids of the sessions that were announced as children of
// parent, in no order.
func (m *Monitor) Children(parent string) []string {
	var ids []string
	for id, c := range m.children {
		if c.parent == parent {
			ids = append(ids, id)
		}
	}
	return ids
}
