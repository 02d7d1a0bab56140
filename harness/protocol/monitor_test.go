package protocol

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/wire"
)

// conversation plays lines to a monitor: "> …" is written by the client, "< …" by
// the server, "! eof" and "! term" are what the client does besides. It returns
// the ids of the requirements that were violated, in order.
func conversation(o Options, script string) []string {
	m := NewMonitor(o)
	var rows []string
	told := false
	seq := 0
	for _, l := range strings.Split(strings.TrimSpace(script), "\n") {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		raw := strings.NewReplacer(`\xff`, "\xff", `\xe2\x82`, "\xe2\x82", `\LF`, "").Replace(strings.TrimPrefix(l[1:], " "))
		if !strings.HasSuffix(l, `\LF`) { // \LF: the line is not terminated
			raw += "\n"
		}
		line := wire.Line{Seq: seq, Raw: []byte(raw), Size: int64(len(raw))}
		seq++
		switch l[0] {
		case '>':
			line.Dir = wire.ClientToServer
			m.Client(line)
		case '<':
			line.Dir = wire.ServerToClient
			for _, v := range m.Server(line).Violations {
				rows = append(rows, v.Row)
			}
		case '!':
			told = true
			switch strings.TrimSpace(raw) {
			case "eof":
				m.InputClosed()
			case "term":
				m.Signalled()
			case "deaf":
				m.OutputUnread()
			case "told":
			}
		}
	}
	for _, v := range m.End(Ended{Told: told}) {
		rows = append(rows, v.Row)
	}
	return rows
}

const ask = `> {"jsonrpc":"2.0","id":"a","method":"x"}` + "\n"

// asked are so many requests, each written behind the response of the one before.
func asked(n int) string {
	return strings.Repeat(ask+`< {"jsonrpc":"2.0","id":"a","result":{}}`+"\n", n)
}

const nullReply = `< {"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}` + "\n"

