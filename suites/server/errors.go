package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// unknownMethods are methods that nobody serves, by variant of S-ERR-01.
var unknownMethods = []named[[]string]{
	{"plain", []string{UnknownMethod, "initialised", "session/no-such"}},
	{"empty", []string{""}},
	{"proto", []string{"__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"}},
	{"wrong-case", []string{"Initialize", "SESSION/PROMPT", "Session/Prompt", "Shutdown", "SHUTDOWN"}},
}

// refusals: a request that can't be served is answered, with an error, and costs
// nobody else anything.
func refusals(s *suite) {
	each(s, "S-ERR-01", shared, unknownMethods, func(t *T, methods []string) {
		srv := t.Shared()
		for _, method := range methods {
			c := t.Send(srv, method, t.paramsOf(method))
			if _, ok := t.Refused(c, fmt.Sprintf("a request for the unknown method %q is refused", method)); !ok {
				return
			}
		}
		t.Served(srv, "the next request is answered behind one for an unknown method")
	})
	s.It("S-ERR-02", shared, func(t *T) {
		srv := t.Shared()
		for _, variant := range unknownMethods {
			c := t.Send(srv, variant.value[0], t.paramsOf(variant.value[0]))
			m, err := c.Answer(t.Ctx)
			switch {
			case err != nil:
				t.Conclude(err)
				c.Disown() // S-ERR-01's
				srv.Spoil("silent in " + t.ID)
				t.Observe("unknown method, "+variant.name, "no response")
				return
			case m.Error == nil:
				t.Observe("unknown method, "+variant.name, "a result")
			default:
				t.Observe("unknown method, "+variant.name, "%s", errorOf(m))
			}
		}
	})
	s.It("S-ERR-03", shared, handlerFailures)
	each(s, "S-ERR-04", shared, promptDefects, func(t *T, defects []defect) {
		srv := t.Apart()
		for _, d := range defects {
			c, _ := t.sendDefect(srv, d)
			m, ok := t.oneResponse(c, "a prompt with "+d.what+" gets one response")
			if !ok || !t.Served(srv, "the next request is answered behind a prompt with "+d.what, c.Line, c.ResponseLine()) ||
				!t.once(c, "a prompt with "+d.what+" gets one response") {
				return
			}
			t.settleDefect(c, m)
		}
		t.Works(srv, "turns run behind prompts with broken params")
	})
	s.It("S-ERR-05", shared, func(t *T) {
		srv := t.Apart()
		for _, variant := range promptDefects {
			for _, d := range variant.value {
				expected := "a prompt with " + d.what + " is refused, and the model is not called"
				c, script := t.sendDefect(srv, d)
				m, ok := t.oneResponse(c, expected)
				if !ok {
					return
				}
				t.settleDefect(c, m)
				if !t.Expect(m.Error != nil, expected, "a result: "+protocol.Short(withoutIDs(m.Result)), c.Line) {
					continue
				}
				calls := t.run.stub.CallsByTag(script.Tag)
				t.Expect(len(calls) == 0, expected, "it is refused, and the model is called", c.Line, c.ResponseLine())
			}
		}
		// A turn that was begun behind a refusal has called the model before this one ends.
		t.Run(srv, t.Session(), model.Text("Fine."))
		for _, c := range t.run.stub.Calls() {
			if strings.HasPrefix(c.Tag, t.ID+".defect.") && !t.Failed() {
				t.Fail("a prompt with broken params is refused, and the model is not called", "the model is called for one that was refused")
			}
		}
	})
	s.It("S-ERR-06", shared, func(t *T) {
		srv := t.Shared()
		seen := 0
		for _, e := range t.errorsOf(srv) {
			for range 3 { // what an error keeps adds up
				c, end := e.provoke()
				m, err := c.Answer(t.Ctx)
				if err != nil || m.Error == nil { // that it gets an error is not what this is about
					t.Conclude(err)
					c.Disown()
					end()
					break
				}
				seen++
				if !t.Served(srv, "the next request is served behind "+e.what, c.Line, c.ResponseLine()) {
					end()
					return
				}
				end()
			}
		}
		if seen == 0 {
			t.NotReached("an error response", fmt.Errorf("none came"))
		}
		if srv.Fit() {
			t.Works(srv, "turns run behind error responses")
		}
	})
	s.It("S-ERR-07", 1, func(t *T) {
		srv := t.Fresh()
		all := append(t.errorsOf(srv), provoked{"an initialize with a provider that nobody serves", func() (*harness.Call, func()) {
			return t.Send(srv, protocol.MethodInitialize, t.initializeWith("provider", "nobody-"+t.Session())), func() {}
		}})
		t.provokeAll(srv, all)
		t.Exercised(srv, "S-ERR-07")
	})
	s.It("S-ERR-08", shared, func(t *T) {
		t.Observe("an empty contentBlocks", "%s", t.becomesOf(jsontext.Value("[]"), nil))
		script := t.Script(model.Text("Fine."))
		blocks := []any{map[string]any{"type": "x-unknown", "x-data": 1}, map[string]any{"type": "text", "text": script.Prompt("Go.")}}
		t.Observe("a block of an unknown type, before a text block", "%s", t.becomesOf(blocks, &script))
	})
}

