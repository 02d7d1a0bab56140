package protocol

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"github.com/dshconform/dshconform/harness/wire"
)

// idIn finds what looks like a frame's id in a line that is no JSON, and what a
// reader more lenient than ours would answer.
var idIn = regexp.MustCompile(`"(?i:id)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)`)

var nonFinite = regexp.MustCompile(`[:\[,]\s*-?(NaN|Infinity)\b`)

const wrongCase = "a member in another case is none of a frame's"

// misnamed reports whether a line of the client has one of the members in another
// case, and notes that a reply which takes it for that member is wrong.
func (m *Monitor) misnamed(l wire.Line, msg wire.Message, members ...string) bool {
	if !anyCase(msg.Extra, members...) {
		return false
	}
	id := idIn.FindSubmatch(l.Raw)
	if id == nil {
		return false
	}
	m.requests.mute(silent{line: Evidence(l), row: "S-MSG-08", id: wire.RawID(string(id[1])).Key(), expected: wrongCase})
	return true
}

// anyCase reports whether a name among names is one of want but for its case.
func anyCase(names []string, want ...string) bool {
	for _, n := range names {
		for _, w := range want {
			if strings.EqualFold(n, w) {
				return true
			}
		}
	}
	return false
}

// clientNotification is a line of the client that gets no reply: the server consumes
// requests alone.
func (m *Monitor) clientNotification(l wire.Line, msg wire.Message) {
	switch {
	case !wellEncoded(l):
		m.requests.allow(1, false) // what a strict reader makes of it has no right answer
	case !m.misnamed(l, msg, "id"):
		m.requests.mute(silent{line: Evidence(l), row: "S-DIR-02/" + notificationVariant(msg.Method), expected: "a client notification gets no reply"})
	}
}

func notificationVariant(method string) string {
	switch method {
	case MethodInitialize, MethodShutdown:
		return method
	case MethodPrompt:
		return "prompt"
	}
	return "unknown"
}

// clientResponse is a response to nothing: the server asks for none.
func (m *Monitor) clientResponse(l wire.Line, msg wire.Message) {
	switch {
	case !wellEncoded(l):
		m.requests.allow(1, false) // what a strict reader makes of it has no right answer
		return
	case anyCase(msg.Extra, "method"):
		m.requests.mute(silent{line: Evidence(l), row: "S-MSG-08", id: msg.ID.Key(), expected: wrongCase})
		return
	}
	row, variant := "S-DIR-03", "unknown-id"
	if len(m.requests.open[msg.ID.Key()]) > 0 {
		variant = "id-in-flight"
	}
	if msg.Error != nil {
		row = "S-DIR-04"
		if msg.ID.IsNull() {
			variant = "id-null"
		}
	}
	m.requests.mute(silent{line: Evidence(l), row: row + "/" + variant, id: replyKey(msg.ID), expected: "a stray response gets no reply"})
}

// replyKey is the key that a reply to a line with this id would carry; null says
// nothing about whom a reply is for.
func replyKey(id wire.ID) string {
	if id.IsString() || id.IsNumber() {
		return id.Key()
	}
	return ""
}

// clientJunk is a line of the client that is no JSON object.
func (m *Monitor) clientJunk(l wire.Line, msg wire.Message) {
	switch {
	case msg.IsArray:
		m.optional(l, max(1, bytes.Count(l.Raw, []byte(`"id"`))))
	case bytes.HasPrefix(l.Raw, []byte("\ufeff")), msg.Trailing, msg.TooDeep, msg.InvalidUTF8, nonFinite.Match(l.Raw):
		// a BOM, two objects, nesting beyond our own reader, invalid UTF-8, numbers
		// that only some readers know: whether these are served has no right answer
		m.optional(l, 2)
	case msg.Problem == wire.NoObject:
		variant := map[byte]string{'n': "null", 't': "true", 'f': "true", '"': "string"}[bytes.TrimSpace(l.Raw)[0]]
		m.requests.mute(silent{line: Evidence(l), row: "S-FRM-06/" + cmp.Or(variant, "number"), expected: "a line that is no object gets no reply"})
	default:
		s := silent{line: Evidence(l), row: "S-FRM-05", expected: "a malformed line gets no reply"}
		if id := idIn.FindSubmatch(l.Raw); id != nil {
			s.id = wire.RawID(string(id[1])).Key()
		}
		m.requests.mute(s)
	}
}

// optional registers every id in the line as one that may be answered, and that so
// many replies may come without one of them.
func (m *Monitor) optional(l wire.Line, replies int) {
	slow := takesTime(l)
	allowed := m.requests.allow(replies, slow)
	raw := l.Raw
	if len(raw) > 1<<20 {
		raw = raw[:1<<20]
	}
	for _, id := range idIn.FindAllSubmatch(raw, 64) {
		m.requests.add(&Request{Line: Evidence(l), ID: wire.RawID(string(id[1])), age: age{slow: slow}, replies: allowed})
	}
}
