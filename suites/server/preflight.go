package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/suites/spec"
)

// preflight starts the first process, which becomes the shared one. It decides
// whether the subject can be run at all, measures it, and finds out what serves
// as its barrier and whether it speaks the profile.
func (r *runner) preflight(ctx context.Context) error {
	s, err := r.start(ctx)
	if s == nil {
		return r.notRun(ctx, err)
	}
	answered := s.Startup() > 0
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !answered:
		err := r.explain(ctx, s, err)
		s.Stop(ctx)
		return r.notRun(ctx, err)
	case err != nil:
		s.Spoil("initialize was refused")
	}
	r.startup = s.Startup()
	r.launch.Deadlines = r.launch.Deadlines.Measured(r.startup)
	s.Measured(r.startup)
	r.mu.Lock()
	r.shared = s
	r.mu.Unlock()
	r.remember(s)
	if err == nil {
		r.calibrate(ctx, s)
		r.firstPrompt(ctx, s)
	}
	return context.Cause(ctx)
}

func (r *runner) notRun(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &spec.NotRunError{Err: err}
}

// explain turns the error of the first handshake into one line that names the
// command and shows what the subject said.
func (r *runner) explain(ctx context.Context, s *harness.Server, err error) error {
	var died *harness.DiedError
	argv := r.launch.Command.Argv
	if errors.As(err, &died) {
		if e := s.AwaitExit(ctx); e.Exited {
			return fmt.Errorf("%s: the process ended (%s) before it answered initialize%s", argv[0], e.Exit, tail(e.Stderr))
		}
	}
	return fmt.Errorf("%s: %w%s", argv[0], err, tail(s.Process().Stderr()))
}

// mostTail bounds what is shown of stderr, in bytes.
const mostTail = 2000

// tail quotes the end of stderr, "" where there was nothing.
func tail(e process.StderrInfo) string {
	text := e.Tail[max(0, len(e.Tail)-mostTail):]
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf("; the end of its stderr:\n%s", text)
}

// remember keeps what the result of initialize says of the subject.
func (r *runner) remember(s *harness.Server) {
	for _, e := range s.Since(0) {
		if e.Answered != nil && e.Answered.Method == protocol.MethodInitialize {
			result, _ := wire.AsObject(e.Message.Result)
			info, _ := result.Object("serverInfo")
			r.version, _ = info.String("version")
		}
	}
}

// calibrate finds the request that serves as the barrier: the first of those
// that a sound server answers at once which this one answers. A subject that
// breaks the requirement on unknown methods is still judged on the others.
func (r *runner) calibrate(ctx context.Context, s *harness.Server) {
	for i := range harness.Barriers {
		s.UseBarrier(i)
		r.barrier = i
		if err := s.Barrier(ctx); err == nil || ctx.Err() != nil {
			return
		}
		if !s.Fit() {
			break
		}
	}
	r.barrier = 0
	s.Spoil("no barrier was answered")
}

// firstPrompt sees whether the answer to a prompt has the shape of the profile, and,
// where it is owed behind the turn, whether it comes while the model is still held.
func (r *runner) firstPrompt(ctx context.Context, s *harness.Server) {
	if r.lacks("model") {
		return
	}
	t := r.newT(r.Outside(ctx, "preflight"))
	gate := t.Gate()
	if !r.cfg.Profile.Settles() {
		gate.Open()
	}
	early, told := false, r.blame.probe()
	defer func() {
		for _, f := range told(early) {
			r.violated(f.s, f.v)
		}
	}()
	c, err := s.Send(ctx, protocol.MethodPrompt, Prompt(t.Session(), t.Script(model.AtGate(gate.Name()), model.Text("Hello.")).Prompt("Hello.")))
	if err != nil {
		return
	}
	if r.cfg.Profile.Settles() {
		early = t.answeredEarly(s, c, gate)
		gate.Open()
	}
	m, err := c.Settle(ctx)
	if err != nil {
		c.Disown()
		s.Spoil("the first prompt was not answered")
		if len(r.stub.Calls()) == 0 {
			r.noModel = "the first prompt was neither answered nor did it call the model endpoint" + readsAnother
		}
		return
	}
	r.first = firstAnswer{m, early}
	r.modelReached(t, s)
	if p, _, err := r.first.profile(); err == nil && p != r.cfg.Profile && (early || !protocol.HasShapeOf(m, r.cfg.Profile)) {
		r.profileNote = fmt.Sprintf("the first prompt was answered in the form of the %s profile, not of %s", p, r.cfg.Profile)
		r.spoken = p
	}
	s.Forget()
}

// readsAnother is the usual reason of a model that is never called.
const readsAnother = ": where the server finds its endpoint in other variables than DEEPSEEK_BASE_URL and DEEPSEEK_API_KEY, --env or a target file sets them"

// modelReached sees whether the subject calls the model at all. Where it does not, what
// needs a turn is not judged, and nobody waits for it.
func (r *runner) modelReached(t *T, s *harness.Server) {
	if len(r.stub.Calls()) > 0 {
		return
	}
	second := t.Begin(s, t.Session(), t.Script(model.Text("Hello.")))
	settled, err := second.TrySettle()
	switch {
	case len(r.stub.Calls()) > 0 || t.Ctx.Err() != nil:
	case err != nil && settled.Response.Error == nil:
		r.noModel = "two prompts did not call the model endpoint" + readsAnother
	default:
		r.noModel = fmt.Sprintf("two prompts were answered without a call of the model endpoint (%s)%s", answerOf(settled.Response), readsAnother)
	}
}

// answeredEarly reports whether a prompt succeeds while its turn is held at the
// gate.
func (t *T) answeredEarly(s *harness.Server, c *harness.Call, gate *model.Gate) bool {
	held, cancel := t.within(s.Deadlines().Turn)
	defer cancel()
	if t.reached(held, c, gate) != nil || s.Barrier(t.Ctx) != nil {
		return false
	}
	m, answered := c.Now()
	return answered && m.Error == nil
}

// evidence is what was seen of capabilities that a target may declare lacking.
type evidence struct{ subagents, chunks atomic.Bool }

func (e *evidence) look(raw []byte) {
	if !e.subagents.Load() && bytes.Contains(raw, []byte(`"method":"subagent.started"`)) {
		e.subagents.Store(true)
	}
	if !e.chunks.Load() && bytes.Contains(raw, []byte(`"type":"assistant/chunk"`)) {
		e.chunks.Store(true)
	}
}

// stale says how the subject was seen to have what its target says it lacks.
func (r *runner) stale(capability string) string {
	switch {
	case capability == "subagents" && r.seen.subagents.Load():
		return "it sent subagent.started"
	case capability == "chunks" && r.seen.chunks.Load():
		return "it sent assistant/chunk events"
	}
	return ""
}
