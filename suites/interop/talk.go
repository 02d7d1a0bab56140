package interop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
)

// talk is one conversation. Its steps end it where it can't go on.
type talk struct {
	*cell
	reports.Conversation
	ctx context.Context
}

// stop ends a conversation that has come to nothing; its verdict says why.
type stop struct{}

// broken ends the run.
type broken struct{ err error }

// hold holds the conversation. The error ends the run.
func (t *talk) hold(do func(*talk)) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil, stop:
		case broken:
			err = r.err
		default:
			panic(r)
		}
	}()
	t.need("the server does not start", t.launch(t.ctx))
	do(t)
	return nil
}

// fail says that the conversation does not work, and goes on.
func (t *talk) fail(format string, args ...any) {
	if t.Verdict == reports.TalkWorks {
		t.Verdict, t.Why = reports.TalkFails, fmt.Sprintf(format, args...)
	}
}

// need ends the conversation unless err is nil.
func (t *talk) need(what string, err error) {
	if err == nil {
		return
	}
	if mine := t.mine(t.ctx, err); mine != nil {
		panic(broken{mine})
	}
	t.fail("%s: %s", what, harness.Explain(err))
	panic(stop{})
}

// see leaves what the caller sees.
func (t *talk) see(what, value string) {
	t.Saw = append(t.Saw, reports.Observation{What: what, Value: value})
}

// asked is a prompt that was made.
type asked struct {
	*harness.Call
	t    *talk
	name string
}

// script makes a script with a tag of its own.
func (t *talk) script(steps ...model.Step) model.Script {
	t.tags++
	return model.NewScript(fmt.Sprintf("t%d", t.tags), steps...)
}

// session gives a session id that nothing else in this cell has.
func (t *talk) session() string {
	t.tags++
	return fmt.Sprintf("session-%d", t.tags)
}

// ask has the SDK prompt; the script says what the model does.
func (t *talk) ask(name, session, text string, steps ...model.Step) *asked {
	call, err := t.c.GoPrompt(t.ctx, harness.Prompt{SessionID: session, Text: t.script(steps...).Prompt(text)})
	t.need(name, err)
	return &asked{t.visit.Own(call), t, name}
}

// held makes a prompt whose turn is held at a gate, behind which the model says the
// text.
func (t *talk) held(name, session, text string) (*asked, *model.Gate) {
	t.tags++
	gate := t.stub.Gate(fmt.Sprintf("gate-%d", t.tags))
	a := t.ask(name, session, "Wait.", model.AtGate(gate.Name()), model.Text(text))
	ctx, cancel := context.WithTimeoutCause(t.ctx, t.sdk.Deadlines().Turn, errors.New("the model is not called"))
	defer cancel()
	if err := gate.WaitReached(ctx); err != nil {
		if t.ctx.Err() != nil {
			panic(broken{context.Cause(t.ctx)})
		}
		if reply, over := a.Over(); over && reply.Err != nil {
			err = reply.Err
		}
		t.fail("%s: its turn does not reach the model: %v", name, err)
		panic(stop{})
	}
	return a, gate
}

// end waits for the end of the call, which is what the caller sees.
func (a *asked) end() harness.Reply {
	reply, err := a.AwaitWithin(a.t.ctx, a.t.patience())
	a.t.need(a.name, err)
	if reply.Err != nil {
		a.t.see(a.name, "fails ("+string(reply.Err.Class)+")")
		return reply
	}
	a.t.see(a.name, "succeeds")
	o, h := reply.Outcome(), a.t.sdk.Hello()
	if h.Gives("status") {
		a.t.see(a.name+": status", given(o.Status))
	}
	if h.Gives("reason") {
		reason, _ := wire.AsObject(o.Reason)
		a.t.see(a.name+": kind of the reason", given(reason["kind"]))
	}
	if h.Gives("kind") {
		a.t.see(a.name+": kind", given(o.Kind))
	}
	return reply
}

// succeeds wants the call to succeed.
func (a *asked) succeeds() harness.Reply {
	reply := a.end()
	if reply.Err != nil {
		a.t.fail("%s: %s", a.name, reply.Err.Error())
	}
	return reply
}

func (t *talk) patience() time.Duration { return t.sdk.Deadlines().Turn }

// settles reports whether the call brings the final response.
func (a *asked) settles() bool {
	h := a.t.sdk.Hello()
	return h.Settles && h.Gives("finalResponse")
}

func given(v jsontext.Value) string {
	if len(v) == 0 {
		return "(none)"
	}
	return protocol.Short(wire.Normal(v))
}

// says wants the call to succeed, with this text of the model.
func (a *asked) says(text string) { a.said(a.succeeds(), text) }

// said is says for a call that has ended.
func (a *asked) said(reply harness.Reply, text string) {
	if reply.Err != nil {
		return
	}
	o := reply.Outcome()
	if a.settles() {
		a.t.see(a.name+": final response", given(o.FinalResponse))
		if harness.Text(o.FinalResponse) != text {
			a.t.fail("%s: the final response is %s, where the model said %q", a.name, given(o.FinalResponse), protocol.Short(text))
		}
	}
	if a.t.sdk.Hello().Gives("status") && harness.Text(o.Status) != "ok" {
		a.t.fail("%s: the status is %s, where the turn completed", a.name, given(o.Status))
	}
}
