package server

import (
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// alongside sends something while a turn runs, held at a gate, and judges that the
// turn ends as if nothing had come in between. What is sent reports whether the
// subject still serves. Where there are no turns nothing is sent.
func (t *T) alongside(what string, send func(srv *harness.Server, running *Turn) bool) {
	if t.WithoutModel() {
		return
	}
	srv := t.Shared()
	turn, gate := t.Held(srv, t.Session(), nil, []model.Step{model.Text("Fine.")})
	t.Barrier(srv) // that requests are served meanwhile is not what this is about
	served := send(srv, turn)
	gate.Open()
	if served {
		t.undisturbed(turn, what+" leaves a running turn alone")
	}
}

// notified sends a notification while a turn runs.
func (t *T) notified(method string, params any) {
	t.alongside("a notification of "+method, func(srv *harness.Server, _ *Turn) bool {
		t.Write(srv, string(harness.Frame(wire.ID{}, method, params)))
		return t.Served(srv, "the next request is answered behind a notification while a turn runs")
	})
}

// promptedAlongside sends a session/prompt without an id for a session whose turn
// runs. Where prompts queue, one that was taken is served before the session gets
// idle, which is what the running turn is waited for by.
func (t *T) promptedAlongside() {
	script := t.Script(model.Text("Nobody asked."))
	t.alongside("a notification of "+protocol.MethodPrompt, func(srv *harness.Server, running *Turn) bool {
		t.Write(srv, string(harness.Frame(wire.ID{}, protocol.MethodPrompt, Prompt(running.Session, script.Prompt("Go.")))))
		return t.Served(srv, "the next request is answered behind a session/prompt notification while a turn runs")
	})
	t.uncalled(script)
}
