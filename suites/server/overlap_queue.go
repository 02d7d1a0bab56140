package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// queue holds a turn and sends n more prompts to its session. The turn ends well: behind
// one that fails, the public releases of the real server leave what waits to the next
// prompt, and nothing says that they must not.
func (t *T) queue(s *harness.Server, n int) (turns []*Turn, scripts []model.Script, gate *model.Gate) {
	session := t.Session()
	first, gate := t.Held(s, session, nil, []model.Step{model.Text("At last.")})
	turns, scripts = []*Turn{first}, []model.Script{{}}
	for i := range n {
		script := t.Script(model.Text(fmt.Sprintf("The answer to the queued prompt %d.", i+1)))
		turns, scripts = append(turns, t.Begin(s, session, script)), append(scripts, script)
	}
	return turns, scripts, gate
}

// queuedWithOwnID wants a result for an overlapping prompt, whenever it comes, with
// an id that is not the running one's.
func queuedWithOwnID(t *T) {
	srv := t.Shared()
	turns, scripts, gate := t.queue(srv, 1)
	first, queued := turns[0], turns[1]
	m, atOnce := t.atOnce(queued.Call)
	gate.Open()
	if !atOnce {
		var err error
		m, err = queued.Call.Settle(t.Ctx)
		t.Need("the queued prompt is answered", err)
	}
	if !t.Expect(m.Error == nil, "an overlapping prompt is queued", "it is refused", first.Line, queued.Line, queued.ResponseLine()) {
		return
	}
	t.Need("the first prompt is answered", first.answer(t.Ctx))
	id := func(u *Turn) string {
		m, _ := u.Now()
		result, _ := wire.AsObject(m.Result)
		id, _ := result.String("messageId")
		return id
	}
	if id(first) != "" && id(first) == id(queued) {
		t.Fail("a queued prompt has a messageId of its own", "it has that of the prompt before it", first.ResponseLine(), queued.ResponseLine())
		return
	}
	if t.Judge(t.reachesModel(srv, scripts[1]), "the turn of a queued prompt runs", queued.Line) {
		t.ran(queued)
	}
}

// reachesModel waits until the model is called with the text of a script, be it with
// that of others in one turn. An idle tells of a queued turn only where S-ORD-10 holds.
func (t *T) reachesModel(s *harness.Server, script model.Script) error {
	ctx, cancel := t.within(s.Deadlines().Turn)
	defer cancel()
	if _, err := t.run.stub.WaitCalls(ctx, 1, func(c model.Call) bool { return textAt(c, script) >= 0 }); err != nil {
		t.Conclude(context.Cause(t.Ctx))
		return fmt.Errorf("the model is not called with its text within %s", s.Deadlines().Turn)
	}
	return nil
}

// textAt is where in the user's texts of a model call the script of a prompt stands, -1
// where it does not.
func textAt(c model.Call, script model.Script) int {
	return strings.Index(strings.Join(c.UserTexts(), "\n"), script.Marker())
}

func (u *Turn) answer(ctx context.Context) error {
	_, err := u.Call.Settle(ctx)
	return err
}

// queuedInOrder wants the receipts while the first turn is held, and the texts at
// the model in the order of sending.
func queuedInOrder(t *T) {
	srv := t.Shared()
	turns, scripts, gate := t.queue(srv, 3)
	if _, ok := turns[0].Now(); !ok {
		if _, ok := t.atOnce(turns[0].Call); !ok {
			t.NotReached("the receipt of the running turn comes while it runs", fmt.Errorf("there is none")) // S-TRN-10's
		}
	}
	for _, u := range turns[1:] {
		m, ok := t.atOnce(u.Call)
		if !t.Expect(ok, "the receipt of a queued prompt comes while the turn before it is held", "there is none", turns[0].Line, u.Line) {
			gate.Open()
			return
		}
		if m.Error != nil {
			t.NotReached("an overlapping prompt is queued", &harness.RefusedError{Method: protocol.MethodPrompt, Error_: string(m.Error)})
		}
	}
	gate.Open()
	for _, s := range scripts[1:] {
		t.Need("the queued prompts reach the model", t.reachesModel(srv, s))
	}
	for _, u := range turns {
		u.Settle()
	}
	order := orderOf(t.run.stub.Calls(), scripts[1:])
	t.Expect(fmt.Sprint(order) == fmt.Sprint([]int{1, 2, 3}), "queued prompts reach the model in the order of sending: [1 2 3]", fmt.Sprintf("in the order %v", order), turns[1].Line, turns[2].Line, turns[3].Line)
}

// orderOf numbers scripts in the order in which the model was told of them.
func orderOf(calls []model.Call, scripts []model.Script) (order []int) {
	for _, c := range calls {
		var fresh []int
		for i, script := range scripts {
			if textAt(c, script) >= 0 && !slices.Contains(order, i+1) {
				fresh = append(fresh, i+1)
			}
		}
		slices.SortFunc(fresh, func(a, b int) int { return textAt(c, scripts[a-1]) - textAt(c, scripts[b-1]) })
		order = append(order, fresh...)
	}
	return order
}
