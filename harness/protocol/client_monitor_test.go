package protocol

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/wire"
)

// clientConversation plays lines to a client monitor: "> …" is written by the client, "< …" by the server. It returns
// the ids of the requirements that were violated, in order.
func clientConversation(o ClientOptions, script string) ([]string, *ClientMonitor) {
	m := NewClientMonitor(o)
	var rows []string
	for seq, l := range strings.Split(strings.TrimSpace(script), "\n") {
		raw := strings.NewReplacer(`\xff`, "\xff").Replace(strings.TrimPrefix(l[1:], " "))
		if cut, ok := strings.CutSuffix(raw, `\LF`); ok { // the line is not terminated
			raw = cut
		} else {
			raw += "\n"
		}
		line := wire.Line{Seq: seq, Raw: []byte(raw), Size: int64(len(raw))}
		if l[0] == '<' {
			m.Server(line)
			continue
		}
		for _, v := range m.Client(line).Violations {
			rows = append(rows, v.Row)
		}
	}
	return rows, m
}

const clientAsks = `> {"jsonrpc":"2.0","id":"a","method":"x"}` + "\n"

// TestSmallestClientViolations has the smallest conversation that breaks each rule, and the soundest that comes close.
func TestSmallestClientViolations(t *testing.T) {
	const prompt = `> {"jsonrpc":"2.0","id":"p","method":"session/prompt","params":`
	for _, c := range []struct {
		name, script string
		profile      Profile
		rows         []string
	}{
		{"a request", clientAsks, "", nil},
		{"a request with an empty params", `> {"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}`, "", nil},
		{"white space around a request", `>  {"jsonrpc":"2.0","id":1,"method":"shutdown"} ` + "\r", "", nil},

		{"a notification", `> {"jsonrpc":"2.0","method":"initialized"}`, "", []string{"C-DIR-01"}},
		{"a notification, accepted", `> {"jsonrpc":"2.0","method":"initialized"}`, Accepted, nil},
		{"a response to a stray request", `< {"jsonrpc":"2.0","id":1,"method":"ask"}` + "\n" + `> {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}`, "", []string{"C-DIR-02"}},
		{"a response to a stray request, receipt", `< {"jsonrpc":"2.0","id":1,"method":"ask"}` + "\n" + `> {"jsonrpc":"2.0","id":1,"result":{}}`, Receipt, nil},

		{"a banner", "> hello", "", []string{"C-MSG-01"}},
		{"a blank line", ">  ", "", []string{"C-MSG-01"}},
		{"a batch", `> [{"jsonrpc":"2.0","id":1,"method":"x"}]`, "", []string{"C-MSG-01"}},
		{"a member twice", `> {"jsonrpc":"2.0","id":1,"method":"x","method":"y"}`, "", []string{"C-MSG-01"}},
		{"a whole frame without LF", clientAsks + `> {"jsonrpc":"2.0","id":"b","method":"x"}\LF`, "", []string{"C-MSG-01"}},
		{"a frame that was cut", clientAsks + `> {"jsonrpc":"2.0","id":"b","meth\LF`, "", nil},
		{"invalid UTF-8", `> {"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\xff"}}`, "", []string{"C-MB-01"}},
		{"an escaped lone surrogate", `> {"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\ud800"}}`, "", nil},

		{"no jsonrpc", `> {"id":1,"method":"x"}`, "", []string{"C-MSG-02"}},
		{"an id that is null", `> {"jsonrpc":"2.0","id":null,"method":"x"}`, "", []string{"C-MSG-02"}},
		{"a method that is a number", `> {"jsonrpc":"2.0","id":1,"method":5}`, "", []string{"C-MSG-02"}},
		{"params that is an array", `> {"jsonrpc":"2.0","id":1,"method":"x","params":[]}`, "", []string{"C-MSG-02"}},
		{"an object that is no frame", `> {}`, "", []string{"C-MSG-02"}},

		{"one id twice in flight", clientAsks + clientAsks, "", []string{"C-MSG-03"}},
		{"one id again after its response", clientAsks + `< {"jsonrpc":"2.0","id":"a","result":{}}` + "\n" + clientAsks, "", nil},
		{"a number and a string", `> {"jsonrpc":"2.0","id":1,"method":"x"}` + "\n" + `> {"jsonrpc":"2.0","id":"1","method":"x"}`, "", nil},

		{"initialize without a model", `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"cwd":"/","provider":"p"}}`, "", []string{"C-MSG-04"}},
		{"initialize without params", `> {"jsonrpc":"2.0","id":1,"method":"initialize"}`, "", []string{"C-MSG-04"}},
		{"initialize with more", `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"cwd":"/","provider":"p","model":"m","x":1}}`, "", nil},
		{"a prompt of text alone", prompt + `{"sessionId":"s","contentBlocks":"hi"}}`, "", []string{"C-MSG-04"}},
		{"a prompt with blocks", prompt + `{"sessionId":"s","contentBlocks":[{"type":"text","text":"hi"},{"type":"image"}]}}`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, _ := clientConversation(ClientOptions{Profile: c.profile}, c.script)
			NewWithT(t).Expect(rows).To(Equal(c.rows))
		})
	}
}

// Two prompts whose bytes were mixed are one fault of concurrency, and not of each line; where one call alone is in
// flight the same line is wrong by itself.
func TestMixedFramesAreBlamedOnConcurrency(t *testing.T) {
	g := NewWithT(t)
	const mixed = `> {"jsonrpc":"2.0","id":1,"met{"jsonrpc":"2.0","id":2,"method":"x"}` + "\n" + `> hod":"x"}`
	calls := 2
	o := ClientOptions{InFlight: func() int { return calls }}
	rows, m := clientConversation(o, mixed)
	g.Expect(rows).To(Equal([]string{"C-CON-01", "C-CON-01"}))
	g.Expect(m.Violations("C-CON-01")).To(Equal(2))
	calls = 1
	rows, _ = clientConversation(o, mixed)
	g.Expect(rows).To(Equal([]string{"C-MSG-01", "C-MSG-01"}))
}

func TestClientMonitorCounts(t *testing.T) {
	g := NewWithT(t)
	_, m := clientConversation(ClientOptions{Profile: Receipt}, clientAsks+`> {"jsonrpc":"2.0","method":"n"}`+"\n"+`> {"jsonrpc":"2.0","id":9,"result":{}}`)
	g.Expect(m.Notified()).To(Equal(1))
	g.Expect(m.Responded()).To(Equal(1))
	g.Expect(m.Open()).To(Equal(1))
	g.Expect(m.Exercised("C-MSG-03")).To(Equal(1))
	g.Expect(m.Exercised("C-DIR-01")).To(BeZero(), "it does not bind this profile")
	for range 10_000 {
		m.Client(wire.Line{Raw: []byte("y\n"), Size: 2})
	}
	g.Expect(m.Violations("C-MSG-01")).To(Equal(10_000))
}
