package protocol

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/wire"
)

func raw(dir wire.Direction, text string) wire.Line {
	text += "\n"
	return wire.Line{Dir: dir, Raw: []byte(text), Size: int64(len(text))}
}

// A monitor that joins in the middle blames nothing that what came before may explain.
func TestJoinedMonitorBlamesNothingOfBefore(t *testing.T) {
	event := func(session, kind, seq, data string) string {
		return `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"` + session + `","event":{"type":"` + kind + `","seq":` + seq + `,"time":1796050026712,"data":` + data + `}}}`
	}
	for name, c := range map[string]struct {
		profile Profile
		lines   []string
	}{
		"a response":                   {Directional, []string{`{"jsonrpc":"2.0","id":7,"result":{}}`}},
		"a second one":                 {Directional, []string{`{"jsonrpc":"2.0","id":7,"result":{}}`, `{"jsonrpc":"2.0","id":7,"result":{}}`}},
		"a reply without an id":        {Directional, []string{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, `[]`}},
		"a turn that ends":             {Directional, []string{event("s", "turn/end", "4", `{"turn":1,"reason":{"kind":"completed"}}`)}},
		"an event in a turn":           {Directional, []string{event("s", "tool/call", "4", `{"turn":1}`)}},
		"a new session's first":        {Directional, []string{event("s", "turn/start", "0", `{"turn":1}`), event("s", "turn/end", "1", `{"turn":1,"reason":{"kind":"completed"}}`)}},
		"an end of before":             {Accepted, []string{`{"jsonrpc":"2.0","method":"session.finished","params":{"sessionId":"s","status":"ok"}}`, `{"jsonrpc":"2.0","method":"session.finished","params":{"sessionId":"s","status":"ok"}}`}},
		"idle":                         {Receipt, []string{`{"jsonrpc":"2.0","method":"session.status","params":{"sessionId":"s","status":"idle"}}`}},
		"the end of a child of before": {Directional, []string{`{"jsonrpc":"2.0","method":"subagent.finished","params":{"provider":"local","agentId":"c","parentSessionId":"s","childSessionId":"c","status":"ok","stopReason":"completed"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			joined, fresh := NewMonitor(Options{Profile: c.profile, Joined: true}), NewMonitor(Options{Profile: c.profile})
			blamed := 0
			for _, text := range c.lines {
				g.Expect(joined.Server(raw(wire.ServerToClient, text)).Violations).To(BeEmpty())
				blamed += len(fresh.Server(raw(wire.ServerToClient, text)).Violations)
			}
			if name != "a new session's first" {
				g.Expect(blamed).To(BeNumerically(">", 0), "a monitor that saw the beginning knows better")
			}
		})
	}
}

// What needs no history is judged as always.
func TestJoinedMonitorJudgesWhatNeedsNoHistory(t *testing.T) {
	for row, text := range map[string]string{
		"S-FRM-01": "hello",
		"S-DIR-01": `{"jsonrpc":"2.0","id":1,"method":"ask"}`,
		"S-MSG-03": `{"jsonrpc":"2.0","method":"x"}`,
		"S-MSG-05": `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s"}}`,
	} {
		m := NewMonitor(Options{Joined: true})
		vs := m.Server(raw(wire.ServerToClient, text)).Violations
		NewWithT(t).Expect(vs).To(HaveLen(1), row)
		NewWithT(t).Expect(vs[0].Row).To(Equal(row))
		NewWithT(t).Expect(m.Rows()).To(ContainElement(row))
	}
}

// A prompt that is refused tells that another runs of which nothing is known.
func TestJoinedMonitorDistrustsASessionWithARefusedPrompt(t *testing.T) {
	g := NewWithT(t)
	m := NewMonitor(Options{Joined: true})
	m.Client(raw(wire.ClientToServer, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","contentBlocks":[]}}`))
	for _, text := range []string{
		`{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"turn/start","seq":0,"time":1796050026712,"data":{"turn":1}}}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"session already has an active prompt: s"}}`,
		`{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"turn/end","seq":1,"time":1796050026712,"data":{"turn":1,"reason":{"kind":"completed"}}}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"status":"ok","reason":{"kind":"completed"}}}`,
	} {
		g.Expect(m.Server(raw(wire.ServerToClient, text)).Violations).To(BeEmpty(), text)
	}
}

func TestShapeOf(t *testing.T) {
	for text, want := range map[string]Profile{
		`{"status":"ok","reason":{"kind":"completed"}}`: Directional,
		`{"messageId":"m","status":"ok","reason":{}}`:   Directional,
		`{"accepted":true}`:                             Accepted,
		`{"messageId":"m"}`:                             Receipt,
		`{"accepted":false}`:                            "",
		`{}`:                                            "",
		`[]`:                                            "",
	} {
		got, ok := ShapeOf(wire.Parse(raw(wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":`+text+`}`)))
		NewWithT(t).Expect(got).To(Equal(want), text)
		NewWithT(t).Expect(ok).To(Equal(want != ""), text)
	}
	_, ok := ShapeOf(wire.Parse(raw(wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"error":{}}`)))
	NewWithT(t).Expect(ok).To(BeFalse())
}
