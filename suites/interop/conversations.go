package interop

import (
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
)

// conversation is one of those that every pair holds.
type conversation struct {
	name string
	// lacking says why the pair can't hold it, "" where it can.
	lacking func(*cell) string
	hold    func(*talk)
}

// conversations, the plainest first, which decides whether the others are begun, and
// the one that ends the server last.
var conversations = []conversation{
	{"a turn", anyPair, func(t *talk) { t.ask("the turn", t.session(), "Say hello.", model.Text("Hello.")).says("Hello.") }},
	{"multibyte", anyPair, func(t *talk) {
		const text = "运气 👩‍👩‍👧 שלום 𝒳 e\u0301 a\u2028b"
		t.ask("the turn", t.session(), "Say it: "+text, model.CutText(text)).says(text)
	}},
	{"two turns", anyPair, func(t *talk) {
		session := t.session()
		t.ask("the first turn", session, "One.", model.Text("One.")).says("One.")
		t.ask("the second turn", session, "Two.", model.Text("Two.")).says("Two.")
	}},
	{"two sessions at once", concurrent, func(t *talk) {
		first, gate := t.held("the held turn", t.session(), "Late.")
		t.ask("the other turn", t.session(), "Now.", model.Text("Now.")).says("Now.")
		gate.Open()
		first.says("Late.")
	}},
	{"an overlap", concurrent, overlap},
	{"a failing model", anyPair, failingModel},
	{"a subagent", subagents, delegation},
	{"shutdown in a turn", closable, shutdownInTurn},
}

// Conversations are the names of those that every pair holds.
func Conversations() (names []string) {
	for _, c := range conversations {
		names = append(names, c.name)
	}
	return names
}

func anyPair(*cell) string { return "" }

func concurrent(c *cell) string {
	if !c.sdk.Hello().Concurrent {
		return "the driver makes one call at a time"
	}
	return ""
}

func closable(c *cell) string {
	if !c.sdk.Hello().Offers(harness.CallClose) {
		return "the driver offers no close"
	}
	return concurrent(c)
}

func subagents(c *cell) string {
	if reason, lacks := c.server.Target.LacksCapability("subagents"); lacks {
		return "the server has no subagents: " + reason
	}
	return ""
}

// delegated is what the parent says of its child. The default reply of the model is the
// same: where children run in the background the parent wakes when one has settled, which
// may be in the interval of the prompt, and says what the model says by default.
const delegated = "It is done."

func delegation(t *talk) {
	child := model.Child("a child", "Do it.", "child", model.Text("done"))
	a := t.ask("the turn", t.session(), "Delegate.", model.Spawn(child), model.Text(delegated))
	reply := a.succeeds()
	if t.Verdict == reports.TalkWorks && model.WithoutSubagents(t.stub.Calls()) {
		t.Verdict, t.Why = reports.TalkNotOffered, "the server offers its model no tool `subagent`"
		return
	}
	a.said(reply, delegated)
}

// overlap prompts on a session whose turn is held. It is refused at once, or, in
// receipt, served behind the turn.
func overlap(t *talk) {
	session := t.session()
	first, gate := t.held("the held turn", session, "First.")
	second := t.ask("the overlapping prompt", session, "Second.", model.Text("Second."))
	if t.profile == protocol.Receipt {
		gate.Open()
		// One idle may end both: then the first call has what both turns have said.
		first.succeeds()
		second.says("Second.")
		return
	}
	if reply := second.end(); reply.Err == nil {
		t.fail("the overlapping prompt succeeds, where the running turn has to be left alone")
	}
	gate.Open()
	first.says("First.")
}

// failingModel has the endpoint refuse. The turn ends with an error, of which the
// profile and the SDK say more or less.
func failingModel(t *talk) {
	session := t.session()
	a := t.ask("the failing turn", session, "Try.", model.Fail(400, "out of 运气"))
	reply := a.end()
	if reply.Err == nil && t.sdk.Hello().Gives("status") && harness.Text(reply.Outcome().Status) == "ok" {
		t.fail("the failing turn: the status is ok, where the model refused")
	}
	if reply.Err != nil && !slices.Contains([]harness.Class{harness.ClassRemote, harness.ClassOther}, reply.Err.Class) {
		t.fail("the failing turn: %s", reply.Err.Error())
	}
	t.ask("the turn behind it", session, "Again.", model.Text("Again.")).says("Again.")
}

// shutdownInTurn closes the client while its turn is held. Both calls have to come to
// an end; which one is for the profile to say.
func shutdownInTurn(t *talk) {
	a, _ := t.held("the held turn", t.session(), "Never.")
	call, err := t.c.GoClose(t.ctx)
	t.need("close", err)
	reply, err := t.visit.Own(call).Await(t.ctx)
	t.need("close", err)
	if reply.Err != nil {
		t.see("close", "fails ("+string(reply.Err.Class)+")")
		t.fail("close: %s", reply.Err.Error())
	} else {
		t.see("close", "succeeds")
	}
	a.end()
}
