package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// canon is a conversation without the chance in it: what is ordered stays ordered,
// what runs side by side is taken apart.
type canon struct {
	client   []harness.Entry
	sessions []*strand // the client's own in the order of its prompts, then children as they are announced
	others   []*strand // of sessions that nobody announced, by what they hold
	replies  []harness.Entry
	loose    []harness.Entry // what is neither about a session nor a response
	own      map[string]bool // strings that the client made up: ids and sessions
}

// strand is what the server wrote about one session, in order.
type strand struct {
	id      string
	entries []harness.Entry
}

// canonical takes a conversation apart.
//
// The response to a prompt stands in its session's order where the profile gives it a
// place there, which receipt does not. Other responses have the order of their
// requests.
func canonical(log []harness.Entry, profile protocol.Profile) *canon {
	c := &canon{own: map[string]bool{}}
	byID := map[string]*strand{}
	at := func(id string) *strand {
		s := byID[id]
		if s == nil {
			s = &strand{id: id}
			byID[id] = s
		}
		return s
	}
	order := map[string]int{} // of requests, by key of the id
	for _, e := range log {
		switch e.Dir {
		case wire.ClientToServer:
			c.client = append(c.client, e)
			c.remember(e)
			m := wire.Parse(e.Line)
			if _, again := order[m.ID.Key()]; !again {
				order[m.ID.Key()] = len(order)
			}
			if session := promptOf(m); session != "" && byID[session] == nil {
				c.sessions = append(c.sessions, at(session))
			}
		case wire.ServerToClient:
			n, isNotification := notificationOf(e)
			switch {
			case isNotification && n.session != "":
				at(n.session).entries = append(at(n.session).entries, e)
			case e.Answered != nil && e.Answered.Session != "" && profile.Settles():
				at(e.Answered.Session).entries = append(at(e.Answered.Session).entries, e)
			case e.Message.Kind == wire.Response:
				c.replies = append(c.replies, e)
			default:
				c.loose = append(c.loose, e)
			}
		}
	}
	slices.SortStableFunc(c.replies, func(a, b harness.Entry) int { return order[a.Message.ID.Key()] - order[b.Message.ID.Key()] })
	c.announce(byID)
	return c
}

// announce brings the strands of children behind those of their parents, as they
// start there, and then those of which nobody told.
func (c *canon) announce(byID map[string]*strand) {
	placed := map[string]bool{}
	for i := 0; i < len(c.sessions); i++ { // it grows meanwhile
		s := c.sessions[i]
		placed[s.id] = true
		for _, e := range s.entries {
			if e.Message.Method != protocol.NotificationSubagentStarted {
				continue
			}
			params, _ := wire.AsObject(e.Message.Params)
			child, _ := params.String("childSessionId")
			if known := byID[child]; known != nil && !placed[child] {
				placed[child] = true
				c.sessions = append(c.sessions, known)
			}
		}
	}
	for id, s := range byID {
		if !placed[id] {
			c.others = append(c.others, s)
		}
	}
	slices.SortFunc(c.others, func(a, b *strand) int { return strings.Compare(a.shape(), b.shape()) })
}

// shape orders strands whose ids are chance.
func (s *strand) shape() string {
	var b strings.Builder
	for _, e := range s.entries {
		n, _ := notificationOf(e)
		fmt.Fprintf(&b, "%s %s %s\n", n.method, n.event, n.status)
	}
	return b.String()
}

// remember keeps what the client made up, which is not masked.
func (c *canon) remember(e harness.Entry) {
	m := wire.Parse(e.Line)
	if m.ID.IsString() {
		c.own[m.ID.Text()] = true
	}
	if s := promptOf(m); s != "" {
		c.own[s] = true
	}
}

func promptOf(m wire.Message) string {
	if m.Method != protocol.MethodPrompt {
		return ""
	}
	params, _ := wire.AsObject(m.Params)
	id, _ := params.String("sessionId")
	return id
}
