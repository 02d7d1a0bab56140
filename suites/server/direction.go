package server

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// direction: a server reads requests and writes responses and notifications.
func direction(s *suite) {
	s.It("S-DIR-01", shared, func(t *T) {
		// The monitor watches every frame of the run; this makes sure that there are
		// some of each kind.
		srv := t.Shared()
		t.Run(srv, t.Session(), model.Text("An ordinary turn."))
		t.Barrier(srv)
		t.Exercised(srv, "S-DIR-01")
	})

	s.It("S-DIR-02/unknown", shared, func(t *T) {
		srv := t.Shared()
		t.Write(srv, string(harness.Frame(wire.ID{}, "no/such/notification", map[string]any{"x": 1})))
		if t.Served(srv, "the next request is answered behind a notification") {
			t.notified("no/such/notification", map[string]any{"x": 1})
		}
	})
	s.It("S-DIR-02/initialize", shared, initializeNotification)
	s.It("S-DIR-02/prompt", shared, promptNotification)
	s.It("S-DIR-02/shutdown", shared, func(t *T) {
		srv := t.Shared()
		t.Write(srv, string(harness.Frame(wire.ID{}, protocol.MethodShutdown, nil)))
		if t.Served(srv, "the process serves on after a shutdown notification") && t.Works(srv, "turns run after a shutdown notification") {
			t.notified(protocol.MethodShutdown, nil)
		}
	})

	response := `{"jsonrpc":"2.0","id":%s,"result":{"status":"ok"}}` + "\n"
	failure := `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"stray"}}` + "\n"
	s.It("S-DIR-03/unknown-id", shared, func(t *T) {
		strayUnknown(t, response, `"nobody"`, "response")
		// It is the missing method that makes a response, whatever else is missing.
		const bare = `{"jsonrpc":"2.0","id":%s}` + "\n"
		strayUnknown(t, bare, `"nobody-either"`, "response without a result")
		strayUnknown(t, bare, `70007`, "response without a result")
	})
	s.It("S-DIR-03/id-in-flight", shared, func(t *T) { strayInFlight(t, response, "response") })
	s.It("S-DIR-04/unknown-id", shared, func(t *T) { strayUnknown(t, failure, `"nobody"`, "error") })
	s.It("S-DIR-04/id-in-flight", shared, func(t *T) { strayInFlight(t, failure, "error") })
	s.It("S-DIR-04/id-null", shared, func(t *T) { strayUnknown(t, failure, `null`, "error") })
}

// initializeNotification names another model, which must not take effect.
func initializeNotification(t *T) {
	srv := t.Shared()
	params := t.run.launch.InitializeParams()
	params["model"] = t.run.launch.Model + "-by-notification"
	t.Write(srv, string(harness.Frame(wire.ID{}, protocol.MethodInitialize, params)))
	if !t.Served(srv, "the next request is answered behind an initialize notification") {
		return
	}
	if t.WithoutModel() {
		return
	}
	script := t.Script(model.Text("Which model?"))
	t.Begin(srv, t.Session(), script).Settle()
	for _, c := range t.run.stub.CallsByTag(script.Tag) {
		if !t.Expect(c.Model == t.run.launch.Model, "turns run on the model that the initialize request named: "+t.run.launch.Model, "a turn runs on "+c.Model) {
			return
		}
	}
	t.notified(protocol.MethodInitialize, params)
}

// promptNotification must run no turn. Servers create sessions asynchronously, so
// that a barrier alone proves nothing: a whole turn on another session does.
func promptNotification(t *T) {
	srv := t.Shared()
	session, script := t.Session(), t.Script(model.Text("Nobody asked."))
	mark := srv.Mark()
	t.Write(srv, string(harness.Frame(wire.ID{}, protocol.MethodPrompt, Prompt(session, script.Prompt("Go.")))))
	if !t.Served(srv, "the next request is answered behind a session/prompt notification") {
		return
	}
	if !t.WithoutModel() {
		t.Run(srv, t.Session(), model.Text("An ordinary turn."))
	}
	for _, e := range EventsOf(srv.Since(mark), session) {
		t.Fail("a session/prompt notification has no effect", "an event of its session: "+e.Type, e.Line)
		return
	}
	if t.uncalled(script, Sent(srv.Since(mark))...) {
		t.promptedAlongside()
	}
}

// uncalled judges that the model was not called for the prompt of a notification.
func (t *T) uncalled(script model.Script, frames ...wire.Line) bool {
	calls := t.run.stub.CallsByTag(script.Tag)
	return t.Expect(len(calls) == 0, "a session/prompt notification never reaches the model", fmt.Sprintf("%d model calls", len(calls)), frames...)
}

func strayUnknown(t *T, frame, id, what string) {
	srv := t.Shared()
	t.Write(srv, fmt.Sprintf(frame, id))
	t.Served(srv, "the next request is answered behind a stray "+what)
}

// strayInFlight sends a frame that carries the id of a prompt whose turn runs.
// Where prompts are answered at once it goes in one write with another prompt
// besides, so that there is one that is not answered yet.
func strayInFlight(t *T, frame, what string) {
	srv := t.Shared()
	expected := "a stray " + what + " that carries the id of a prompt in flight leaves it alone"
	if t.WithoutModel() {
		id := srv.NewID()
		calls := t.Write(srv, string(harness.Frame(id, "no/such/method", nil))+fmt.Sprintf(frame, id.Token()))
		t.Answered(calls[0], expected)
		return
	}
	if !t.Profile.Settles() {
		id, session := srv.NewID(), t.Session()
		mark := srv.Mark()
		prompt := harness.Frame(id, protocol.MethodPrompt, Prompt(session, t.Script(model.Text("Fine.")).Prompt("Go.")))
		calls := t.Write(srv, string(prompt)+fmt.Sprintf(frame, id.Token()))
		t.undisturbed(&Turn{calls[0], session, t, srv, mark}, expected)
	}
	turn, gate := t.Held(srv, t.Session(), nil, []model.Step{model.Text("Fine.")})
	t.Write(srv, fmt.Sprintf(frame, turn.ID.Token()))
	served := t.Served(srv, "the next request is answered behind a stray "+what)
	if m, early := turn.Now(); early && t.Profile.Settles() {
		t.Fail(expected, "the prompt was answered while its turn was held: "+protocol.Short(string(m.Result)+string(m.Error)), turn.ResponseLine())
	}
	gate.Open()
	if served {
		t.undisturbed(turn, expected)
	}
}

// undisturbed judges that a turn ends as if nothing had come in between.
func (t *T) undisturbed(turn *Turn, expected string) {
	settled, err := turn.TrySettle()
	if t.Judge(err, expected, turn.Line) {
		t.Expect(settled.Kind == protocol.KindCompleted, expected, "the turn ended with "+settled.Kind, settled.Line)
	}
}
