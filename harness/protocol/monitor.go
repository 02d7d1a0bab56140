package protocol

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/dshconform/dshconform/harness/wire"
)

// Options say what the monitor holds a conversation to.
type Options struct {
	Profile            Profile
	MaxTokensAsSuccess bool       // the deployment counts a turn cut at the token limit as ok
	Secrets            []string   // what must never show on stdout: the key of the model endpoint
	Environment        []Variable // what the server's environment says and no error message may
	Joined             bool       // the conversation had begun before the first line: see joined.go
}

// Variable is a variable of the server's environment.
type Variable struct{ Name, Value string }

// Monitor judges one conversation with one process. It is not safe for
// concurrent use: its owner feeds it in the order of the wire.
type Monitor struct {
	o Options
	findings
	requests requests
	sessions map[string]*session
	children map[string]*child
	retirement
	ending  ending
	speaker *session       // of the last event
	extras  map[string]int // notification methods and result members that the protocol does not know

	secretForms map[string][][]byte
}

// NewMonitor starts with a fresh process that nothing was sent to.
func NewMonitor(o Options) *Monitor {
	if o.Profile == "" {
		o.Profile = Directional
	}
	forms := map[string][][]byte{}
	for _, secret := range o.Secrets {
		forms[secret] = secretForms(secret)
	}
	m := &Monitor{
		secretForms: forms,

		o: o, findings: newFindings(), extras: map[string]int{},
		requests: newRequests(), sessions: map[string]*session{}, children: map[string]*child{},
		retirement: retirement{retired: map[string]*retired{}},
	}
	if o.Joined {
		m.requests.anyReply = true
	}
	return m
}

// Observation is what the monitor made of one line of the server.
type Observation struct {
	Message wire.Message
	// Answered is the request that the line settles, nil where it is no response
	// or answers nothing that was asked. A response under a confused id (1 for
	// "1") settles its request too: it is judged once, and nobody waits for it.
	Answered *Request
	// Violations are the new ones, those of earlier lines that only now became
	// certain included.
	Violations []Violation
}

// Server judges a line that the server wrote.
func (m *Monitor) Server(l wire.Line) Observation {
	msg := wire.Parse(l)
	o := Observation{Message: msg}
	m.afterTheEnd(l)
	m.secrets(l)
	m.apply("S-FRM-01")
	m.apply("S-ENC-05")
	switch {
	case !l.Terminated() && m.ending.cut:
		if !utf8.Valid(withoutCutCharacter(l.Raw)) {
			m.badEncoding(l)
		}
		if msg.Kind == wire.Junk || msg.Kind == wire.Blank {
			return m.observed(o)
		}
	case msg.InvalidUTF8:
		m.badEncoding(l)
	case msg.Kind == wire.Junk, msg.Kind == wire.Blank:
		m.junk(l, msg)
		return m.observed(o)
	case !l.Terminated():
		m.violate("S-FRM-01", "every line on stdout ends with LF", "stdout ended inside a line", l)
	}
	m.apply("S-MSG-10")
	if msg.DuplicateName != "" {
		m.violate("S-MSG-10", "no object on stdout has a member twice", fmt.Sprintf("%q stands twice", Short(msg.DuplicateName)), l)
	}
	switch msg.Kind {
	case wire.Request:
		m.violate("S-DIR-01", "a server writes responses and notifications only", fmt.Sprintf("a request: method %q, id %s", msg.Method, msg.ID.Token()), l)
	case wire.Response:
		m.apply("S-DIR-01")
		o.Answered = m.response(l, msg)
	case wire.Notification:
		m.apply("S-DIR-01")
		m.notification(l, msg)
	case wire.Other:
		m.other(l, msg)
	}
	return m.observed(o)
}

func (m *Monitor) badEncoding(l wire.Line) {
	m.violate("S-ENC-05", "every line on stdout is valid UTF-8", "a line that is not", l)
}

// withoutCutCharacter is what stands before a character that raw ends inside of.
func withoutCutCharacter(raw []byte) []byte {
	for i := len(raw) - 1; i >= max(0, len(raw)-utf8.UTFMax); i-- {
		if utf8.RuneStart(raw[i]) {
			if !utf8.FullRune(raw[i:]) {
				return raw[:i]
			}
			break
		}
	}
	return raw
}

func (m *Monitor) observed(o Observation) Observation {
	o.Violations = m.take()
	return o
}

// junk is a line of the server that is no JSON object.
func (m *Monitor) junk(l wire.Line, msg wire.Message) {
	if msg.IsArray && m.requests.spend() {
		return // the reply to a batch
	}
	if !l.Terminated() && m.ending.shutdownSent && bytes.HasPrefix(l.Raw, []byte("{")) {
		m.violate("S-FLS-02", "at a shutdown the last frame is written to its end", "stdout ended inside a frame: "+msg.Problem, l)
		return
	}
	if m.running() > 1 && msg.Problem != wire.NoObject && bytes.Contains(l.Raw, []byte(`"jsonrpc"`)) {
		m.violate("S-FLS-03", "the frames of concurrent sessions are whole lines", "a line that holds pieces of frames: "+msg.Problem, l)
		return
	}
	what := msg.Problem
	if msg.Kind == wire.Blank {
		what = "a blank line"
	}
	m.violate("S-FRM-01", "every line on stdout is one JSON object", what, l)
}

// other is a JSON object that is no frame.
func (m *Monitor) other(l wire.Line, msg wire.Message) {
	switch {
	case msg.Error != nil || msg.Result != nil:
		// JSON.stringify drops an id that is undefined: the reply to something without one
		if m.requests.spend() || m.repliesToSilent(l, msg) {
			return
		}
		m.violate("S-MSG-01", "a response carries the id of its request", "a response without an id", l)
	default:
		m.violate("S-MSG-03", "a frame is a response or a notification with a string method", msg.Problem, l)
	}
}

// Extras are the notification methods and members of results that the protocol
// does not know, with how often each came. They are reported, not failed.
func (m *Monitor) Extras() map[string]int { return m.extras }

// mostExtras bounds how many names are told apart, and OtherExtras stands for the rest:
// servers make names.
const (
	mostExtras  = 256
	OtherExtras = "(other names)"
)

// AddExtra counts n more of a name among extras.
func AddExtra(extras map[string]int, name string, n int) {
	name = Short(name)
	if _, known := extras[name]; !known && len(extras) >= mostExtras {
		name = OtherExtras
	}
	extras[name] += n
}

// InFlight is the number of requests that are owed a response.
func (m *Monitor) InFlight() int { return m.requests.owed() }
