package server

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
)

// promptBeforeInitialize shows what a prompt gets that comes first: a refusal, a
// turn, or nothing until initialize has come.
func promptBeforeInitialize(t *T) {
	srv := t.Unused()
	what := "a prompt before initialize"
	script := t.Script(model.Text("Early."))
	turn := t.Begin(srv, t.Session(), script)
	err := srv.Await(t.Ctx, "the answer to a barrier of a process that starts", srv.Mark(), srv.Deadlines().Start, answered(t.Send(srv, UnknownMethod, nil)))
	t.Need("the process starts", err)
	// What runs at once begins within the grace; a prompt that waits for
	// initialize does nothing that could be awaited.
	_ = srv.Await(t.Ctx, "a sign of the prompt", turn.mark, srv.Deadlines().Grace, func(fresh []harness.Entry) bool {
		return turn.Request.Answer != nil || len(EventsOf(fresh, turn.Session)) > 0
	})
	if t.Ctx.Err() != nil {
		t.Conclude(t.Ctx.Err())
	}
	waits := !t.begun(turn, script)
	// It is completed in any case: how a process ends that never was initialised is
	// a matter of its own (S-INI-05).
	c := t.Send(srv, protocol.MethodInitialize, t.run.launch.InitializeParams())
	_, err = c.Settle(t.Ctx)
	t.Need("initialize is answered", err)
	if t.WithoutModel() && !t.Profile.Settles() {
		m, err := turn.Call.Answer(t.Ctx)
		t.needResponse("the prompt is answered", turn.Call, err)
		t.Observe(what, "%s", describe(m))
		return
	}
	settled, err := turn.TrySettle()
	name := t.modelOf(script)
	if name == t.run.launch.Model {
		name = "the model that initialize names"
	}
	switch {
	case settled.Response.Error != nil:
		t.Observe(what, "is refused with %s", errorOf(settled.Response))
	case err != nil:
		t.unanswered(turn.Call, err)
		t.Observe(what, "is not answered, or its turn does not settle")
	case name == "":
		t.Observe(what, "is answered, and calls no model; the turn ends with %s", orNone(settled.Kind))
	case waits:
		t.Observe(what, "waits for initialize, then runs a turn on %s", name)
	default:
		t.Observe(what, "runs a turn on %s", name)
	}
}

// answered finds that a call has its response, for [harness.Server.Await].
func answered(c *harness.Call) func([]harness.Entry) bool {
	return func([]harness.Entry) bool { return c.Request.Answer != nil }
}

// secondInitialize shows what a second initialize gets, and which turns it is
// for.
func secondInitialize(t *T) {
	srv := t.Fresh()
	old := t.Session()
	if !t.WithoutModel() {
		t.Run(srv, old, model.Text("Before."))
	}
	c := t.Send(srv, protocol.MethodInitialize, t.initializeWith("model", t.run.launch.Model+"-2"))
	m, err := c.Answer(t.Ctx)
	t.needResponse("the second initialize is answered", c, err)
	if m.Error != nil {
		t.Observe("a second initialize", "is refused with %s", errorOf(m))
		return
	}
	t.Observe("a second initialize", "succeeds")
	if t.WithoutModel() {
		return
	}
	for _, session := range []struct{ id, name string }{{old, "turns of sessions from before it"}, {t.Session(), "turns of new sessions"}} {
		script := t.Script(model.Text("After."))
		t.Begin(srv, session.id, script).Settle()
		switch ran := t.modelOf(script); ran {
		case t.run.launch.Model:
			t.Observe(session.name, "run on the model of the first one")
		case t.run.launch.Model + "-2":
			t.Observe(session.name, "run on the model of the second one")
		default:
			t.Observe(session.name, "run on %q", ran)
		}
	}
}

// refusedSecond judges that a second initialize that is refused changes nothing:
// turns run on the model and provider of the first one. Where one is taken the
// valid one is sent again, since that it is taken is no matter of this row.
func refusedSecond(t *T) {
	srv := t.Fresh()
	script := t.Script(model.Text("Before."))
	before := t.Begin(srv, t.Session(), script).Settle()
	if ran := t.modelOf(script); ran != t.run.launch.Model {
		t.NotReached("a turn runs on the model that initialize named", fmt.Errorf("it ran on %q", ran))
	}
	other := t.run.launch.Model + "-refused"
	type second struct {
		what    string
		changes map[string]any
	}
	all := []second{
		{"a second initialize with another model", map[string]any{"model": other}},
		{"a second initialize with another model and maxTokens 0", map[string]any{"model": other, "maxTokens": jsontext.Value("0")}},
		{"a second initialize with another model and a mistyped cwd", map[string]any{"model": other, "cwd": jsontext.Value("5")}},
	}
	if !t.run.lacks("provider-check") {
		all = append(all, second{"a second initialize with a provider that nobody serves", map[string]any{"model": other, "provider": "nobody-" + t.Session()}})
	}
	refused := 0
	for _, s := range all {
		params := t.run.launch.InitializeParams()
		for member, value := range s.changes {
			params[member] = value
		}
		c := t.Send(srv, protocol.MethodInitialize, params)
		m, err := c.Answer(t.Ctx)
		t.needResponse("a second initialize is answered", c, err)
		if m.Error == nil {
			again := t.Send(srv, protocol.MethodInitialize, t.run.launch.InitializeParams())
			if m, err := again.Answer(t.Ctx); err != nil || m.Error != nil {
				t.NotReached("the first initialize holds again", fmt.Errorf("it was answered %s, error %w", describe(m), err))
			}
			continue
		}
		refused++
		script := t.Script(model.Text("After."))
		turn := t.Begin(srv, t.Session(), script)
		settled, err := turn.TrySettle()
		expected := s.what + " is refused and leaves provider and model as they were"
		if !t.Judge(err, expected, c.Line, c.ResponseLine(), turn.Line) {
			return
		}
		ran := t.modelOf(script)
		switch {
		case ran == "" && settled.Kind == before.Kind:
			t.Fail(expected, "the next turn calls no model", c.Line, c.ResponseLine(), turn.Line)
		case ran != "" && ran != t.run.launch.Model:
			t.Fail(expected, "the next turn runs on "+ran, c.Line, c.ResponseLine(), turn.Line)
		case settled.Kind != before.Kind:
			t.Fail(expected, "the next turn ends with "+orNone(settled.Kind), c.Line, c.ResponseLine(), turn.Line, turnEndLine(settled))
		}
		if t.Failed() {
			return
		}
	}
	if refused == 0 {
		t.NotProvoked("no second initialize was refused, not a broken one either")
	}
}
