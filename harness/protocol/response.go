package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/wire"
)

// response judges a response and finds the request that it settles.
func (m *Monitor) response(l wire.Line, msg wire.Message) *Request {
	q, exact := m.requests.take(msg.ID.Key(), !promptShaped(msg)), true
	if q == nil {
		if m.strangeReply(msg) {
			return nil
		}
		if q = m.requests.confused(msg.ID); q != nil && !m.mutedID(msg.ID) {
			exact = false
			m.requests.remove(q)
		} else if q = m.unmatched(l, msg); q != nil {
			exact = !q.Owed && refusesUnread(msg)
			m.requests.remove(q)
		} else {
			return nil
		}
	}
	kept := Evidence(l)
	q.Response, q.Answer = &kept, &msg
	m.requests.finish(q.ID.Key(), kept)
	m.requests.answeredAt = max(m.requests.answeredAt, q.Line.Seq)
	if a := q.replies; a != nil {
		a.left--
	}
	if exact {
		m.requests.grow(q)
	}
	if row := idRow(q.ID); row != "" {
		m.apply(row)
		if !exact {
			m.violate(row, "the response carries the id "+q.ID.Token(), "it carries "+msg.ID.Token(), q.Line, l)
		}
	}
	m.apply("S-MSG-04")
	if m.wellFormed(l, msg, q) {
		m.payload(l, msg, q)
	}
	m.settled(l, msg, q)
	m.answeredInShutdown(l, q)
	return q
}

