package protocol

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// Request is a request that the client wrote.
type Request struct {
	Line    wire.Line // shortened
	ID      wire.ID
	Method  string
	Session string // of a session/prompt with a string sessionId
	// Owed is set where the protocol promises a response. Requests of OBSERVE
	// requirements (an id that is null, another jsonrpc version, …) may get one.
	Owed bool
	// Disowned is set by the harness where a spec judges the lack of a response
	// itself, under a requirement more specific than S-MSG-04.
	Disowned bool
	// Response is the line that settled the request, and Answer its message.
	Response *wire.Line
	Answer   *wire.Message

	age                      // where it is not owed
	replies       *allowance // of its line, where a reply may also come without its id
	prompt        bool
	named         bool // a prompt with a string sessionId, which may be empty
	afterShutdown bool
	atShutdown    bool       // a prompt that was in flight when a shutdown was sent
	overtaken     *wire.Line // the shutdown's response that came before its own
	quiet         bool       // a prompt that was sent to a session where nothing ran or waited
}

// Settled reports whether a response came.
func (r *Request) Settled() bool { return r.Answer != nil }

// silent is a line of the client that must get no reply, and the requirement
// that a reply to it violates.
type silent struct {
	line     wire.Line
	row      string
	expected string
	id       string // key of the id that a reply may carry
}

// requests is the bookkeeping of what is owed.
type requests struct {
	open      map[string][]*Request // by key of the id
	order     []*Request            // open ones, oldest first
	done      map[string]wire.Line  // answered ids: the last response
	doneOrder []string
	silent    []silent

	answeredAt int // the place of the last request that was answered, in the order of the wire

	clock      int          // counts the lines of the client and the answers to what is owed
	allowances []*allowance // oldest first
	optional   []*Request   // open or just answered, not owed, oldest first
	anyReply   bool         // what replies answer may not have been seen
}

func newRequests() requests {
	return requests{open: map[string][]*Request{}, done: map[string]wire.Line{}}
}

// rememberedLines bounds how many answered ids and unanswerable lines are kept.
const rememberedLines = 4096

func (r *requests) add(q *Request) {
	q.written = r.clock
	k := q.ID.Key()
	r.open[k] = append(r.open[k], q)
	r.order = append(r.order, q)
	if !q.Owed {
		r.wait(q)
	}
}

// take removes the open request that a response under this key settles. Of several
// under one id an error is taken for the answer of one that is no prompt, a result
// for a prompt's: which it was can't be told. One that is owed goes before one that
// need not be answered.
func (r *requests) take(key string, failed bool) *Request {
	list := r.open[key]
	if len(list) == 0 {
		return nil
	}
	if owed := slices.DeleteFunc(slices.Clone(list), func(q *Request) bool { return !q.Owed }); len(owed) > 0 {
		list = owed
	}
	at := slices.IndexFunc(list, func(q *Request) bool { return q.prompt != failed })
	at = max(at, 0)
	q := list[at]
	r.remove(q)
	return q
}

// remove closes an open request.
func (r *requests) remove(q *Request) {
	key := q.ID.Key()
	list := slices.DeleteFunc(slices.Clone(r.open[key]), func(o *Request) bool { return o == q })
	if r.open[key] = list; len(list) == 0 {
		delete(r.open, key)
	}
	for i, o := range r.order {
		if o == q && i == 0 { // most servers answer in order, and a flood holds many
			r.order = r.order[1:]
			break
		}
		if o == q {
			r.order = append(r.order[:i:i], r.order[i+1:]...)
			break
		}
	}
}

// confused finds an open request whose id a careless server takes for id.
func (r *requests) confused(id wire.ID) *Request {
	for _, q := range r.order {
		if q.ID.LooseKey() == id.LooseKey() {
			return q
		}
	}
	return nil
}

func (r *requests) finish(key string, l wire.Line) {
	if _, again := r.done[key]; !again {
		r.doneOrder = append(r.doneOrder, key)
		if len(r.doneOrder) > rememberedLines {
			delete(r.done, r.doneOrder[0])
			r.doneOrder = r.doneOrder[1:]
		}
	}
	r.done[key] = l
}

