package protocol

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// child is a subagent's session.
type child struct {
	id, parent  string
	started     *wire.Line // subagent.started
	finished    *wire.Line // subagent.finished
	cut         bool       // shutdown, EOF or a signal came while it ran
	lastContent jsontext.Value
	lastMessage wire.Line
	ended       bool // its turn ended
	judgedLate  bool
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
}

// lateSubagent judges a notification of a child of a parent whose prompt was
// answered already.
func (m *Monitor) lateSubagent(l wire.Line, parent, what string) {
	if !m.o.Profile.Settles() {
		return
	}
	m.apply("S-ORD-02")
	root := m.root(parent)
	if len(root.prompts) == 0 && root.answered != nil && m.ending.quiet == nil && !m.ending.shutdownAnswered {
		m.violate("S-ORD-02", what+" of the turn comes before the response", "it comes behind it", *root.answered, l)
	}
}

func (m *Monitor) subagentFinished(l wire.Line, params wire.Object) {
	parent, _ := params.String("parentSessionId")
	id, _ := params.String("childSessionId")
	agent, _ := params.String("agentId")
	m.lateSubagent(l, parent, NotificationSubagentFinished)
	c := m.children[id]
	if c == nil || c.started == nil {
		m.apply("S-SUB-01")
		m.violate("S-SUB-01", "subagent.started comes before anything else of a child", "subagent.finished of "+Short(id)+", which never started", l)
		kept := Evidence(l)
		m.child(id).finished, m.child(id).parent = &kept, parent
		return
	}
	m.apply("S-SUB-02")
	m.apply("S-SUB-09")
	if c.finished != nil {
		m.violate("S-SUB-02", "subagent.finished comes once for each child", "a second one of "+Short(id), *c.finished, l)
		return
	}
	kept := Evidence(l)
	c.finished = &kept
	if parent != c.parent || agent != id {
		m.violate("S-SUB-09", fmt.Sprintf("parent %q, child %q and the agentId equal to the child", Short(c.parent), Short(id)),
			fmt.Sprintf("parent %q, agentId %q", Short(parent), Short(agent)), *c.started, l)
	}
	if s := m.sessions[id]; s != nil && s.open != nil {
		m.violate("S-SUB-02", "subagent.finished comes after the child's turn/end", "its turn is still open", s.open.line, l)
		c.judgedLate = true
	}
	m.lastMessage(l, params, c)
}

// lastMessage compares lastAssistantMessage with what the child showed.
func (m *Monitor) lastMessage(l wire.Line, params wire.Object, c *child) {
	m.apply("S-SUB-07")
	got, there := params["lastAssistantMessage"]
	switch {
	case c.lastContent == nil && there && m.sessions[c.id] != nil:
		m.violate("S-SUB-07", "lastAssistantMessage is absent where the child has no assistant/message", "it is "+Short(string(got)), l)
	case c.lastContent == nil || !hasText(c.lastContent):
		// what stands there when that message has no text has no right answer (S-SUB-08)
	case !there:
		m.violate("S-SUB-07", "lastAssistantMessage is the content of the child's last assistant/message", "it is absent", c.lastMessage, l)
	case !wire.SameValue(got, c.lastContent):
		m.violate("S-SUB-07", "lastAssistantMessage is the content of the child's last assistant/message: "+Short(string(c.lastContent)), "it is "+Short(string(got)), c.lastMessage, l)
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
func (m *Monitor) childEvent(l wire.Line, id, kind string, data wire.Object) {
	c := m.children[id]
	if c == nil {
		return
	}
	if c.finished != nil && !c.ended && !c.judgedLate && !c.cut && ofTheTurn(kind, false) {
		c.judgedLate = true
		m.violate("S-SUB-02", "subagent.finished comes after the child's turn/end", kind+" of the child comes behind it", *c.finished, l)
	}
	switch kind {
	case EventAssistantMessage:
		message, _ := data.Object("message")
		c.lastContent, c.lastMessage = message["content"], Evidence(l)
	case EventTurnStart:
		c.ended = false
	case EventTurnEnd:
		c.ended = true
	}
}

// childrenAtTheEnd reports children whose end was never told.
func (m *Monitor) childrenAtTheEnd() {
	for _, c := range m.children {
		if c.started != nil && c.finished == nil && !c.cut {
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
