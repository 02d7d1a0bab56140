package client

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// messages: the form of what a client writes. The monitor judges each line; the specs
// see to it that there are lines of every kind.
func messages(s *suite) {
	for _, id := range []string{"C-MSG-01", "C-MSG-02", "C-MSG-03", "C-MSG-04"} {
		s.It(id, func(t *T) { t.Exercised(t.everyday(), id) })
	}
}

// everyday has a client make every kind of call that the driver offers, up to its
// close.
func (t *T) everyday() *Peer {
	p := t.Launch(protocol.MethodPrompt)
	first := p.Ask()
	asked := []*Asked{first}
	if t.Hello.Concurrent {
		for range 3 {
			asked = append(asked, p.Ask())
		}
	}
	for _, a := range asked {
		a.settle(harness.Turn{})
	}
	again := p.AskWith(harness.Prompt{SessionID: first.Q.SessionID(), Blocks: jsontext.Value(
		`[{"type":"text","text":"one\n"},{"type":"text","text":"two \u4f60\u597d"}]`)})
	again.settle(harness.Turn{Between: func(s *harness.Session) [][]byte { return s.Child(t.Session(), "a child's answer") }})
	if t.Hello.Offers(harness.CallRequest) {
		for _, params := range []any{nil, map[string]any{"a": []any{1, nil, "é"}}} {
			_, err := p.Request(t.Ctx, "dshconform/unknown", params) // is refused
			if harness.Raised(err) == nil {
				t.Need("send a request", err)
			}
		}
	}
	p.bye()
	return p
}

// settle answers a prompt and waits for its end, which the spec needs.
func (a *Asked) settle(turn harness.Turn) harness.Outcome {
	a.t.Need("write the answer", a.RT.Write(a.t.Ctx, a.Turn(turn).Joined()))
	o, err := a.Outcome(a.t.Ctx)
	a.t.Need("a prompt settles", err)
	return o
}

// bye has the client closed, where it can be, so that all that it writes has been seen.
func (p *Peer) bye() {
	t := p.t
	if !t.Hello.Offers(harness.CallClose) {
		return
	}
	if err := p.Close(t.Ctx); harness.Raised(err) == nil {
		t.Need("close the client", err)
	}
	t.Need("the runtime ends", p.RT.AwaitGone(t.Ctx, t.run.deadlines.Leave))
}

// timedOut has a call run out of time, and the next one settle.
func (t *T) timedOut() {
	p := t.LaunchWith(harness.Behaviour{Manual: []string{protocol.MethodPrompt}}, func(o *harness.CreateOptions) { o.CallTimeout = t.run.brief })
	a := p.Ask()
	if _, err := a.Await(t.Ctx); err != nil {
		t.Need("a call runs out of time", err)
	}
	p.bye()
}

// Exercised makes sure that the monitor had something to judge under the requirement.
// Its silence says nothing otherwise.
func (t *T) Exercised(p *Peer, row string) {
	times := 0
	p.RT.Inspect(func(m *protocol.ClientMonitor) { times = m.Exercised(row) })
	if times == 0 {
		t.NotReached("the situation came about", fmt.Errorf("nothing of the kind was on the wire"))
	}
}