func (r *requests) mute(s silent) {
	r.silent = append(r.silent, s)
	if len(r.silent) > rememberedLines {
		r.silent = r.silent[1:]
	}
}

// likeliest is the line that must get no reply which one without an id answers, as far
// as can be told: servers read in order, so it is the first behind the last request
// that was answered. Where lines of several kinds wait there, it is a malformed one:
// that is what others answer.
func (r *requests) likeliest() int {
	first := -1
	for i, s := range r.silent {
		switch {
		case s.line.Seq < r.answeredAt:
		case s.row == "S-FRM-05":
			return i
		case first < 0:
			first = i
		}
	}
	if first < 0 {
		return len(r.silent) - 1
	}
	return first
}

func (r *requests) owed() int {
	n := 0
	for _, q := range r.order {
		if q.Owed {
			n++
		}
	}
	return n
}

// Client takes a line that the client writes, before the server can have read
// it. It returns the request that the line is, nil where it is none.
func (m *Monitor) Client(l wire.Line) *Request {
	msg := wire.Parse(l)
	m.requests.clock++
	switch msg.Kind {
	case wire.Request:
		return m.request(l, msg)
	case wire.Notification:
		m.clientNotification(l, msg)
	case wire.Response:
		m.clientResponse(l, msg)
	case wire.Blank:
		m.requests.mute(silent{line: Evidence(l), row: "S-FRM-02", expected: "a blank line gets no reply"})
	case wire.Junk:
		m.clientJunk(l, msg)
	case wire.Other:
		if !m.misnamed(l, msg, "id", "method") {
			m.requests.allow(1, false) // no frame; what a reply would be is not settled
		}
	}
	return nil
}

func (m *Monitor) request(l wire.Line, msg wire.Message) *Request {
	q := &Request{Line: Evidence(l), ID: msg.ID, Method: msg.Method, afterShutdown: m.ending.shutdownSent}
	plain := msg.MethodIsString && msg.V2() && wellEncoded(l) // a request to every reader
	// Whether a last line without LF is served has no right answer.
	q.Owed = plain && l.Terminated() && (msg.ID.IsString() || msg.ID.Exact()) && !m.ending.shutdownSent
	q.slow = slices.Contains([]string{MethodInitialize, MethodPrompt, MethodShutdown}, msg.Method)
	if !plain || !msg.ID.IsString() && !msg.ID.IsNumber() {
		q.replies = m.requests.allow(1, q.slow) // a reply may carry null
	}
	switch msg.Method {
	case MethodPrompt:
		q.prompt = true
		if params, ok := wire.AsObject(msg.Params); ok {
			if id, isString := params.String("sessionId"); isString {
				q.Session, q.named = id, true
				m.prompted(q)
			}
		}
	case MethodShutdown:
		m.shutdownSent(q)
	}
	m.requests.add(q)
	return q
}

// wellEncoded reports whether every reader takes the text of a line as it is: it is
// UTF-8, and no escape in it is half of a surrogate pair. A strict reader may hold
// another one for malformed.
func wellEncoded(l wire.Line) bool {
	if !bytes.Contains(l.Raw, []byte(`\u`)) {
		return utf8.Valid(l.Raw)
	}
	return jsontext.Value(l.Raw).IsValid(jsontext.AllowDuplicateNames(true))
}

// Overdue tells that q was waited for as long as a subject has. Where it is owed a
// response that nobody else judges the lack of, that is violated now.
func (m *Monitor) Overdue(q *Request) Observation {
	if q.Owed && !q.Disowned && q.Answer == nil {
		m.violate("S-MSG-04", "every request gets exactly one response", "none to "+Short(q.Method)+" within the deadline", q.Line)
	}
	q.Disowned = true
	return m.observed(Observation{})
}

// Disown tells that the lack of a response to q is judged by somebody else.
func (m *Monitor) Disown(q *Request) { q.Disowned = true }
