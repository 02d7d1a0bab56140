package server

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// noLuck fails a turn at once: no server retries a 400.
func noLuck() model.Step { return model.Fail(400, "the model has no luck today") }

// atLimit ends an answer at the token limit.
func atLimit() []model.Step {
	return []model.Step{model.Text("As far as it goes"), model.Finish(model.FinishLength)}
}

// everyEnd runs turns to each of their ends on one session, three of them completed.
func (t *T) everyEnd(s *harness.Server, session string) {
	t.Run(s, session, model.Text("First."))
	t.ran(t.Begin(s, session, t.Script(noLuck())))
	t.Run(s, session, model.Text("Second "), model.Text("and a half."))
	if !t.run.lacks("token-limit") {
		t.ran(t.Begin(s, session, t.Script(atLimit()...)))
	}
	t.Run(s, session, model.Events(100, 3))
}

// ran waits for a turn that may end in an error response.
func (t *T) ran(turn *Turn) Settled {
	settled, err := turn.TrySettle()
	if !isRefused(err) {
		t.Need("a turn settles", err)
	}
	return settled
}

// turns: what comes of a prompt, when, and what the model is told.
func turns(s *suite) {
	outcomes(s)
	s.It("S-TRN-07", shared, unansweredWhileHeld)
	s.It("S-TRN-08", shared, func(t *T) {
		srv := t.Shared()
		t.everyEnd(srv, t.Session())
		t.Exercised(srv, "S-TRN-08")
	})
	s.It("S-TRN-09", shared, func(t *T) {
		// The next turn on the session shows for certain which notifications never came.
		srv := t.Shared()
		t.everyEnd(srv, t.Session())
		t.Exercised(srv, "S-TRN-09")
	})
	s.It("S-TRN-10", shared, receiptWhileHeld)
	each(s, "S-TRN-11", shared, verbatimPrompts, func(t *T, prompts [][]string) {
		for _, texts := range prompts {
			if !verbatim(t, texts) {
				return
			}
		}
	})
	s.It("S-TRN-13", shared, func(t *T) {
		srv := t.Shared()
		session := t.Session()
		names := map[string]bool{}
		for _, steps := range [][]model.Step{{model.Text("Fine.")}, {noLuck()}, {model.Text("Fine again.")}} {
			settled := t.ran(t.Begin(srv, session, t.Script(steps...)))
			result, _ := wire.AsObject(settled.Response.Result)
			for name := range result {
				names[name] = true
			}
		}
		srv.Inspect(func(m *protocol.Monitor) {
			for name := range m.Extras() {
				if member, ok := strings.CutPrefix(name, "session/prompt result."); ok {
					names[member] = true
				}
			}
		})
		delete(names, "status")
		delete(names, "reason")
		t.Observe("members of the result beyond status and reason", "%s", list(names))
	})
	each(s, "S-TRN-14", shared, []named[[]model.Step]{
		{"ok", []model.Step{model.Text(".")}}, {"error", []model.Step{noLuck()}}, {"max-tokens", atLimit()},
	}, takesTheNext)
	s.It("S-TRN-15", shared, history)
	each(s, "S-TRN-16", shared, []named[ending]{
		{"completed", ending{[]model.Step{model.Text("Fine.")}, protocol.KindCompleted}},
		{"failed", ending{[]model.Step{noLuck()}, protocol.KindError}},
		{"cut", ending{atLimit(), protocol.KindMaxTokens}},
	}, func(t *T, e ending) {
		srv := t.Shared()
		settled := t.ran(t.Begin(srv, t.Session(), t.Script(e.steps...)))
		end, ok := settled.End()
		if !ok {
			t.NotReached("a turn/end comes", fmt.Errorf("there is none"))
		}
		t.Expect(settled.Kind == e.kind, "the turn/end is of kind "+e.kind, "it is of kind "+orNothing(settled.Kind), end.Line)
	})
	s.It("S-TRN-17", shared, func(t *T) {
		srv := t.Shared()
		t.everyEnd(srv, t.Session())
		t.Exercised(srv, "S-TRN-17")
	})
}

type ending struct {
	steps []model.Step
	kind  string
}

// unansweredWhileHeld holds a turn that has already said something.
func unansweredWhileHeld(t *T) {
	srv := t.Shared()
	turn, gate := t.Held(srv, t.Session(), []model.Step{model.Text("So far ")}, []model.Step{model.Text("so good.")})
	t.Barrier(srv)
	if m, early := turn.Now(); early && m.Error != nil {
		t.NotReached("the prompt's turn runs", &harness.RefusedError{Method: protocol.MethodPrompt, Error_: string(m.Error)})
	} else if early {
		t.Fail("there is no response while the model is held", "the prompt was answered: "+protocol.Short(string(m.Result)), turn.Line, turn.ResponseLine())
	}
	gate.Open()
	turn.Settle()
}

// receiptWhileHeld wants the receipt before the gate opens, and its id among the
// messages that are spliced in.
func receiptWhileHeld(t *T) {
	srv := t.Shared()
	session := t.Session()
	turn, gate := t.Held(srv, session, nil, []model.Step{model.Text("Fine.")})
	m, ok := t.Answered(turn.Call, "the receipt comes before the turn settles, while the model is held")
	gate.Open()
	if !ok {
		return
	}
	if m.Error != nil {
		t.NotReached("a prompt is accepted", &harness.RefusedError{Method: protocol.MethodPrompt, Error_: string(m.Error)})
	}
	settled := turn.Settle()
	result, _ := wire.AsObject(m.Result)
	id, _ := result.String("messageId")
	if id == "" {
		return // the monitor tells
	}
	seen, frames := false, []wire.Line{settled.Line}
	for _, e := range settled.Events {
		if e.Type == protocol.EventInboxSpliced {
			seen = seen || mentions(e.Data["inserted"], id)
			frames = append(frames, e.Line)
		}
	}
	t.Expect(seen, "the messageId is that of a message that agent/inbox/spliced inserts", "no splice of the session inserts a message with it", frames...)
	t.ran(t.BeginText(srv, t.LongSession(), t.Script(model.Text("Fine.")).Prompt("Go."))) // some servers refuse such an id
}

// LongSession gives a session id of more than 255 bytes.
func (t *T) LongSession() string { return t.Session() + strings.Repeat("-long", 60) }

// takesTheNext runs a turn to one of its ends and prompts again.
func takesTheNext(t *T, first []model.Step) {
	srv := t.Shared()
	session := t.Session()
	t.ran(t.Begin(srv, session, t.Script(first...)))
	t.answers(srv, session, "the next prompt on the session runs and is answered")
}

// answers judges that a prompt on the session runs a turn with an answer of its own.
func (t *T) answers(s *harness.Server, session, expected string) {
	const text = "An answer of its own."
	turn := t.Begin(s, session, t.Script(model.Text(text)))
	settled, err := turn.TrySettle()
	if t.Judge(err, expected, turn.Line, settled.Line) {
		t.Expect(strings.Join(settled.Said(), "") == text, expected, "its turn says "+orNothing(protocol.Short(strings.Join(settled.Said(), ""))), turn.Line, settled.Line)
	}
}
