package server

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// overlapping is a prompt that was sent while a turn of its session is held.
type overlapping struct {
	first, second *Turn
	gate          *model.Gate
	script        model.Script // of the second
	answer        wire.Message // to the second, while the first is held
	atOnce        bool         // there is one
}

// overlap holds a turn and sends a second prompt to its session. The answer of the
// second is waited for while the first is held.
func (t *T) overlap(s *harness.Server, session string, behind ...model.Step) overlapping {
	var o overlapping
	o.first, o.gate = t.Held(s, session, []model.Step{model.Text("Before the gate, ")}, behind)
	t.Barrier(s) // so the turn's start was read, and the monitor knows the second for an overlap
	o.script = t.Script(model.Text("The second prompt's answer."))
	o.second = t.Begin(s, session, o.script)
	o.answer, o.atOnce = t.atOnce(o.second.Call)
	return o
}

// atOnce gives the answer of a call that needs no turn to end. A subject that was
// found to keep such calls waiting is not waited for twice.
func (t *T) atOnce(c *harness.Call) (wire.Message, bool) {
	if t.run.refusesLate.Load() {
		t.Barrier(c.Server())
		return c.Now()
	}
	m, err := c.Answer(t.Ctx)
	if err != nil {
		t.Conclude(err)
		if !c.Server().Fit() {
			t.NotReached("the process serves an overlapping prompt", err)
		}
		t.run.refusesLate.Store(true)
	}
	return m, err == nil
}

// refused ends the spec unless the second prompt was refused at once: that is the
// matter of other rows.
func (o overlapping) refused(t *T) {
	if o.atOnce && o.answer.Error != nil {
		return
	}
	o.gate.Open()
	what := "there is no answer"
	if m, err := o.second.Call.Settle(t.Ctx); err == nil && m.Error == nil {
		what = "it was answered " + protocol.Short(string(m.Result))
	} else if err == nil {
		what = "it was refused when the turn had ended"
	} else {
		t.Conclude(err)
	}
	t.NotReached("an overlapping prompt is refused at once", fmt.Errorf("%s", what))
}

// overlaps: a second prompt on a session that is busy.
func overlaps(s *suite) {
	s.It("S-OVL-01", shared, func(t *T) {
		const expected = "a second prompt on a session with a running turn gets an error response"
		srv := t.Shared()
		o := t.overlap(srv, t.Session(), model.Text("behind it."))
		o.gate.Open()
		if !o.atOnce {
			m, err := o.second.Call.Settle(t.Ctx)
			t.Need("the second prompt is answered", err)
			o.answer = m
		}
		t.Expect(o.answer.Error != nil, expected, "a result: "+protocol.Short(string(o.answer.Result)), o.first.Line, o.second.Line, o.second.ResponseLine())
		if t.Failed() {
			return
		}
		t.ran(o.first)
		if t.hasChildren() {
			t.overlapBesideChild(srv, expected)
		}
	})
	s.It("S-OVL-02", shared, func(t *T) {
		srv := t.Shared()
		o := t.overlap(srv, t.Session(), model.Text("behind it."))
		o.gate.Open()
		switch {
		case o.atOnce && o.answer.Error == nil:
			o.refused(t)
		case !o.atOnce:
			m, err := o.second.Call.Settle(t.Ctx)
			t.Need("the second prompt is answered", err)
			if m.Error == nil {
				o.refused(t)
			}
			t.Fail("an overlapping prompt is refused while the running turn is held", "it is refused when that turn has ended", o.first.Line, o.second.Line, o.second.ResponseLine())
			return
		}
		t.ran(o.first)
	})
	s.It("S-OVL-03", shared, func(t *T) {
		const expected = "the running turn completes with all that it says, whatever became of an overlapping prompt"
		srv := t.Shared()
		o := t.overlap(srv, t.Session(), model.Text("behind it."))
		o.refused(t)
		o.gate.Open()
		settled, err := o.first.TrySettle()
		if !t.Judge(err, expected, o.first.Line, settled.Line) {
			return
		}
		end, ended := settled.End()
		if ended {
			t.Expect(!cutShort(settled.Kind), expected, "it ends with kind "+settled.Kind, o.second.ResponseLine(), end.Line)
		}
		said := strings.Join(settled.Said(), "")
		t.Expect(said == "Before the gate, behind it.", expected, "it says "+orNothing(protocol.Short(said)), o.second.ResponseLine(), end.Line)
	})
	s.It("S-OVL-04", shared, othersRun)
	each(s, "S-OVL-05", shared, []named[[]model.Step]{
		{"ok", []model.Step{model.Text("behind it.")}}, {"failed", []model.Step{noLuck()}},
	}, freeAfterwards)
	s.It("S-OVL-06", shared, oneOfFifty)
	s.It("S-OVL-07", shared, refusedWithoutTrace)
	s.It("S-OVL-08", shared, func(t *T) {
		srv := t.Shared()
		session := t.Session()
		o := t.overlap(srv, session, model.Text("behind it."))
		o.refused(t)
		o.gate.Open()
		e, _ := wire.AsObject(o.answer.Error)
		message, isString := e.String("message")
		if !isString {
			t.NotReached("the refusal has a message", fmt.Errorf("it has none"))
		}
		t.Expect(strings.Contains(message, session), "the message of the refusal names the session", "it is "+protocol.Short(strings.ReplaceAll(message, session, "…")), o.second.Line, o.second.ResponseLine())
		t.ran(o.first)
	})
	s.It("S-OVL-09", shared, queuedWithOwnID)
	s.It("S-OVL-10", shared, createdOnce)
	s.It("S-OVL-11", shared, queuedInOrder)
	s.It("S-OVL-12", shared, promptToChild)
}

