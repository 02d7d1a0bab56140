package protocol

import (
	"fmt"
	"slices"

	"github.com/dshconform/dshconform/harness/wire"
)

// payload judges the result of the methods that the protocol defines.
func (m *Monitor) payload(l wire.Line, msg wire.Message, q *Request) {
	result, _ := wire.AsObject(msg.Result)
	if known := resultMembers(q.Method, m.o.Profile); known != nil {
		m.membersBeyond(q.Method+" result.", result, known...)
	}
	switch q.Method {
	case MethodInitialize:
		m.apply("S-INI-01")
		info, _ := result.Object("serverInfo")
		m.membersBeyond(q.Method+" result.serverInfo.", info, "name", "version")
		if name, _ := info.String("name"); name != ServerName {
			m.violate("S-INI-01", fmt.Sprintf("serverInfo.name is %q", ServerName), "it is "+orAbsent(Short(string(info["name"]))), l)
		} else if _, ok := info.String("version"); !ok {
			m.violate("S-INI-01", "serverInfo.version is a string", "it is "+orAbsent(Short(string(info["version"]))), l)
		}
	case MethodShutdown:
		m.apply("S-SHD-01")
		if result == nil {
			m.violate("S-SHD-01", "the result of shutdown is {}", "it is "+Short(string(msg.Result)), l)
		}
	case MethodPrompt:
		m.promptResult(l, result, q)
	}
}

// resultMembers are the members that the protocol gives to the result of one of its
// methods, nil for another method. Under directional accepted is judged, and not beyond it.
func resultMembers(method string, p Profile) []string {
	switch method {
	case MethodInitialize:
		return []string{"serverInfo"}
	case MethodShutdown:
		return []string{}
	case MethodPrompt:
		switch p {
		case Directional:
			return []string{"status", "reason", "accepted"}
		case Accepted:
			return []string{"accepted"}
		case Receipt:
			return []string{"messageId"}
		}
	}
	return nil
}

// membersBeyond counts the members of an object that are not among those known.
func (m *Monitor) membersBeyond(prefix string, o wire.Object, known ...string) {
	for name := range o {
		if !slices.Contains(known, name) {
			AddExtra(m.extras, prefix+name, 1)
		}
	}
}

// promptResult judges the members of the result of session/prompt.
func (m *Monitor) promptResult(l wire.Line, result wire.Object, q *Request) {
	s := m.sessionOf(q)
	switch m.o.Profile {
	case Directional:
		m.apply("S-TRN-08")
		if _, there := result["accepted"]; there {
			m.violate("S-TRN-08", "the result has no member accepted", "accepted is "+Short(string(result["accepted"])), l)
			if _, there := result["status"]; !there {
				return // another profile's answer: one line, one violation
			}
		}
		m.outcome(l, result, s)
	case Accepted:
		m.apply("S-TRN-09")
		if string(result["accepted"]) != "true" {
			m.violate("S-TRN-09", "the result is {accepted:true}", "accepted is "+orAbsent(Short(string(result["accepted"]))), l)
		}
	case Receipt:
		m.apply("S-TRN-10")
		if id, ok := result.String("messageId"); !ok || id == "" {
			m.violate("S-TRN-10", "the result has a string messageId", "messageId is "+orAbsent(Short(string(result["messageId"]))), l)
		} else if s != nil {
			s.given(receipt{id: id, line: Evidence(l), quiet: q.quiet})
			m.promptsIdled(s)
		}
	}
}

// outcome compares a directional result with the turn/end that the session showed.
func (m *Monitor) outcome(l wire.Line, result wire.Object, s *session) {
	status, isString := result.String("status")
	end := s.lastEnd()
	if end == nil {
		if !isString || (status != "ok" && status != "error" && status != "aborted") {
			m.violate("S-TRN-01", "status is ok, error or aborted", "it is "+orAbsent(Short(string(result["status"]))), l)
		}
		return
	}
	row, want := statusRow(end.kind), SettledStatus(end.kind, m.o.MaxTokensAsSuccess)
	m.apply(row)
	m.apply("S-TRN-02")
	reason, _ := wire.AsObject(result["reason"])
	kind, _ := reason.String("kind")
	switch {
	case status != want:
		m.violate(row, fmt.Sprintf("status is %q where the turn ended with kind %q", want, end.kind), "it is "+orAbsent(Short(string(result["status"]))), end.line, l)
	case kind != "" && kind != end.kind && !wire.SameValue(result["reason"], s.before) && row != "S-TRN-01" && row != "S-TRN-03":
		m.violate(row, fmt.Sprintf("the reason is of kind %q like that of the turn/end", end.kind), fmt.Sprintf("it is of kind %q", Short(kind)), end.line, l)
	case !wire.SameValue(result["reason"], end.reason):
		m.violate("S-TRN-02", "reason equals that of the session's last turn/end: "+Short(string(end.reason)), "it is "+orAbsent(Short(string(result["reason"]))), end.line, l)
	}
}