// paramsOf are sound params for a method, in whichever case its name is written:
// a server that does not look at the case serves it.
func (t *T) paramsOf(method string) any {
	switch strings.ToLower(method) {
	case protocol.MethodInitialize:
		return t.run.launch.InitializeParams()
	case protocol.MethodPrompt:
		return Prompt(t.Session(), t.Script(model.Text("Fine.")).Prompt("Go."))
	}
	return nil
}

// withoutIDs is a result with what varies between runs left out.
func withoutIDs(result jsontext.Value) string {
	o, ok := wire.AsObject(result)
	if _, receipt := o["messageId"]; ok && receipt {
		return `{"messageId":…}`
	}
	return string(result)
}

// provoked is an error that any server has to give, and the way to it. What it
// takes up is given back by the function that comes with the call.
type provoked struct {
	what    string
	provoke func() (*harness.Call, func())
}

// provokeAll provokes errors one after the other. What they say is the monitor's to
// judge; that they are answered is judged under other requirements.
func (t *T) provokeAll(srv *harness.Server, all []provoked) {
	for _, e := range all {
		c, end := e.provoke()
		_, err := c.Answer(t.Ctx)
		if err != nil {
			t.Conclude(err)
			c.Disown()
			srv.Spoil("silent in " + t.ID)
		}
		end()
		if err != nil {
			return
		}
	}
}

// errorsOf are the errors that can be provoked without harm to what follows. The
// values of initialize that are not at fault stay as they are.
func (t *T) errorsOf(srv *harness.Server) []provoked {
	send := func(method string, params any) func() (*harness.Call, func()) {
		return func() (*harness.Call, func()) { return t.Send(srv, method, params), func() {} }
	}
	all := []provoked{
		{"an unknown method", send(UnknownMethod, map[string]any{"x": 1})},
		{"an initialize with maxTokens 0", send(protocol.MethodInitialize, t.initializeWith("maxTokens", jsontext.Value("0")))},
		{"a prompt without params", send(protocol.MethodPrompt, map[string]any{})},
		{"an initialize with maxTokens -1", send(protocol.MethodInitialize, t.initializeWith("maxTokens", jsontext.Value("-1")))},
	}
	if t.Profile.Settles() && !t.WithoutModel() {
		all = append(all, provoked{"an overlap", func() (*harness.Call, func()) {
			session := t.Session()
			held, gate := t.Held(srv, session, nil, []model.Step{model.Text("Fine.")})
			return t.Send(srv, protocol.MethodPrompt, Prompt(session, t.Script(model.Text("Fine.")).Prompt("Go."))), func() {
				gate.Open()
				held.Settle()
			}
		}})
	}
	return all
}

// handlerFailures judges the code and the message of errors that a handler, and
// not the transport, has to give.
func handlerFailures(t *T) {
	srv := t.Shared()
	seen, refused := 0, false
	for _, e := range t.errorsOf(srv) {
		initialize := strings.HasPrefix(e.what, "an initialize")
		if e.what != "an overlap" && !initialize || initialize && refused {
			continue // one refused initialize will do; the second is for a server that takes the first
		}
		c, end := e.provoke()
		m, err := c.Answer(t.Ctx)
		if err != nil {
			c.Disown()
			srv.Spoil("silent in " + t.ID)
			t.Need(e.what+" is answered", err)
		}
		o, _ := wire.AsObject(m.Error)
		code, isInteger := o.Int("code")
		message, isString := o.String("message")
		if isInteger && isString { // or else S-MSG-02 is violated, or S-INI-02, S-OVL-01 are: there is no error
			seen++
			refused = refused || initialize
			expected := fmt.Sprintf("%s is refused with code %d and a message", e.what, protocol.CodeHandler)
			t.Expect(code == protocol.CodeHandler, expected, fmt.Sprintf("the code is %d", code), c.Line, c.ResponseLine())
			t.Expect(strings.TrimSpace(message) != "", expected, "the message is empty", c.Line, c.ResponseLine())
		}
		end()
	}
	if seen == 0 {
		t.NotReached("an error of a handler", errors.New("none came"))
	}
}