// TestSmallestViolations has the smallest conversation that breaks each rule
// which does not concern sessions, and the soundest that comes close.
func TestSmallestViolations(t *testing.T) {
	for _, c := range []struct {
		name, script string
		rows         []string
	}{
		{"an answered request", ask + `< {"jsonrpc":"2.0","id":"a","result":{}}`, nil},
		{"a request of the server", `< {"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`, []string{"S-DIR-01"}},
		{"a request of the server with id null", `< {"jsonrpc":"2.0","id":null,"method":"ask"}`, []string{"S-DIR-01"}},
		{"a reply to a notification", `> {"jsonrpc":"2.0","method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, []string{"S-DIR-02/unknown"}},
		{"a reply without id to a notification", `> {"jsonrpc":"2.0","method":"initialize"}` + "\n" + `< {"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`, []string{"S-DIR-02/initialize"}},
		{"a reply to a stray response", `> {"jsonrpc":"2.0","id":"zz","result":{}}` + "\n" + `< {"jsonrpc":"2.0","id":"zz","error":{"code":1,"message":"m"}}`, []string{"S-DIR-03/unknown-id"}},
		{"the result of a prompt under another id", `> {"jsonrpc":"2.0","id":-5,"method":"session/prompt","params":{"sessionId":"s","contentBlocks":[]}}` + "\n" + `< {"jsonrpc":"2.0","id":5,"result":{"status":"error","reason":{"kind":"x"}}}`, []string{"S-IDS-02/negative"}},
		{"a reply to an id and nothing else", `> {"jsonrpc":"2.0","id":7}` + "\n" + `< {"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`, []string{"S-DIR-03/unknown-id"}},
		{"a reply to a stray error", `> {"jsonrpc":"2.0","id":null,"error":{}}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, []string{"S-DIR-04/id-null"}},

		{"a banner", `< hello`, []string{"S-FRM-01"}},
		{"a blank line", "<  ", []string{"S-FRM-01"}},
		{"a JSON array", `< [1]`, []string{"S-FRM-01"}},
		{"a refusal without an id of a request that is no UTF-8", "> {\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"\xff\"}\n" + ask + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}` + "\n" + `< {"jsonrpc":"2.0","id":"a","result":{}}`, nil},
		{"a refusal without an id of a notification that is no UTF-8", "> {\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}\n" + ask + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}` + "\n" + `< {"jsonrpc":"2.0","id":"a","result":{}}`, nil},
		{"a notification that the server can't read", `> {"jsonrpc":"2.0","method":"x","params":{"n":7777}}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}`, []string{"S-FRM-05"}},
		{"junk of two kinds, and one reply", "> \n> {oops\n> null\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}`, []string{"S-FRM-05"}},
		{"an unterminated request that is served", `> {"jsonrpc":"2.0","id":"b","method":"x"}\LF
< {"jsonrpc":"2.0","id":"b","result":{}}`, nil},
		{"an unterminated request that is not", `> {"jsonrpc":"2.0","id":"b","method":"x"}\LF`, nil},
		{"an unterminated last line", ask + `< {"jsonrpc":"2.0","id":"a","result":{}}\LF`, []string{"S-FRM-01"}},
		{"a line cut by EOF", ask + `< {"jsonrpc":"2.0","id":"a","result":{}}` + "\n! eof\n" + `< {"jsonrpc":"2.0","method":"x","par\LF`, nil},
		{"a line cut by a signal in a character", "! term\n" + `< {"jsonrpc":"2.0","method":"x","params":{"a":"\xff\LF`, []string{"S-ENC-05"}},
		{"the same where the character may go on", "! term\n" + "< {\"jsonrpc\":\"2.0\",\"method\":\"\\xe2\\x82\\LF", nil},
		{"the same without a signal", "< {\"jsonrpc\":\"2.0\",\"method\":\"\\xe2\\x82\\LF", []string{"S-ENC-05"}},
		{"a line cut by a signal before its LF", "! term\n" + `< {"jsonrpc":"2.0","method":"x","params":{}}\LF`, nil},
		{"the last answer cut by EOF before its LF", ask + "! eof\n" + `< {"jsonrpc":"2.0","id":"a","result":{}}\LF`, nil},
		{"a line cut by a client that reads no more", "! deaf\n" + `< {"jsonrpc":"2.0","met\LF`, nil},
		{"a reply to a malformed line", "> {oops\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}`, []string{"S-FRM-05"}},
		{"a reply under the id of a malformed line", `> {"id":"m","method":"x"` + "\n" + `< {"jsonrpc":"2.0","id":"m","error":{"code":1,"message":"m"}}`, []string{"S-FRM-05"}},
		{"a reply to a batch", `> [{"jsonrpc":"2.0","id":"b","method":"x"}]` + "\n" + `< [{"jsonrpc":"2.0","id":"b","result":{}}]`, nil},
		{"single replies to a batch", `> [{"jsonrpc":"2.0","id":"b","method":"x"}]` + "\n" + `< {"jsonrpc":"2.0","id":"b","result":{}}`, nil},
		{"a reply to a line with NaN", `> {"jsonrpc":"2.0","id":"n","method":"x","params":{"a":NaN}}` + "\n" + `< {"jsonrpc":"2.0","id":"n","result":{}}`, nil},
		{"a reply behind a BOM", "> \ufeff" + `{"jsonrpc":"2.0","id":"n","method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":"n","result":{}}`, nil},
		{"no reply to invalid UTF-8", `> {"jsonrpc":"2.0","id":"n","method":"\xff"}` + "\n! told", nil},
		{"no reply to half of a surrogate pair", `> {"jsonrpc":"2.0","id":"n","method":"\ud800"}` + "\n! told", nil},
		{"no reply to the other half", `> {"jsonrpc":"2.0","id":"n","method":"x","params":{"a":"b\uDC00\ud83d"}}` + "\n! eof", nil},
		{"no reply to a whole pair", `> {"jsonrpc":"2.0","id":"n","method":"\ud83d\ude00"}` + "\n! told", []string{"S-MSG-04"}},
		{"no reply to what looks like half of a pair", `> {"jsonrpc":"2.0","id":"n","method":"\\ud800"}` + "\n! told", []string{"S-MSG-04"}},
		{"invalid UTF-8", `< {"jsonrpc":"2.0","method":"x","params":{"a":"\xff"}}`, []string{"S-ENC-05"}},
		{"an escaped lone surrogate", `< {"jsonrpc":"2.0","method":"x","params":{"a":"\ud800"}}`, nil},

		{"a string id as a number", `> {"jsonrpc":"2.0","id":"1","method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":1,"result":{}}`, []string{"S-IDS-01/numeric-looking"}},
		{"a string id in another case", ask + `< {"jsonrpc":"2.0","id":"A","result":{}}`, []string{"S-IDS-01/ascii"}},
		{"an empty id as null", `> {"jsonrpc":"2.0","id":"","method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"result":{}}`, []string{"S-IDS-01/empty"}},
		{"a number as a string", `> {"jsonrpc":"2.0","id":-5,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":"-5","result":{}}`, []string{"S-IDS-02/negative"}},
		{"a number by value", `> {"jsonrpc":"2.0","id":100,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":1e2,"result":{}}`, nil},
		{"a rounded number", `> {"jsonrpc":"2.0","id":9007199254740993,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":9007199254740992,"result":{}}`, []string{"S-IDS-03/beyond-safe"}},
		{"an overflowing number", `> {"jsonrpc":"2.0","id":1e400,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"result":{}}`, []string{"S-IDS-03/overflow"}},
		{"a rounded number refused under null", `> {"jsonrpc":"2.0","id":9007199254740993,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`, nil},
		{"the same as a failure of its handler", `> {"jsonrpc":"2.0","id":9007199254740993,"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}`, []string{"S-IDS-03/beyond-safe"}},
		{"a string refused under null", ask + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`, []string{"S-IDS-01/ascii"}},
		{"null for an odd id behind an ignored number", `> {"jsonrpc":"2.0","id":1e400,"method":"x"}` + "\n" + `> {"jsonrpc":"2.0","id":{"a":1},"method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}`, nil},
		{"null for a batch behind an ignored number", `> {"jsonrpc":"2.0","id":1e400,"method":"x"}` + "\n" + `> []` + "\n" + `< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`, nil},
		{"null long behind an ignored number", `> {"jsonrpc":"2.0","id":1e400,"method":"x"}` + "\n" + asked(2) + nullReply, []string{"S-MSG-04"}},
		{"a late response under an ignored number", `> {"jsonrpc":"2.0","id":1e400,"method":"x"}` + "\n" + asked(2) + `< {"jsonrpc":"2.0","id":1e400,"result":{}}`, nil},
		{"the id of an ignored batch again", `> [{"jsonrpc":"2.0","id":"a","method":"x"}]` + "\n" + asked(1) + "! told", nil},
		{"a late reply to a batch", `> []` + "\n" + `> {"jsonrpc":"2.0","method":"x"}` + "\n" + asked(1) + nullReply, nil},
		{"a late reply to a batch, behind two requests at once", `> []` + "\n" + `> {"jsonrpc":"2.0","method":"x"}` + "\n" + ask + strings.ReplaceAll(ask, `"a"`, `"b"`) + `< {"jsonrpc":"2.0","id":"a","result":{}}` + "\n" + `< {"jsonrpc":"2.0","id":"b","result":{}}` + "\n" + nullReply, nil},
		{"a reply to a notification long behind a batch", `> []` + "\n" + `> {"jsonrpc":"2.0","method":"x"}` + "\n" + asked(2) + nullReply, []string{"S-DIR-02/unknown"}},
		{"a reply to a prompt in a batch, late", `> [{"jsonrpc":"2.0","id":1,"method":"session/prompt"}]` + "\n" + asked(2) + nullReply, nil},
		{"a reply to a notification behind an answered odd id", `> {"jsonrpc":"2.0","id":null,"method":"x"}` + "\n" + nullReply + `> {"jsonrpc":"2.0","method":"x"}` + "\n" + nullReply, []string{"S-DIR-02/unknown"}},
		{"a reply to a notification behind an ignored odd id, late", `> {"jsonrpc":"2.0","id":true,"method":"x"}` + "\n" + `> {"jsonrpc":"2.0","method":"x"}` + "\n" + asked(2) + nullReply, []string{"S-DIR-02/unknown"}},
		{"an inexact number without a response", `> {"jsonrpc":"2.0","id":1e400,"method":"x"}` + "\n! told", nil},

		{"neither result nor error", ask + `< {"jsonrpc":"2.0","id":"a"}`, []string{"S-MSG-01"}},
		{"result and error", ask + `< {"jsonrpc":"2.0","id":"a","result":{},"error":null}`, []string{"S-MSG-01"}},
		{"no jsonrpc", ask + `< {"id":"a","result":{}}`, []string{"S-MSG-01"}},
		{"a code that is a string", ask + `< {"jsonrpc":"2.0","id":"a","error":{"code":"E","message":"m"}}`, []string{"S-MSG-02"}},
		{"an error without message", ask + `< {"jsonrpc":"2.0","id":"a","error":{"code":1}}`, []string{"S-MSG-02"}},
		{"a notification without params", `< {"jsonrpc":"2.0","method":"x"}`, []string{"S-MSG-03"}},
		{"an object that is no frame", `< {}`, []string{"S-MSG-03"}},
		{"a second response", ask + strings.Repeat(`< {"jsonrpc":"2.0","id":"a","result":{}}`+"\n", 2), []string{"S-MSG-04"}},
		{"a response to nothing", `< {"jsonrpc":"2.0","id":"a","result":{}}`, []string{"S-MSG-04"}},
		{"no response", ask + "! told", []string{"S-MSG-04"}},
		{"no response of a process that died", ask, nil},
		{"a time in seconds", `< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"z","seq":0,"time":1790000000,"data":{}}}}`, []string{"S-MSG-05"}},
		{"a reply to a request in another case", `> {"jsonrpc":"2.0","ID":"a","method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":"a","result":{}}`, []string{"S-MSG-08"}},
		{"a member twice", `< {"jsonrpc":"2.0","method":"x","params":{"a":1,"a":2}}`, []string{"S-MSG-10"}},
		{"a foreign serverInfo", `> {"jsonrpc":"2.0","id":"i","method":"initialize"}` + "\n" + `< {"jsonrpc":"2.0","id":"i","result":{"serverInfo":{"name":"x","version":"1"}}}`, []string{"S-INI-01"}},
		{"the key", `< {"jsonrpc":"2.0","method":"x","params":{"a":"the-secret-key"}}`, []string{"S-SEC-02"}},

		{"a shutdown result that is no object", `> {"jsonrpc":"2.0","id":"s","method":"shutdown"}` + "\n" + `< {"jsonrpc":"2.0","id":"s","result":null}`, []string{"S-SHD-01"}},
		{"a line behind the last response", `> {"jsonrpc":"2.0","id":"s","method":"shutdown"}` + "\n" + `< {"jsonrpc":"2.0","id":"s","result":{}}` + "\n" + `< {"jsonrpc":"2.0","method":"bye","params":{}}`, []string{"S-SHD-02"}},
		{"the answer to something sent behind the shutdown", `> {"jsonrpc":"2.0","id":"s","method":"shutdown"}` + "\n" + `< {"jsonrpc":"2.0","id":"s","result":{}}` + "\n" + ask + `< {"jsonrpc":"2.0","id":"a","result":{}}`, nil},
		{"a request before EOF without a response", ask + "! eof", []string{"S-SHD-10/running"}},
		{"a request before SIGTERM, which owes nothing", ask + "! term", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(conversation(Options{Profile: Directional, Secrets: []string{"the-secret-key"}}, c.script)).To(Equal(c.rows))
		})
	}
}

func TestAFloodOfViolationsIsCountedNotKept(t *testing.T) {
	g := NewWithT(t)
	m := NewMonitor(Options{})
	told := 0
	for range 10_000 {
		told += len(m.Server(wire.Line{Raw: []byte("y\n"), Size: 2}).Violations)
	}
	g.Expect(told).To(Equal(perRow))
	g.Expect(m.Violations("S-FRM-01")).To(Equal(10_000))

	m.Retell("S-FRM-01")
	g.Expect(m.Server(wire.Line{Raw: []byte("y\n"), Size: 2}).Violations).To(HaveLen(1))
	g.Expect(m.Violations("S-FRM-01")).To(Equal(10_001))
}

func TestARequestThatIsOverdueHasNoResponse(t *testing.T) {
	g := NewWithT(t)
	m := NewMonitor(Options{Profile: Directional})
	send := func(line string) *Request {
		raw := []byte(line + "\n")
		return m.Client(wire.Line{Dir: wire.ClientToServer, Raw: raw, Size: int64(len(raw))})
	}
	overdue := func(q *Request) (rows []string) {
		for _, v := range m.Overdue(q).Violations {
			rows = append(rows, v.Row)
		}
		return rows
	}
	q := send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	g.Expect(overdue(q)).To(Equal([]string{"S-MSG-04"}))
	g.Expect(overdue(q)).To(BeEmpty(), "said already")
	q = send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`)
	m.Disown(q)
	g.Expect(overdue(q)).To(BeEmpty(), "judged by somebody else")
	q = send(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`)
	raw := []byte(`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no"}}` + "\n")
	m.Server(wire.Line{Dir: wire.ServerToClient, Raw: raw, Size: int64(len(raw))})
	g.Expect(overdue(q)).To(BeEmpty(), "it came meanwhile")
	g.Expect(m.End(Ended{Told: true})).To(BeEmpty(), "none is told of again at the end")
}

func TestIntegersInAnyNotationAreOne(t *testing.T) {
	g := NewWithT(t)
	g.Expect(conversation(Options{Profile: Directional}, `
		> {"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","contentBlocks":[{"type":"text","text":"Go."}]}}
		`+strings.NewReplacer(`"seq":0`, `"seq":0.0`, `"turn":1`, `"turn":1e0`).Replace(starts("s", 0, 1))+`
		`+strings.NewReplacer(`"seq":1`, `"seq":1E+0`, `"time":1790000000000`, `"time":1.79e12`).Replace(says("s", 1, 1, "Fine."))+`
		`+strings.Replace(ends("s", 2, 1, "completed"), `"seq":2`, `"seq":20e-1`, 1)+`
		< {"jsonrpc":"2.0","id":"p","result":{"status":"ok","reason":{"kind":"completed"}}}
		> {"jsonrpc":"2.0","id":"x","method":"x"}
		< {"jsonrpc":"2.0","id":"x","error":{"code":-3.2603e4,"message":"unknown method"}}
	`)).To(BeEmpty())
}
