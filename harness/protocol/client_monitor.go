package protocol

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/wire"
)

// ClientOptions say what the monitor holds a client to.
type ClientOptions struct {
	Profile Profile
	// InFlight tells how many calls the client's caller has in flight, which tells bytes that two writers mixed from a
	// line that is wrong by itself. Nil stands for what the wire shows.
	InFlight func() int
}

// ClientMonitor judges what a client writes to one process of its server. Like [Monitor], it is fed every line of both
// directions in the order of the wire by one owner.
type ClientMonitor struct {
	o ClientOptions
	findings

	open      map[string]wire.Line // requests of the client that were not answered, by the key of their id
	strays    map[string]bool      // requests that the server wrote, by the key of their id
	mixed     bool                 // the last line held bytes of several frames
	notified  int
	responded int
}

// ClientObservation is what the monitor made of one line of the client.
type ClientObservation struct {
	Message    wire.Message
	Violations []Violation
}

// NewClientMonitor starts with a fresh process.
func NewClientMonitor(o ClientOptions) *ClientMonitor {
	if o.Profile == "" {
		o.Profile = Directional
	}
	return &ClientMonitor{o: o, findings: newFindings(), open: map[string]wire.Line{}, strays: map[string]bool{}}
}

// Server takes a line that the server writes, before the client can have read it.
func (m *ClientMonitor) Server(l wire.Line) {
	msg := wire.Parse(l)
	switch msg.Kind {
	case wire.Request:
		if m.o.Profile == Directional {
			m.apply("C-DIR-02")
		}
		if len(m.strays) < rememberedStrays {
			m.strays[msg.ID.Key()] = true
		}
	case wire.Response:
		delete(m.open, msg.ID.Key())
	}
}

// rememberedStrays bounds what is kept of a flood of requests.
const rememberedStrays = 1 << 14

// Client judges a line that the client wrote.
func (m *ClientMonitor) Client(l wire.Line) ClientObservation {
	msg := wire.Parse(l)
	if !l.Terminated() && msg.Kind == wire.Junk {
		return ClientObservation{Message: msg} // cut by the end of one of the two
	}
	m.apply("C-MSG-01")
	m.apply("C-MB-01")
	wasMixed := m.mixed
	m.mixed = false
	switch {
	case msg.InvalidUTF8:
		m.violate("C-MB-01", "what a client writes is valid UTF-8", "a line that is not", l)
	case msg.Kind == wire.Junk, msg.Kind == wire.Blank:
		m.junk(l, msg, wasMixed)
	case !l.Terminated():
		m.violate("C-MSG-01", "every line on stdin ends with LF", "stdin ended inside a line", l)
	case msg.DuplicateName != "":
		m.violate("C-MSG-01", "no object on stdin has a member twice", fmt.Sprintf("%q stands twice", Short(msg.DuplicateName)), l)
	}
	if msg.Kind > wire.Blank {
		m.frame(l, msg)
	}
	o := ClientObservation{Message: msg, Violations: m.take()}
	return o
}

// junk is a line of the client that is no JSON object.
func (m *ClientMonitor) junk(l wire.Line, msg wire.Message, wasMixed bool) {
	inFlight := len(m.open)
	if m.o.InFlight != nil {
		inFlight = max(inFlight, m.o.InFlight())
	}
	torn := msg.Kind == wire.Junk && msg.Problem != wire.NoObject && !msg.IsArray
	if torn && inFlight > 1 && (wasMixed || bytes.Contains(l.Raw, []byte(`"jsonrpc"`))) {
		m.mixed = true
		m.violate("C-CON-01", "the frames of concurrent calls are whole lines", "a line that holds pieces of frames: "+msg.Problem, l)
		return
	}
	what := msg.Problem
	if msg.Kind == wire.Blank {
		what = "a blank line"
	}
	m.violate("C-MSG-01", "every line on stdin is one JSON object", what, l)
}

// frame is a JSON object that the client wrote.
func (m *ClientMonitor) frame(l wire.Line, msg wire.Message) {
	if m.o.Profile == Directional {
		m.apply("C-DIR-01")
	}
	switch msg.Kind {
	case wire.Request:
		m.request(l, msg)
	case wire.Notification:
		m.notified++
		if m.o.Profile == Directional {
			m.violate("C-DIR-01", "a client writes requests only", fmt.Sprintf("a notification: method %q", Short(msg.Method)), l)
		}
	case wire.Response:
		m.responded++
		if m.o.Profile == Directional {
			m.apply("C-DIR-02")
			m.violate("C-DIR-02", "a client writes requests only", "a response: id "+Short(msg.ID.Token()), l)
		}
	case wire.Other:
		m.apply("C-MSG-02")
		m.violate("C-MSG-02", "a frame of a client is a request", msg.Problem, l)
	}
}

// request judges a request of the client.
func (m *ClientMonitor) request(l wire.Line, msg wire.Message) {
	m.apply("C-MSG-02")
	_, isObject := wire.AsObject(msg.Params)
	var expected, actual string
	switch {
	case !msg.V2():
		expected, actual = `a request has jsonrpc "2.0"`, "jsonrpc is "+orAbsent(Short(string(msg.Version)))
	case !msg.ID.IsString() && !msg.ID.IsNumber():
		expected, actual = "the id of a request is a string or a number", "it is "+Short(msg.ID.Token())
	case !msg.MethodIsString:
		expected, actual = "the method of a request is a string", "it is something else"
	case len(msg.Params) > 0 && !isObject:
		expected, actual = "params is an object, or absent", "it is "+Short(string(msg.Params))
	}
	if expected != "" {
		m.violate("C-MSG-02", expected, actual, l)
		return
	}
	m.unique(l, msg.ID)
	if s := schemas()["client."+strings.ReplaceAll(msg.Method, "/", ".")]; s != nil {
		m.apply("C-MSG-04")
		params := msg.Params
		if len(params) == 0 {
			params = []byte("{}")
		}
		if problem := s.check(params); problem != "" {
			m.violate("C-MSG-04", "the params of "+msg.Method+" fit their schema", problem, l)
		}
	}
}

// unique judges that no request in flight has the same id.
func (m *ClientMonitor) unique(l wire.Line, id wire.ID) {
	m.apply("C-MSG-03")
	if earlier, inFlight := m.open[id.Key()]; inFlight {
		m.violate("C-MSG-03", "no two requests in flight have one id", "a second one with id "+Short(id.Token()), earlier, l)
		return
	}
	if len(m.open) < rememberedStrays {
		m.open[id.Key()] = Evidence(l)
	}
}

// Notified and Responded count the notifications and the responses that the client wrote, whether they are judged or
// not.
func (m *ClientMonitor) Notified() int  { return m.notified }
func (m *ClientMonitor) Responded() int { return m.responded }

// Open is the number of requests of the client that were not answered.
func (m *ClientMonitor) Open() int { return len(m.open) }