// cutShort tells the kinds of turns that did not run to their end.
func cutShort(kind string) bool {
	return kind == protocol.KindAborted || kind == protocol.KindError || kind == "interrupted"
}

// overlapBesideChild holds the child of a turn in the place of the turn itself. Of a
// server whose turns do not wait for their children nothing is wanted.
func (t *T) overlapBesideChild(srv *harness.Server, expected string) {
	gate := t.Gate()
	f := t.family(srv, t.kid(model.AtGate(gate.Name()), model.Text("The child's answer.")))
	t.AtGate(f.Turn, gate)
	t.Barrier(srv)
	second := t.Begin(srv, f.Session, t.Script(model.Text("The second prompt's answer.")))
	m, atOnce := t.atOnce(second.Call)
	_, ended := f.Now()
	gate.Open()
	if !atOnce {
		var err error
		m, err = second.Call.Settle(t.Ctx)
		t.Need("the second prompt is answered", err)
	}
	if ended || t.Expect(m.Error != nil, expected+", also where it waits for a child", "a result: "+protocol.Short(string(m.Result)), f.Line, second.Line, second.ResponseLine()) {
		t.ran(f.Turn)
		f.finished(t)
	}
}

// othersRun holds one session and runs a turn on another.
func othersRun(t *T) {
	const expected = "a prompt on another session runs and settles while one session's turn is held"
	srv := t.Shared()
	first, gate := t.Held(srv, t.Session(), nil, []model.Step{model.Text("At last.")})
	other := t.Begin(srv, t.Session(), t.Script(model.Text("Meanwhile.")))
	settled, err := other.TrySettle()
	if isSilent(err) {
		t.run.oneTurn.Store(true)
	}
	gate.Open()
	if t.Judge(err, expected, first.Line, other.Line, settled.Line) {
		first.Settle()
	}
}

// freeAfterwards prompts again after a turn with a refused overlap. That the session
// takes the next prompt where nothing overlapped is S-TRN-14's.
func freeAfterwards(t *T, behind []model.Step) {
	srv := t.Shared()
	plain := t.Session()
	held := append([]model.Step{model.Text("Before the gate, ")}, behind...)
	t.ran(t.Begin(srv, plain, t.Script(held...)))
	if _, err := t.Begin(srv, plain, t.Script(model.Text("Fine."))).TrySettle(); err != nil {
		t.NotReached("the session takes the next prompt where none overlapped", err)
	}
	session := t.Session()
	o := t.overlap(srv, session, behind...)
	o.refused(t)
	o.gate.Open()
	t.ran(o.first)
	t.answers(srv, session, "the session is free again after a turn with a refused overlap")
}

// many is the number of prompts in one write.
const many = 50

