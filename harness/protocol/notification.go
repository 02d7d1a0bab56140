package protocol

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/wire"
)

// notification judges the envelope and the payload of a notification and hands
// it to the rules of its kind.
func (m *Monitor) notification(l wire.Line, msg wire.Message) {
	m.apply("S-MSG-03")
	params, isObject := wire.AsObject(msg.Params)
	switch {
	case !msg.V2():
		m.violate("S-MSG-03", `a notification has jsonrpc "2.0"`, "jsonrpc is "+orAbsent(Short(string(msg.Version))), l)
	case !isObject:
		m.violate("S-MSG-03", "a notification has an object params", "params is "+orAbsent(Short(string(msg.Params))), l)
		return
	}
	if s := schemaOf(msg.Method, params); s != nil {
		m.apply("S-MSG-05")
		if problem := s.check(msg.Params); problem != "" {
			m.violate("S-MSG-05", "the payload of "+msg.Method+" fits its schema", problem, l)
			if msg.Method != NotificationEvent {
				return
			}
		}
	}
	switch msg.Method {
	case NotificationEvent:
		m.event(l, params)
	case NotificationStatus:
		m.statusChanges(l, params)
	case NotificationFinished:
		m.sessionFinished(l, params)
	case NotificationSubagentStarted:
		m.subagentStarted(l, params)
	case NotificationSubagentFinished:
		m.subagentFinished(l, params)
	default:
		AddExtra(m.extras, msg.Method, 1)
	}
}

// finished is a session.finished that was seen.
type finished struct{ line wire.Line }

// sessionFinished judges a session.finished, which exists in accepted alone.
func (m *Monitor) sessionFinished(l wire.Line, params wire.Object) {
	id, _ := params.String("sessionId")
	s := m.session(id)
	switch m.o.Profile {
	case Directional:
		m.violate("S-TRN-08", "there is no session.finished", "one of session "+Short(id), l)
		return
	case Receipt:
		m.violate("S-TRN-17", "there is no session.finished", "one of session "+Short(id), l)
		return
	}
	m.apply("S-ORD-07")
	m.apply("S-TRN-09")
	switch {
	case s.tangled, s.forked, s.joined:
		return
	case len(s.finished) > 0:
		m.violate("S-TRN-09", "one session.finished for each settled prompt", "a second one", s.finished[0].line, l)
		return
	case s.lacking != nil:
		m.violate("S-ORD-07", "session.finished comes before the response of its prompt", "it comes behind it", *s.lacking, l)
		s.lacking = nil
		return
	case len(s.prompts) == 0 && s.answered != nil:
		m.violate("S-TRN-09", "one session.finished for each settled prompt", "one more behind its response", *s.answered, l)
		return
	}
	s.finished = append(s.finished, finished{Evidence(l)})
	end := s.last
	if end == nil {
		return
	}
	status, _ := params.String("status")
	want := "error"
	if end.kind == KindCompleted {
		want = "ok"
	}
	if status != want && end.kind != KindMaxTokens {
		m.violate("S-TRN-09", fmt.Sprintf("status is %q where the turn ended with kind %q", want, end.kind), "it is "+Short(string(params["status"])), end.line, l)
	}
	reason, there := params["reason"]
	text, isString := params.String("reason")
	switch {
	case !there && end.kind == KindAborted, isString && text == end.kind, wire.SameValue(reason, end.reason):
	default:
		m.violate("S-TRN-09", "reason is that of the session's last turn/end: "+Short(string(end.reason)), "it is "+orAbsent(Short(string(reason))), end.line, l)
	}
}

// finishedOnce notes at the response of a settled prompt whether its
// session.finished came. One that comes later is in the wrong place; only when
// the next turn starts, or at the end, is it certain that there is none.
func (m *Monitor) finishedOnce(l wire.Line, s *session) {
	if s.tangled || s.forked {
		return
	}
	m.apply("S-TRN-09")
	if len(s.owedTurn) == 0 {
		m.finishedNever(s)
	}
	if len(s.finished) == 0 {
		kept := Evidence(l)
		s.lacking = &kept
	}
	s.finished = nil
}

// finishedNever judges a response whose session.finished did not come.
func (m *Monitor) finishedNever(s *session) {
	if s.lacking != nil {
		m.violate("S-TRN-09", "session.finished comes once for each settled prompt, before its response", "the response comes without", *s.lacking)
		s.lacking = nil
	}
}
