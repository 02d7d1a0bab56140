package protocol

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/wire"
)

// ending is what the monitor knows of the end of the process.
type ending struct {
	shutdownSent     bool
	shutdown         wire.Line // the last one
	shutdownAnswered bool
	quiet            *wire.Line // the response after which nothing more was owed
	quieted          bool       // there was one
	around           *wire.Line // the first line of a prompt behind the shutdown, whose turn may start yet
	cut              bool       // EOF, a signal or a client that reads no more: the last line may lack its end
	inputClosed      bool       // EOF
	signalled        bool       // by the client: nothing is owed any more
	endsTurns        bool       // shutdown, EOF or a signal: open turns are cut
}

// InputClosed tells that the client ended stdin.
func (m *Monitor) InputClosed() {
	m.ending.inputClosed, m.ending.cut, m.ending.endsTurns = true, true, true
	m.cutTurns()
}

// OutputUnread tells that the client reads stdout no more: what it holds of a last line
// may be the beginning of it.
func (m *Monitor) OutputUnread() { m.ending.cut = true }

// Signalled tells that the client sent the process a signal.
func (m *Monitor) Signalled() {
	m.ending.signalled, m.ending.cut, m.ending.endsTurns = true, true, true
	m.cutTurns()
}

func (m *Monitor) shutdownSent(q *Request) {
	m.ending.shutdownSent, m.ending.endsTurns = true, true
	m.ending.shutdown = q.Line
	m.ending.quiet, m.ending.around = nil, nil
	m.cutTurns()
	for _, q := range m.requests.order {
		q.atShutdown = q.atShutdown || q.prompt && q.Owed
	}
}

// cutTurns exempts the children that run now: what is owed of them ends here.
// Where prompts settle, a child whose root's prompt was answered is none of them:
// its end was owed before that.
func (m *Monitor) cutTurns() {
	for _, c := range m.children {
		owed := m.o.Profile.Settles() && len(m.root(c.id).prompts) == 0 && !m.root(c.id).joined
		if c.finished == nil && !owed {
			c.cut = true
		}
	}
}

// answeredInShutdown keeps the order of the last responses. A prompt that is
// overtaken by the shutdown's response may still be answered: which of two
// requirements is broken shows only then.
func (m *Monitor) answeredInShutdown(l wire.Line, q *Request) {
	if q.atShutdown {
		m.apply("S-SHD-04")
		if m.o.Profile.Settles() {
			m.apply("S-SHD-05")
		}
		if q.overtaken != nil {
			m.violate("S-SHD-05", "a prompt in flight is answered before the shutdown", "the shutdown is answered first", q.Line, *q.overtaken, l)
		}
	}
	if q.Method == MethodShutdown && q.Answer.Result != nil {
		m.ending.shutdownAnswered = true
		if m.o.Profile.Settles() {
			kept := Evidence(l)
			for _, open := range m.requests.order {
				if open.atShutdown && open.overtaken == nil {
					open.overtaken = &kept
				}
			}
		}
	}
	if m.ending.shutdownAnswered && m.requests.owed() == 0 {
		kept := Evidence(l)
		m.ending.quiet, m.ending.quieted = &kept, true
	}
}

// afterTheEnd judges a line that comes when nothing was owed any more.
func (m *Monitor) afterTheEnd(l wire.Line) {
	if m.ending.quiet == nil || !m.o.Profile.Settles() || l.Blank() {
		return
	}
	last := *m.ending.quiet
	msg := wire.Parse(l)
	if msg.Kind == wire.Response && (len(m.requests.open[msg.ID.Key()]) > 0 || m.requests.mayReply()) {
		return // the reply to something sent behind the shutdown: observed elsewhere
	}
	if late := m.promptedTooLate(msg); late != nil {
		switch {
		case startsTurn(msg):
			m.violate("S-SHD-06", "a prompt behind a shutdown runs no turn", "its turn starts", late.Line, last, l)
			m.ending.quiet, m.ending.around = nil, nil
		case m.ending.around == nil:
			kept := Evidence(l)
			m.ending.around = &kept
		}
		return
	}
	if msg.Method == NotificationSubagentFinished {
		m.violate("S-SHD-05", "subagent.finished of an aborted child comes before the shutdown's response", "it comes after", last, l)
		m.ending.quiet = nil
		return
	}
	m.spokeOn(l)
}

// spokeOn reports a line behind the last owed response. Once is enough.
func (m *Monitor) spokeOn(l wire.Line) {
	m.violate("S-SHD-02", "nothing is written after the last owed response", "another line", *m.ending.quiet, l)
	m.ending.quiet, m.ending.around = nil, nil
}

func startsTurn(msg wire.Message) bool {
	params, _ := wire.AsObject(msg.Params)
	event, _ := params.Object("event")
	kind, _ := event.String("type")
	return msg.Method == NotificationEvent && kind == EventTurnStart
}

// promptedTooLate gives the prompt behind the shutdown that a notification is of, nil
// where it is of none.
func (m *Monitor) promptedTooLate(msg wire.Message) *Request {
	params, ok := wire.AsObject(msg.Params)
	if !ok || msg.Kind != wire.Notification {
		return nil
	}
	for _, member := range []string{"sessionId", "parentSessionId"} {
		id, isString := params.String(member)
		if s := m.sessions[id]; !isString || s == nil {
			continue
		}
		for _, q := range m.root(id).prompts {
			if q.afterShutdown {
				return q
			}
		}
	}
	return nil
}

// Ended says how the conversation ended.
type Ended struct {
	// Told is set where the client ended the process by the protocol: shutdown, or
	// EOF on its stdin. Without it (a crash, a kill) nothing is owed any more.
	Told bool
	// Partial is set where the rest of stdout was not read to its end.
	Partial bool
}

// End judges what is still owed when stdout has ended.
func (m *Monitor) End(e Ended) []Violation {
	if m.ending.around != nil {
		m.spokeOn(*m.ending.around)
	}
	if e.Told && !e.Partial && !m.ending.signalled && !m.o.Joined {
		if m.ending.quieted && m.o.Profile.Settles() {
			m.apply("S-SHD-02") // nothing came, up to the end, or it was told
		}
		m.unanswered()
		m.neverEnded()
	}
	o := m.observed(Observation{})
	return o.Violations
}

func (m *Monitor) unanswered() {
	for _, q := range m.requests.order {
		if !q.Owed || q.Disowned {
			continue
		}
		switch {
		case q.prompt && m.ending.shutdownSent:
			m.apply("S-SHD-04")
			m.violate("S-SHD-04", "a prompt in flight gets one response before the process exits", "none", q.Line, m.ending.shutdown)
		case q.prompt:
			// EOF: whether a turn in flight is answered has no right answer
		case m.ending.inputClosed && !m.ending.shutdownSent:
			m.violate("S-SHD-10/running", "requests that came before EOF are answered before the process ends", fmt.Sprintf("no response to id %s", q.ID.Token()), q.Line)
		case q.Method == MethodShutdown:
			m.violate("S-SHD-01", "shutdown returns {}", "no response", q.Line)
		default:
			m.violate("S-MSG-04", "every request gets exactly one response", fmt.Sprintf("none to id %s", q.ID.Token()), q.Line)
		}
	}
}