// oneOfFifty sends prompts together to a session that exists: what becomes of one
// that does not is S-OVL-10's.
func oneOfFifty(t *T) {
	srv := t.Shared()
	o := t.overlap(srv, t.Session(), model.Text("behind it."))
	o.refused(t)
	o.gate.Open()
	if kind := t.ran(o.first).Kind; cutShort(kind) {
		t.NotReached("a turn runs on beside a refused prompt", fmt.Errorf("it ended with kind %s", kind)) // S-OVL-03's
	}
	session := t.Session()
	t.Run(srv, session, model.Text("A first turn."))
	defer t.CountAs("S-OVL-01")() // fewer may be in flight when the answers are out

	gate := t.Gate()
	var frames bytes.Buffer
	for range many {
		script := t.Script(model.AtGate(gate.Name()), model.Text("The one that runs."))
		frames.Write(harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(session, script.Prompt("Go."))))
	}
	mark := srv.Mark()
	calls := t.Write(srv, frames.String())
	answered := func(errors bool) (n int) {
		for _, c := range calls {
			if m, ok := c.Now(); ok && (m.Error != nil) == errors {
				n++
			}
		}
		return n
	}
	in := 0
	err := srv.Await(t.Ctx, "the refusals of all but one prompt", mark, srv.Deadlines().Call, func(fresh []harness.Entry) bool {
		for _, e := range fresh {
			if e.Answered != nil && e.Message.Error != nil && e.Answered.Method == protocol.MethodPrompt {
				in++
			}
		}
		return in >= many-1
	})
	if err != nil {
		t.Conclude(err)
	}
	t.Barrier(srv)
	early := answered(false)
	gate.Open()
	for _, c := range calls {
		if _, err := c.Settle(t.Ctx); err != nil {
			t.run.spoil(srv, t.ID)
			t.NotReached("each of the prompts is answered", err)
		}
	}
	ran, refused := answered(false), answered(true)
	t.Expect(ran == 1 && refused == many-1, fmt.Sprintf("of %d prompts in one write one runs and %d are refused", many, many-1), fmt.Sprintf("%d run and %d are refused, %d answered before the model's", ran, refused, early), calls[0].Line, calls[many-1].Line, calls[many-1].ResponseLine())
}

// refusedWithoutTrace looks for the text of a refused prompt.
func refusedWithoutTrace(t *T) {
	srv := t.Shared()
	session := t.Session()
	mark := srv.Mark()
	first, gate := t.Held(srv, session, []model.Step{model.Text("Before the gate, ")}, []model.Step{model.Text("behind it.")})
	t.Barrier(srv)
	script := t.Script(model.Text("The refused prompt's answer."))
	secret := "Never to be told " + script.Tag + "."
	second := t.BeginText(srv, session, script.Prompt(secret))
	o := overlapping{first: first, second: second, gate: gate}
	o.answer, o.atOnce = t.atOnce(second.Call)
	o.refused(t)
	gate.Open()
	t.ran(first)
	t.ran(t.Begin(srv, session, t.Script(model.Text("The next turn."))))
	for _, c := range t.run.stub.Calls() {
		for _, m := range c.Messages {
			if strings.Contains(strings.Join(m.Texts, "\n"), secret) {
				t.Fail("a refused prompt never reaches the model", "its text stands in a model call of the session", second.Line, second.ResponseLine())
				return
			}
		}
	}
	for _, e := range EventsOf(srv.Since(mark), "") {
		if bytes.Contains(e.Raw, []byte(secret)) {
			t.Fail("a refused prompt leaves no event", "its text stands in an event: "+e.Type, second.Line, second.ResponseLine(), e.Line)
			return
		}
	}
}

// createdOnce sends two first prompts to a new session. The monitor knows one
// session's events from those of two.
func createdOnce(t *T) {
	srv := t.Shared()
	if t.Profile.Settles() {
		o := t.overlap(srv, t.Session(), model.Text("behind it."))
		o.refused(t)
		o.gate.Open()
		t.ran(o.first)
	}
	session := t.Session()
	var frames bytes.Buffer
	for range 2 {
		frames.Write(harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(session, t.Script(model.Text("Fine.")).Prompt("Go."))))
	}
	mark := srv.Mark()
	for _, c := range t.Write(srv, frames.String()) {
		t.ran(&Turn{c, session, t, srv, mark})
	}
	t.Barrier(srv)
	t.Exercised(srv, "S-OVL-10")
}
