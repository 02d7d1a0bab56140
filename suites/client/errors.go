package client

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// errorResponses: what the caller learns when a call fails.
func errorResponses(s *suite) {
	s.It("C-ERR-01", wholeError)
	for _, v := range []struct {
		name   string
		errors []string
	}{
		{"no-code", []string{`{"message":"no code"}`, `{"code":null,"message":"no code"}`, `{"code":"-1","message":"no code"}`}},
		{"no-message", []string{`{"code":-32603}`, `{"code":-32603,"message":null}`, `{"code":-32603,"message":7}`}},
		{"not-object", []string{`"boom"`, `7`, `[]`, `true`}},
	} {
		s.It("C-ERR-02/"+v.name, func(t *T) { brokenErrors(t, v.errors) })
	}
	s.It("C-ERR-03", func(t *T) {
		nullError(t)
		otherName(t)
	})
}

// wholeError fails a prompt, and a request where there are such, with all that an error
// can have.
func wholeError(t *T) {
	const message = "out of 运气: \"quoted\""
	data := object{"why": "tested", "n": 7, "list": []any{nil, true}}
	p := t.Launch(protocol.MethodPrompt, "dshconform/ask")
	a := p.Ask()
	check := func(what string, c *harness.Call, q *harness.Request, show Shown) {
		expected := "the error of " + what + " surfaces with its code, its message and its data"
		if !p.Write(expected, q.Error(-32123, message, data)) {
			return
		}
		if !t.Fails(c, expected, show) {
			return
		}
		reply, _ := c.Over()
		e := reply.Err
		t.Expect(wire.SameValue(e.Code, jsontext.Value("-32123")), expected+": code -32123", "the code is "+given(e.Code), show.frames()...)
		t.Expect(strings.Contains(e.Message, message), expected+": "+message, "the message is "+protocol.Short(e.Message), show.frames()...)
		t.Expect(wire.SameValue(e.Data, harness.Encode(data)), expected+": "+string(harness.Encode(data)), "the data are "+given(e.Data), show.frames()...)
	}
	check("a prompt", a.Call, a.Q, a.Shown)
	if !t.Hello.Offers(harness.CallRequest) || t.Failed() {
		return
	}
	show := p.Since()
	c, err := p.GoRequest("dshconform/ask", object{"a": 1})
	t.Need("send a request", err)
	q, err := p.RT.Next(t.Ctx, "dshconform/ask")
	t.Need("a request reaches the runtime", err)
	check("a request", t.own(c), q, show)
}

// brokenErrors fails prompts with errors that are none.
func brokenErrors(t *T, errors []string) {
	p := t.Launch(protocol.MethodPrompt)
	for _, e := range errors {
		expected := "the response with the error " + e + " fails the call"
		a, ok := p.Asks(expected)
		if !ok || !a.Write(expected, a.Q.ErrorRaw(jsontext.Value(e))) {
			return
		}
		if !t.Fails(a.Call, expected, a.Shown) {
			return
		}
	}
}

// nullError answers a prompt with a result beside an error that is null.
func nullError(t *T) {
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	lines := answer.Lines()
	for i, line := range lines {
		if string(line) == string(answer.Response) {
			lines[i] = append([]byte(strings.TrimSuffix(string(line), "}\n")), `,"error":null}`+"\n"...)
		}
	}
	t.Need("write the answer", a.RT.Write(t.Ctx, joined(lines)))
	reply, err := a.AwaitWithin(t.Ctx, t.run.deadlines.Call)
	t.Observe(`"error":null beside a result`, "%s", t.came(reply, err))
}

// otherName answers initialize in the name of another server.
func otherName(t *T) {
	c := t.Client(nil)
	rt, handshake, err := c.Begin(t.Ctx, harness.Behaviour{Manual: []string{protocol.MethodInitialize}})
	t.Need("launch the runtime", err)
	q, err := rt.Next(t.Ctx, protocol.MethodInitialize)
	t.Need("initialize reaches the runtime", err)
	t.Need("answer initialize", rt.Write(t.Ctx, q.Result(object{"serverInfo": object{"name": "another-runtime", "version": "1"}})))
	reply, err := t.own(handshake).AwaitWithin(t.Ctx, t.run.deadlines.Call)
	t.Observe("another serverInfo.name", "%s", t.came(reply, err))
}

// came says what a call came to, for what is observed.
func (t *T) came(reply harness.Reply, err error) string {
	switch {
	case err != nil:
		t.Conclude(err)
		t.visit.Spoil("stuck in " + t.ID)
		return "the call hangs"
	case reply.Err != nil:
		return "the call fails with an error of class " + string(reply.Err.Class)
	}
	return "the call succeeds"
}
