package client

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// errorResponses: what the caller learns when a call fails.
func errorResponses(s *suite) {
	s.It("C-ERR-01", func(t *T) {
		wholeError(t)
		refusedHandshake(t)
	})
	for _, v := range []struct {
		name   string
		errors []string
	}{
		{"no-code", []string{`{"message":"no code"}`, `{"code":null,"message":"no code"}`, `{"code":"-1","message":"no code"}`}},
		{"no-message", []string{`{"code":-32603}`, `{"code":-32603,"message":null}`, `{"code":-32603,"message":7}`}},
		{"not-object", []string{`"boom"`, `7`, `[]`, `true`, `""`, `0`, `false`}},
	} {
		s.It("C-ERR-02/"+v.name, func(t *T) { brokenErrors(t, v.errors) })
	}
	s.It("C-ERR-03", func(t *T) {
		nullError(t)
		otherName(t)
	})
}

// wholeErrors have all that an error can have: codes that are any integers, data that are
// any values but null, which can't be told from none.
var wholeErrors = []struct {
	code    int
	message string
	data    any
}{
	{-32123, "out of 运气: \"quoted\"", object{"why": "tested", "n": 7, "list": []any{nil, true}}},
	{-32001, "a message of\n  several lines", object{"camelCase": nil, "snake_case": 1.5}},
	{1, "data that are zero", 0},
	{-1, "data that are false", false},
	{0, "data that are an empty text", ""},
	{-32000, "data that are an empty list", []any{}},
	{1 << 31, "data that are an empty object", object{}},
	{-32603, "a long message: " + strings.Repeat("运气 e\u0301 𝒳 ", 100) + "and its end", "text"},
}

// wholeError fails a prompt, and a request where there are such, with each of them.
func wholeError(t *T) {
	p := t.Launch(protocol.MethodPrompt, otherMethod)
	for _, e := range wholeErrors {
		a, ok := p.Asks("the call behind one that has failed reaches the runtime")
		if !ok {
			return
		}
		a.surfaces("a prompt", e.code, e.message, e.data)
		if !t.Failed() && t.Hello.Offers(harness.CallRequest) {
			p.AskOther().surfaces("a request", e.code, e.message, e.data)
		}
		if t.Failed() {
			return
		}
	}
}

// refusedHandshake fails initialize, whose error is one like any other.
func refusedHandshake(t *T) {
	if t.Failed() {
		return
	}
	t.Greeted(nil).surfaces("initialize", -32002, "no such provider: 运气", object{"provider": "运气"})
}

// surfaces fails a call with an error, which its caller has to get whole.
func (a *Asked) surfaces(what string, code int, message string, data any) {
	t, show := a.t, a.Shown
	expected := "the error of " + what + " surfaces with its code, its message and its data"
	if !a.Write(expected, a.Q.Error(code, message, data)) || !t.Fails(a.Call, expected, show) {
		return
	}
	reply, _ := a.Over()
	e, coded, attached := reply.Err, harness.Encode(code), harness.Encode(data)
	t.Expect(wire.SameValue(e.Code, coded), expected+": code "+string(coded), "the code is "+given(e.Code), show.frames()...)
	t.Expect(strings.Contains(e.Message, message), expected+": "+protocol.Short(message), fmt.Sprintf("the message is %s, of %d bytes", protocol.Short(e.Message), len(e.Message)), show.frames()...)
	t.Expect(wire.SameValue(e.Data, attached), expected+": "+string(attached), "the data are "+given(e.Data), show.frames()...)
}

// brokenErrors fails prompts with errors that are none, and requests, where there are such:
// what is taken for a result there is the prompt's to refuse.
func brokenErrors(t *T, errors []string) {
	p := t.Launch(protocol.MethodPrompt, otherMethod)
	fails := func(a *Asked, expected string, e jsontext.Value) bool {
		return a.Write(expected, a.Q.ErrorRaw(e)) && t.Fails(a.Call, expected, a.Shown)
	}
	for _, e := range errors {
		expected := "the response with the error " + e + " fails the call"
		a, ok := p.Asks(expected)
		if !ok || !fails(a, expected, jsontext.Value(e)) {
			return
		}
		if t.Hello.Offers(harness.CallRequest) && !fails(p.AskOther(), expected, jsontext.Value(e)) {
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
	a := t.Greeted(nil)
	t.Need("answer initialize", a.RT.Write(t.Ctx, a.Q.Result(object{"serverInfo": object{"name": "another-runtime", "version": "1"}})))
	reply, err := a.AwaitWithin(t.Ctx, t.run.deadlines.Call)
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
