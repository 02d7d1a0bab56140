package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// shutdown: the end by the protocol. The harness judges every process that ends
// by it under S-SHD-01, and the monitor what comes before and behind its answer;
// the specs bring about the situations.
func shutdown(s *suite) {
	s.It("S-SHD-02", 1, func(t *T) {
		srv := t.shutdownInTurns()
		if srv.Exercised("S-SHD-02") == 0 { // a response that never came leaves no last one
			srv = t.Fresh()
			_, err := srv.Shutdown(t.Ctx)
			t.Conclude(err)
		}
		t.Exercised(srv, "S-SHD-02")
	})
	s.It("S-SHD-03", 1, twoShutdowns)
	s.It("S-SHD-04", 1, func(t *T) {
		if t.Profile.Settles() { // elsewhere a turn that runs has been answered long ago
			t.Exercised(t.shutdownInTurns(), "S-SHD-04")
		}
		srv := t.Fresh()
		prompt := harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(t.Session(), t.Script(model.Text("Too late?")).Prompt("Go.")))
		calls := t.Write(srv, string(prompt)+string(harness.Frame(srv.NewID(), protocol.MethodShutdown, nil)))
		_, _ = srv.AwaitShutdown(t.Ctx, calls[1]) // judged by the harness
		t.Exercised(srv, "S-SHD-04")
	})
	s.It("S-SHD-05", 1, func(t *T) { t.Exercised(t.shutdownInTurns(), "S-SHD-05") })
	s.It("S-SHD-06", 1, promptBehindShutdown)
	ends(s)
	s.It("S-SHD-11", 1, abortedTurn)
	s.It("S-SHD-12", 2, behindShutdown)
	s.It("S-SHD-01", 2, manyShutdowns) // last: every process that was shut down before is a try of it
}

// shutdownInTurns shuts a process down that has a turn in flight, and a child
// where there are any.
func (t *T) shutdownInTurns() *harness.Server {
	srv := t.Fresh()
	t.Held(srv, t.Session(), []model.Step{model.Text("Said before the end.")}, nil)
	t.heldChild(srv)
	_, err := srv.Shutdown(t.Ctx)
	t.Conclude(err)
	return srv
}

// heldChild starts a turn whose child waits at a gate. Where the subject has no
// children it does nothing. A turn must have run before: its model call tells.
func (t *T) heldChild(srv *harness.Server) {
	if !t.hasChildren() {
		return
	}
	gate := t.Gate()
	child := model.Child("Wait", "Wait for me.", t.Tag(), model.Text("The child waits."), model.AtGate(gate.Name()))
	turn := t.Begin(srv, t.Session(), t.Script(model.Spawn(child), model.Text("The parent is done.")))
	t.AtGate(turn, gate)
}

// twoShutdowns: whether the exit code is at fault is only known where one
// shutdown alone gives 0.
func twoShutdowns(t *T) {
	srv := t.Fresh()
	calls := t.Write(srv, string(harness.Frame(srv.NewID(), protocol.MethodShutdown, nil))+string(harness.Frame(srv.NewID(), protocol.MethodShutdown, nil)))
	const expected = "two shutdowns in one write are both answered, and the process exits with code 0"
	var problems []string
	var frames []wire.Line
	for i, c := range calls {
		m, err := c.Answer(t.Ctx)
		t.Conclude(err)
		switch {
		case err != nil:
			c.Disown()
			problems, frames = append(problems, fmt.Sprintf("the %s gets no response", [...]string{"first", "second"}[i])), append(frames, c.Line)
		case m.Error != nil:
			problems = append(problems, fmt.Sprintf("the %s is refused", [...]string{"first", "second"}[i]))
			frames = append(frames, c.Line, c.ResponseLine())
		}
	}
	e := srv.AwaitExit(t.Ctx)
	t.Conclude(t.Ctx.Err())
	switch {
	case !e.Exited:
		problems = append(problems, "the process does not exit")
	case !e.Exit.Success():
		problems = append(problems, "the process ends with "+e.Exit.String())
	}
	if len(problems) == 0 {
		return
	}
	t.Need("one shutdown alone", t.shutsDown())
	t.Fail(expected, strings.Join(problems, "; "), append(frames, calls[0].ResponseLine())...)
}

// shutsDown sees whether a fresh process ends by one shutdown as it should, so
// that a spec which met something else knows that its own situation is to blame.
func (t *T) shutsDown() error {
	_, err := t.Fresh().Shutdown(t.Ctx)
	return err
}

func promptBehindShutdown(t *T) {
	srv := t.Fresh()
	mark := srv.Mark()
	session, script := t.Session(), t.Script(model.Text("Nobody hears this."))
	calls := t.Write(srv, string(harness.Frame(srv.NewID(), protocol.MethodShutdown, nil))+
		string(harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(session, script.Prompt("Go.")))))
	_, err := srv.AwaitShutdown(t.Ctx, calls[0]) // judged by the harness
	t.Conclude(err)
	const expected = "a prompt behind a shutdown runs no turn"
	for _, e := range EventsOf(srv.Since(mark), session) {
		if e.Type == protocol.EventTurnStart {
			t.Fail(expected, "its turn starts", calls[0].Line, calls[1].Line, e.Line)
			return
		}
	}
	t.Expect(len(t.run.stub.CallsByTag(script.Tag)) == 0, expected, "the model is called for it", calls[0].Line, calls[1].Line)
}