// idRow is the requirement that binds the echo of this id.
func idRow(id wire.ID) string {
	switch {
	case id.IsString() && id.Text() == "":
		return "S-IDS-01/empty"
	case id.IsString() && strings.IndexFunc(id.Text(), func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
		return "S-ENC-11"
	case id.IsString() && id.LooseKey()[0] == 'f':
		return "S-IDS-01/numeric-looking"
	case id.IsString():
		return "S-IDS-01/ascii"
	case id.IsNumber() && id.Exact():
		switch {
		case id.Key() == "n:0":
			return "S-IDS-02/zero"
		case strings.HasPrefix(id.Token(), "-"):
			return "S-IDS-02/negative"
		}
		return "S-IDS-02/max-safe"
	case id.IsNumber():
		switch tok := id.Token(); {
		case id.LooseKey() == "f:+Inf" || id.LooseKey() == "f:-Inf":
			return "S-IDS-03/overflow"
		case strings.ContainsAny(tok, ".eE"):
			return "S-IDS-03/fraction"
		}
		return "S-IDS-03/beyond-safe"
	}
	return ""
}

// mutedID reports whether the client sent a line that must get no reply under
// this id: a reply is then that line's, not a confused one.
func (m *Monitor) mutedID(id wire.ID) bool {
	for _, s := range m.requests.silent {
		if s.id == id.Key() {
			return true
		}
	}
	return false
}

// unmatched is a response whose id nobody waits for. It returns the request that
// it must be the answer of all the same, where that can be told.
func (m *Monitor) unmatched(l wire.Line, msg wire.Message) *Request {
	for i := len(m.requests.silent) - 1; i >= 0; i-- {
		s := m.requests.silent[i]
		if s.id == "" || s.id != msg.ID.Key() {
			continue
		}
		if first, again := m.requests.done[s.id]; again && sameAnswer(first, l) {
			break // the request that had this id is answered twice
		}
		m.violate(s.row, s.expected, "a reply", s.line, l)
		return nil
	}
	unusable := !msg.ID.IsNumber() && !msg.ID.IsString()
	if unusable && m.requests.spend() {
		return nil
	}
	if q := m.inexact(msg.ID); q != nil {
		return q
	}
	if unusable && m.repliesToSilent(l, msg) {
		return nil
	}
	if first, again := m.requests.done[msg.ID.Key()]; again {
		m.violate("S-MSG-04", "every request gets exactly one response", "a second response to id "+msg.ID.Token(), first, l)
		return nil
	}
	if q := m.candidate(msg); q != nil {
		return q
	}
	m.violate("S-MSG-04", "a response answers a request", "a response to id "+msg.ID.Token()+", which no request in flight has", l)
	return nil
}

// sameAnswer reports whether two responses say the same.
func sameAnswer(a, b wire.Line) bool {
	x, y := wire.Parse(a), wire.Parse(b)
	return wire.SameValue(x.Result, y.Result) && wire.SameValue(x.Error, y.Error)
}

// refusesUnread reports whether a response refuses a request whose id could not be
// read, in the words of JSON-RPC: a parse error or an invalid request, under null.
func refusesUnread(msg wire.Message) bool {
	code := errorCode(msg)
	return msg.ID.IsNull() && (code == codeParseError || code == codeInvalidRequest)
}

// errorCode is the code of an error response, 0 where there is none.
func errorCode(msg wire.Message) int64 {
	e, _ := wire.AsObject(msg.Error)
	code, _ := e.Int("code")
	return code
}

// inexact is an open request whose id can't be held exactly, and of which answers may
// still come: a response under another number, or under null, is most likely its own.
func (m *Monitor) inexact(id wire.ID) *Request {
	if !id.IsNumber() && !id.IsNull() {
		return nil
	}
	for _, q := range m.requests.order {
		if strings.HasPrefix(idRow(q.ID), "S-IDS-03") && !q.Owed && !q.old {
			return q
		}
	}
	return nil
}

// candidate is the request that a response under a foreign id answers: the only one in
// flight that is no prompt, or the only prompt where the result is that of a prompt.
func (m *Monitor) candidate(msg wire.Message) *Request {
	if promptShaped(msg) {
		if q := m.onlyOne(func(q *Request) bool { return q.prompt }); q != nil {
			return q
		}
	}
	return m.onlyOne(func(q *Request) bool { return !q.prompt })
}

// onlyOne is the request in flight that is one of these, nil where there are several.
func (m *Monitor) onlyOne(which func(*Request) bool) *Request {
	var only *Request
	for _, q := range m.requests.order {
		switch {
		case !which(q) || !q.Owed:
		case only != nil:
			return nil
		default:
			only = q
		}
	}
	return only
}

// repliesToSilent blames a reply that names no request on the line that it most likely
// answers, one that must get no reply. It reports whether there is such a line.
func (m *Monitor) repliesToSilent(l wire.Line, msg wire.Message) bool {
	at := m.requests.likeliest()
	if at < 0 {
		return false
	}
	s := m.requests.silent[at]
	m.requests.silent = slices.Delete(m.requests.silent, at, at+1)
	if errorCode(msg) == codeParseError && strings.HasPrefix(s.row, "S-DIR-02/") {
		s.row, s.expected = "S-FRM-05", "a line that can't be read gets no reply" // the server holds it for malformed
	}
	m.violate(s.row, s.expected, "a reply without a usable id", s.line, l)
	return true
}

// wellFormed judges the envelope of a response. It reports whether the payload
// can be looked at.
func (m *Monitor) wellFormed(l wire.Line, msg wire.Message, q *Request) bool {
	m.apply("S-MSG-01")
	bad := func(actual string) bool {
		if q.Owed {
			m.violate("S-MSG-01", `a response has jsonrpc "2.0", the id, and exactly one of result and error`, actual, l)
		}
		return false
	}
	switch {
	case msg.Result == nil && msg.Error == nil:
		return bad("neither result nor error")
	case msg.Result != nil && msg.Error != nil:
		return bad("both result and error")
	case !msg.V2():
		return bad("jsonrpc is " + orAbsent(string(msg.Version)))
	}
	if msg.Error != nil {
		m.apply("S-MSG-02")
		e, ok := wire.AsObject(msg.Error)
		if !ok {
			m.violate("S-MSG-02", "an error is an object with an integer code and a string message", "error is "+Short(string(msg.Error)), l)
			return false
		}
		if _, ok := e.Int("code"); !ok {
			m.violate("S-MSG-02", "an error has an integer code", "code is "+orAbsent(Short(string(e["code"]))), l)
		}
		if text, ok := e.String("message"); !ok {
			m.violate("S-MSG-02", "an error has a string message", "message is "+orAbsent(Short(string(e["message"]))), l)
		} else {
			m.errorMessage(l, text, q)
		}
		return false
	}
	return true
}

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

// Short cuts a value to what a sentence can hold.
func Short(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

// promptShaped reports whether a response has the form of a prompt's success.
func promptShaped(msg wire.Message) bool {
	_, ok := ShapeOf(msg)
	return ok
}
