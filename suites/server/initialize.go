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

// initialize: the handshake. What a first initialize gets is seen on a process
// that nothing was sent to; each spec has one of its own, since a process
// remembers how its handshake went.
func initialize(s *suite) {
	s.It("S-INI-01", shared, func(t *T) {
		srv, err := t.run.sharedServer(t.Ctx)
		if refused := (*harness.RefusedError)(nil); errors.As(err, &refused) {
			t.Fail("initialize returns serverInfo", refused.Error(), responses(srv)...)
			return
		}
		t.Exercised(t.Shared(), "S-INI-01")
	})
	each(s, "S-INI-02", 1, []named[string]{
		{"zero", `0`}, {"negative", `-1`}, {"fraction", `1.5`}, {"too-large", `9007199254740992`}, {"string", `"1024"`},
	}, func(t *T, value string) {
		t.refusedAtFirst("maxTokens", jsontext.Value(value), "an initialize with maxTokens "+value)
	})
	s.It("S-INI-03", 1, func(t *T) {
		t.refusedAtFirst("provider", "nobody-"+t.Session(), "an initialize with a provider that nobody serves")
	})
	s.It("S-INI-04/prompt-before", 1, promptBeforeInitialize)
	s.It("S-INI-04/second", 1, secondInitialize)
	s.It("S-INI-05", 1, shutdownAtFirst)
	s.It("S-INI-06", 1, func(t *T) {
		f := t.promptBehindInitialize()
		expected := "a prompt right behind initialize runs on the model that this named, or is refused"
		if f.err != nil {
			f.turn.Disown() // judged here
		}
		switch {
		case !t.Judge(f.err, expected, f.turn.Line):
		case f.refused:
		case f.model == "":
			t.Fail(expected, "it is not refused, and no model call comes of it", f.turn.Line, f.turn.ResponseLine())
		default:
			t.Expect(f.model == t.run.launch.Model, expected, "it runs on "+f.model, f.turn.Line, f.turn.ResponseLine())
		}
	})
	s.It("S-INI-07", 1, refusedSecond)
	s.It("S-INI-08", 1, func(t *T) {
		f := t.promptBehindInitialize()
		t.needResponse("the prompt is answered and its turn settles", f.turn.Call, f.err)
		t.Observe("a prompt right behind initialize", "%s", f.String(t))
	})
	each(s, "S-INI-09", 1, []named[[]jsontext.Value]{
		{"missing", []jsontext.Value{nil}},
		{"mistyped", []jsontext.Value{jsontext.Value("5"), jsontext.Value(`["a"]`), jsontext.Value(`{"a":1}`), jsontext.Value("null")}},
	}, brokenMembers)
}

// initializeWith are the params of initialize with one member set to another
// value, or left out where the value is nil.
func (t *T) initializeWith(member string, value any) map[string]any {
	params := t.run.launch.InitializeParams()
	params[member] = value
	if raw, ok := value.(jsontext.Value); ok && raw == nil {
		delete(params, member)
	}
	return params
}

// first waits for the answer of a request to a process that may still be
// starting, and judges that it comes.
func (t *T) first(c *harness.Call, expected string) (wire.Message, bool) {
	m, err := c.Settle(t.Ctx)
	if err != nil {
		c.Disown()
		c.Server().Spoil("silent in " + t.ID)
	}
	return m, t.Judge(err, expected, c.Line)
}

// refusedAtFirst judges that a first initialize with a member like this is
// refused, and that a valid one works behind it.
func (t *T) refusedAtFirst(member string, value any, what string) {
	srv := t.Unused()
	bad := t.Send(srv, protocol.MethodInitialize, t.initializeWith(member, value))
	m, ok := t.first(bad, what+" is refused")
	if !ok {
		return
	}
	if !t.Expect(m.Error != nil, what+" is refused", "a result: "+protocol.Short(string(m.Result)), bad.Line, bad.ResponseLine()) {
		return
	}
	t.works(srv, "a valid initialize works behind a refused one", bad.Line, bad.ResponseLine())
}

// works judges that a valid initialize succeeds.
func (t *T) works(srv *harness.Server, expected string, before ...wire.Line) {
	valid := t.Send(srv, protocol.MethodInitialize, t.run.launch.InitializeParams())
	if m, ok := t.first(valid, expected); ok {
		t.Expect(m.Error == nil, expected, "an error: "+protocol.Short(string(m.Error)), append(before, valid.Line, valid.ResponseLine())...)
	}
}

