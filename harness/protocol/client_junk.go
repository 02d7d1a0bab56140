package protocol

import (
	"bytes"
	"cmp"
	"regexp"

	"github.com/dshconform/dshconform/harness/wire"
)

// idIn finds what looks like a frame's id in a line that is no JSON, and what a
// reader more lenient than ours would answer.
var idIn = regexp.MustCompile(`"(?i:id)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)`)

var nonFinite = regexp.MustCompile(`[:\[,]\s*-?(NaN|Infinity)\b`)

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
