package snapshot

import (
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
)

// scenario is one standard situation. run begins behind the handshake and ends before
// the shutdown.
type scenario struct {
	name, title string
	needs       string // a capability
	run         func(*talk) error
}

// Named is a situation by its name, which is that of its file too.
type Named struct{ Name, Title string }

// Scenarios lists the situations in their order.
func Scenarios() []Named {
	var out []Named
	for _, s := range scenarios {
		out = append(out, Named{s.name, s.title})
	}
	return out
}

// texts in several scripts, cut by the stub inside each character.
const multibyte = "中文 — naïve 👩‍👩‍👧 𝄞 العربية e\u0301"

var scenarios = []scenario{
	{"handshake", "initialize, then shutdown", "", func(*talk) error { return nil }},
	{"one-turn", "one turn", "model", func(t *talk) error {
		return t.turn("one", "Say hello.", model.Text("Hello, "), model.Text("world."))
	}},
	{"two-turns", "two turns of one session", "model", func(t *talk) error {
		if err := t.turn("one", "First.", model.Text("One.")); err != nil {
			return err
		}
		return t.turn("one", "Second.", model.Text("Two."))
	}},
	{"multibyte", "a prompt and an answer in many scripts", "model", func(t *talk) error {
		return t.turn("one", multibyte, model.CutText(multibyte))
	}},
	{"failing-model", "a turn whose model fails, and the next one", "model", func(t *talk) error {
		if err := t.turn("one", "Fail.", model.Fail(400, "the model refuses")); err != nil {
			return err
		}
		return t.turn("one", "Go on.", model.Text("Fine."))
	}},
	{"token-limit", "a turn that is cut at the token limit", "model", func(t *talk) error {
		return t.turn("one", "Talk.", model.Text("and then"), model.Finish(model.FinishLength))
	}},
	{"overlap", "a second prompt while a turn runs", "model", overlap},
	{"subagent", "a turn that starts a child", "subagents", subagent},
	{"unknown-method", "a method that nobody has", "", func(t *talk) error {
		_, err := t.call("no/such/method", nil)
		return err
	}},
	{"shutdown-in-turn", "shutdown while a turn runs", "model", func(t *talk) error {
		_, _, err := t.held("one")
		return err
	}},
}

// overlap sends a second prompt while the model is held: refused at once, or queued.
func overlap(t *talk) error {
	first, gate, err := t.held("one")
	if err != nil {
		return err
	}
	second, err := t.prompt("one", "Second.", model.Text("Two."))
	if err != nil {
		return err
	}
	if _, err := second.Answer(t.ctx); err != nil {
		return err
	}
	gate.Open()
	if err := t.settle(first); err != nil || t.profile != protocol.Receipt {
		return err
	}
	return t.settle(second)
}

// subagent has a turn start a child. Gates force one order of what runs side by side:
// a child that its parent waits for ends first, one in the background last.
func subagent(t *talk) error {
	childGate, parentGate := t.gate("child"), t.gate("parent")
	child := model.Child("a small task", "Do it.", t.tag("child"), model.AtGate(childGate.Name()), model.Text("Done."))
	call, err := t.prompt("one", "Delegate.", model.Spawn(child), model.AtGate(parentGate.Name()), model.Text("It is done."))
	if err != nil {
		return err
	}
	background, err := t.awaitChild(childGate, parentGate)
	if err != nil {
		return err
	}
	if !background {
		childGate.Open()
		parentGate.Open()
		return t.settle(call)
	}
	parentGate.Open()
	if err := t.settle(call); err != nil {
		return err
	}
	mark := t.s.Mark()
	childGate.Open()
	return t.awaitWoken(mark, call)
}