// brokenMembers judges that each member of initialize may be broken in each way
// without harm. Whether that is refused is not what this is about, and where one
// was taken a second initialize may be refused (S-INI-04).
func brokenMembers(t *T, values []jsontext.Value) {
	srv := t.Unused()
	taken := false
	var last *harness.Call
	for _, member := range []string{"cwd", "provider", "model"} {
		for _, value := range values {
			how := "no " + member
			if value != nil {
				how = fmt.Sprintf("%s %s", member, value)
			}
			last = t.Send(srv, protocol.MethodInitialize, t.initializeWith(member, value))
			m, ok := t.first(last, "an initialize with "+how+" gets one response")
			if !ok || !t.Served(srv, "the next request is answered behind an initialize with "+how, last.Line) ||
				!t.once(last, "an initialize with "+how+" gets one response") {
				return
			}
			taken = taken || m.Error == nil
		}
	}
	if !taken {
		t.works(srv, "a valid initialize works behind broken ones", last.Line, last.ResponseLine())
	}
}

// shutdownAtFirst judges the end of a process that was never initialised, the
// harness's own judgement of ends being that of S-SHD-01.
func shutdownAtFirst(t *T) {
	srv := t.Unused()
	c := t.Send(srv, protocol.MethodShutdown, nil)
	m, answered := t.first(c, "shutdown before initialize is answered")
	if answered {
		t.Expect(m.Error == nil, "shutdown before initialize returns {}", "an error: "+protocol.Short(string(m.Error)), c.Line, c.ResponseLine())
	}
	e := srv.AwaitExit(t.Ctx)
	t.Conclude(t.Ctx.Err())
	expected := "the process exits with code 0 behind a shutdown before initialize"
	switch {
	case !answered: // said already
	case !e.Exited:
		t.Fail(expected, "it still runs", c.Line, c.ResponseLine())
	default:
		t.Expect(e.Exit.Success(), expected, e.Exit.String(), c.Line, c.ResponseLine())
	}
}

// pipelined is what became of a prompt that did not wait for initialize.
type pipelined struct {
	turn    *Turn
	err     error // it was not answered, or its turn did not settle
	refused bool
	model   string // of the model call that came of it, "" where none came
}

// promptBehindInitialize writes both frames in one write to a fresh process.
func (t *T) promptBehindInitialize() pipelined {
	srv := t.Unused()
	session, script := t.Session(), t.Script(model.Text("Fine."))
	mark := srv.Mark()
	calls := t.Write(srv, string(harness.Frame(srv.NewID(), protocol.MethodInitialize, t.run.launch.InitializeParams()))+
		string(harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(session, script.Prompt("Go.")))))
	f := pipelined{turn: &Turn{calls[1], session, t, srv, mark}}
	handshake, err := calls[0].Settle(t.Ctx)
	t.Need("initialize is answered", err)
	if handshake.Error != nil {
		t.NotReached("initialize succeeds", &harness.RefusedError{Method: protocol.MethodInitialize, Error_: string(handshake.Error)})
	}
	settled, err := f.turn.TrySettle()
	f.refused = settled.Response.Error != nil
	if !f.refused {
		f.err = err
	}
	f.model = t.modelOf(script)
	return f
}

// modelOf is the model that a turn ran on, "" where it called none.
func (t *T) modelOf(script model.Script) string {
	calls := t.run.stub.CallsByTag(script.Tag)
	if len(calls) == 0 {
		return ""
	}
	return calls[len(calls)-1].Model
}

func (f pipelined) String(t *T) string {
	m, _ := f.turn.Now()
	switch {
	case f.refused:
		e, _ := wire.AsObject(m.Error)
		message, _ := e.String("message")
		return fmt.Sprintf("is refused: %s %q", e["code"], protocol.Short(strings.ReplaceAll(message, f.turn.Session, "ID")))
	case f.model == "":
		return "is answered without a model call"
	case f.model == t.run.launch.Model:
		return "runs a turn on the model that initialize named"
	}
	return "runs a turn on another model: " + f.model
}

// responses are the responses that a process wrote.
func responses(srv *harness.Server) (lines []wire.Line) {
	if srv == nil {
		return nil
	}
	for _, e := range srv.Since(0) {
		if e.Answered != nil {
			lines = append(lines, e.Answered.Line, e.Line)
		}
	}
	return lines
}
