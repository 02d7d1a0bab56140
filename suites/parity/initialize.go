package parity

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// initialize: the handshake, and what is called around it.
func initialize(s *suite) {
	s.play("P-INI-01", wholeConversation)
	s.play("P-INI-02", func(p *Play) {
		for _, in := range texts(
			`{"serverInfo":{"name":"another-runtime","version":"1"}}`, `{"serverInfo":{"name":"deepseek-harness-sdk-runtime"}}`,
			`{"serverInfo":{"name":"deepseek-harness-sdk-runtime","version":7}}`, `{"serverInfo":{"name":7,"version":"1"}}`,
			`{"serverInfo":{"name":"deepseek-harness-sdk-runtime","version":"","x":{"y":null}},"z":1}`,
			`{"serverInfo":null}`, `{"serverInfo":"1"}`, `{}`, `null`, `[]`, `"ok"`,
		) {
			p.part(in.name, func() {
				p.handshake(func(_ *harness.Runtime, q *harness.Request) []byte { return q.Result(jsontext.Value(in.value)) })
			})
		}
	})
	s.play("P-INI-03", func(p *Play) {
		for _, in := range texts(`{"code":-32603,"message":"no such provider","data":{"provider":"x"}}`, `{"code":-32601,"message":"unknown"}`, `"no"`) {
			p.part(in.name, func() {
				p.handshake(func(_ *harness.Runtime, q *harness.Request) []byte { return q.ErrorRaw(jsontext.Value(in.value)) })
			})
		}
	})
	s.play("P-INI-04", outOfOrder)
	s.play("P-INI-05", func(p *Play) {
		p.handshake(func(rt *harness.Runtime, q *harness.Request) []byte {
			someone := rt.Session("someone")
			early := lined("starting", "", "null", string(harness.RequestLine(q.ID(), "dshconform/stray", nil)))
			early = append(early, someone.TurnStart()...)
			early = append(early, someone.ChildStarted("someone's child")...)
			early = append(early, foreign(rt.NewID())...)
			return append(early, q.Handshake()...)
		})
	})
}

// wholeConversation looks at every frame from the first to the last.
func wholeConversation(p *Play) {
	p.whole = true
	peer := p.Launch(protocol.MethodPrompt)
	peer.fromStart = true
	peer.Ask("call").Settles(harness.Turn{})
	peer.Works("next")
	peer.closes("close")
}

// handshake answers initialize, and sees what the caller gets, whether the runtime is
// let live, and whether a prompt works.
func (p *Play) handshake(answer func(*harness.Runtime, *harness.Request) []byte) {
	c := p.client(func(o *harness.CreateOptions) { p.briefClose(o) })
	rt, call, err := c.Begin(p.ctx, harness.Behaviour{Manual: []string{protocol.MethodInitialize, protocol.MethodPrompt}})
	if err != nil {
		p.whoseFault(err)
		p.see("launch", "%s", p.came(err))
		panic(stop{})
	}
	peer := p.meet(c, rt)
	peer.fromStart = true
	q, err := rt.Next(p.ctx, protocol.MethodInitialize)
	if err != nil {
		p.whoseFault(err)
		p.see("launch", "initialize %s", p.came(err))
		panic(stop{})
	}
	if err := rt.Write(p.ctx, answer(rt, q)); err != nil {
		p.whoseFault(err)
		p.see("initialize.reading", "%s", p.came(err))
	}
	reply, ok := p.ends("initialize", call, p.patience())
	if !ok {
		if e := reply.Err; e.Class == harness.ClassRemote {
			p.see("initialize.error.code", "%s", normal(e.Code))
			p.see("initialize.error.data", "%s", normal(e.Data))
		}
		p.runtimeOf(c, rt)
		return
	}
	p.see("initialize.result", "%s", normal(reply.Result))
	peer.Works("next")
}

// outOfOrder prompts before initialize, and initializes twice.
func outOfOrder(p *Play) {
	p.part("a prompt before initialize", func() {
		c := p.client(nil)
		if started, err := c.GoStart(p.ctx); err != nil {
			p.failed(err)
		} else if started != nil {
			p.ends("start", started, p.patience())
		}
		call, err := c.GoPrompt(p.ctx, harness.Prompt{SessionID: p.session(), Text: "too early"})
		if err != nil {
			p.failed(err)
		}
		p.launched(c, call)
		p.ends("call", call, p.patience())
	})
	p.part("a second initialize", func() {
		peer := p.Launch(protocol.MethodPrompt)
		call, err := peer.GoInitialize(p.ctx)
		if err != nil {
			p.failed(err)
		}
		p.ends("initialize", call, p.patience())
		peer.Works("next")
	})
}

// launched sees whether a call launches a runtime, which then serves it.
func (p *Play) launched(c *harness.Client, call *harness.Call) {
	ctx, cancel := context.WithTimeout(p.ctx, p.patience())
	defer cancel()
	rt, err := c.Accept(ctx, harness.Behaviour{}, call)
	switch {
	case err != nil && p.ctx.Err() == nil && ctx.Err() != nil:
		p.see("launch", "none, and the call goes on")
	case err != nil:
		p.whoseFault(err)
		p.see("launch", "%s", p.came(err))
	case rt == nil:
		p.see("launch", "none")
	default:
		p.see("launch", "a runtime")
		p.meet(c, rt).fromStart = true
	}
}

// briefClose has close wait for no more than it has to, where every client can be told.
func (p *Play) briefClose(o *harness.CreateOptions) {
	if p.takes("close") {
		o.CloseTimeout = p.run.brief()
	}
}