// abortedTurn records what a shutdown does to a turn in flight and to messages
// behind it.
func abortedTurn(t *T) {
	srv := t.Fresh()
	turn, _ := t.Held(srv, t.Session(), []model.Step{model.Text("Said before the end.")}, nil)
	queued := []model.Script{t.Script(model.Text("Second.")), t.Script(model.Text("Third."))}
	for _, script := range queued {
		_, err := t.Begin(srv, turn.Session, script).Answer(t.Ctx)
		t.Need("a message is queued", err)
	}
	c := t.Send(srv, protocol.MethodShutdown, nil)
	_, err := srv.AwaitShutdown(t.Ctx, c)
	t.Conclude(err)

	end, idle, starts, ran, behind := "no turn/end", "no idle", 0, "never ran", "nothing"
	answered := c.ResponseLine()
	for _, e := range srv.Since(harness.Mark(c.Line.Seq)) {
		if e.Dir != wire.ServerToClient {
			continue
		}
		ev, _ := eventOf(e, turn.Session)
		switch {
		case ev.Type == protocol.EventTurnEnd && starts == 0:
			reason, _ := ev.Data.Object("reason")
			kind, _ := reason.String("kind")
			end = "turn/end of kind " + kind
		case ev.Type == protocol.EventTurnStart:
			starts++
			ran = "ran"
		case e.Message.Method == protocol.NotificationStatus:
			idle = "idle"
		}
		if answered.Size > 0 && e.Seq > answered.Seq && behind == "nothing" {
			behind = "more"
		}
	}
	for _, script := range queued {
		if len(t.run.stub.CallsByTag(script.Tag)) > 0 {
			ran = "ran"
		}
	}
	t.Observe("a turn that shutdown aborts", "%s, %s", end, idle)
	t.Observe("messages queued behind it", "%s", ran)
	t.Observe("behind the response to shutdown", "%s", behind)
}

// behindShutdown records what comes too late: in the same write, and when the
// shutdown was answered.
func behindShutdown(t *T) {
	srv := t.Fresh()
	var all strings.Builder
	all.Write(harness.Frame(srv.NewID(), protocol.MethodShutdown, nil))
	late := []string{UnknownMethod, protocol.MethodInitialize, protocol.MethodPrompt}
	for _, method := range late {
		var params any
		switch method {
		case protocol.MethodInitialize:
			params = t.run.launch.InitializeParams()
		case protocol.MethodPrompt:
			params = Prompt(t.Session(), t.Script(model.Text("Too late.")).Prompt("Go."))
		}
		all.Write(harness.Frame(srv.NewID(), method, params))
	}
	calls := t.Write(srv, all.String())
	_, err := srv.AwaitShutdown(t.Ctx, calls[0])
	t.Conclude(err)
	for i, method := range late {
		t.Observe(method+" behind a shutdown in the same write", "%s", outcomeOf(calls[i+1]))
	}

	srv = t.Fresh()
	first := t.Send(srv, protocol.MethodShutdown, nil)
	if _, err := first.Answer(t.Ctx); err != nil {
		first.Disown()
		t.NotReached("the first shutdown is answered", err)
	}
	second, err := srv.Send(t.Ctx, protocol.MethodShutdown, nil)
	t.Conclude(err)
	e := srv.AwaitExit(t.Ctx)
	got := "no response" // also where the write came too late
	if err == nil {
		got = outcomeOf(second)
	}
	t.Observe("a second shutdown once the first was answered", "%s; %s", got, exitOf(e))
}

// outcomeOf tells what a call got, in words that do not vary between runs.
func outcomeOf(c *harness.Call) string {
	m, answered := c.Now()
	switch {
	case !answered:
		return "no response"
	case m.Error != nil:
		e, _ := wire.AsObject(m.Error)
		return "error " + string(e["code"])
	}
	return "a result"
}

// exitOf tells how a process ended.
func exitOf(e harness.Ending) string {
	if !e.Exited {
		return "the process stays"
	}
	return e.Exit.String()
}

// Tries of S-SHD-01: how many processes have to end by shutdown in a run, and how
// many where each of them takes long to start.
const (
	manyTries = 10
	fewTries  = 5
	slowStart = 400 * time.Millisecond
)

// manyShutdowns adds to the processes that the run has shut down so far. What is
// written just before is what an exit that races its answer loses first.
func manyShutdowns(t *T) {
	for i := 0; ; i++ {
		tries, enough := t.run.shutdowns(), manyTries
		if tries >= enough {
			break
		}
		srv := t.Fresh()
		if t.run.startup > slowStart {
			enough = fewTries
		}
		var before strings.Builder
		switch i % 3 {
		case 1:
			for range 20 {
				before.Write(t.sure(srv))
			}
		case 2:
			t.Barrier(srv)
		}
		calls := t.Write(srv, before.String()+string(harness.Frame(srv.NewID(), protocol.MethodShutdown, nil)))
		_, err := srv.AwaitShutdown(t.Ctx, calls[len(calls)-1])
		t.Conclude(err)
		if err != nil || tries+1 >= enough {
			break
		}
	}
	if t.run.shutdowns() == 0 {
		t.NotReached("a process ends by shutdown", fmt.Errorf("none was answered with a result"))
	}
}

// shutdowns is how many processes of the run have answered a shutdown.
func (r *runner) shutdowns() int {
	r.mu.Lock()
	all := append([]*harness.Server(nil), r.all...)
	r.mu.Unlock()
	n := 0
	for _, s := range all {
		n += min(1, s.Exercised("S-SHD-01"))
	}
	return n
}
