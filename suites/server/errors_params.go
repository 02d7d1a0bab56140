package server

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// defect is one way in which the params of a prompt are broken: one member, and
// what it is made into from the marker of a script.
type defect struct {
	what   string
	member string
	value  func(marker string) any // nil: the member is left out
}

func always(json string) func(string) any {
	return func(string) any { return jsontext.Value(json) }
}

// beside is a list of blocks with a broken one in front of a sound one: what is
// left when the broken one is skipped would run a turn.
func beside(json string) func(string) any {
	return func(marker string) any {
		return []any{jsontext.Value(json), map[string]any{"type": "text", "text": marker}}
	}
}

var promptDefects = []named[[]defect]{
	{"missing", []defect{
		{"no sessionId", "sessionId", nil},
		{"no contentBlocks", "contentBlocks", nil},
	}},
	{"mistyped", []defect{
		{"a sessionId that is a number", "sessionId", always("5")},
		{"a sessionId that is null", "sessionId", always("null")},
		{"a sessionId that is an object", "sessionId", always("{}")},
		{"a sessionId that is a list", "sessionId", always(`["a"]`)},
		{"contentBlocks that are null", "contentBlocks", always("null")},
		{"contentBlocks that are a string", "contentBlocks", func(marker string) any { return marker }},
		{"contentBlocks that are an object", "contentBlocks", func(marker string) any { return map[string]any{"type": "text", "text": marker} }},
		{"a block that is a number", "contentBlocks", beside("5")},
		{"a block that is null", "contentBlocks", beside("null")},
		{"a block that is a string", "contentBlocks", beside(`"text"`)},
		{"a block without a type", "contentBlocks", beside(`{"text":"a"}`)},
		{"a block whose type is a number", "contentBlocks", beside(`{"type":5,"text":"a"}`)},
		{"a text block without a text", "contentBlocks", beside(`{"type":"text"}`)},
		{"a text block whose text is a number", "contentBlocks", beside(`{"type":"text","text":5}`)},
		{"a text block whose text is null", "contentBlocks", beside(`{"type":"text","text":null}`)},
	}},
}

// sendDefect sends a prompt that is sound but for the defect.
func (t *T) sendDefect(srv *harness.Server, d defect) (*harness.Call, model.Script) {
	script := model.NewScript(fmt.Sprintf("%s.defect.%d", t.ID, t.run.count()), model.Text("Fine."))
	params := Prompt(t.Session(), script.Prompt("Go."))
	delete(params, d.member)
	if d.value != nil {
		params[d.member] = d.value(script.Prompt("Go."))
	}
	return t.Send(srv, protocol.MethodPrompt, params), script
}

// oneResponse judges that a response comes. A broken prompt that is taken for a
// sound one may need a whole turn; one that nothing comes of does not.
func (t *T) oneResponse(c *harness.Call, expected string) (wire.Message, bool) {
	m, err := c.Answer(t.Ctx)
	if silent := (*harness.SilentError)(nil); errors.As(err, &silent) && t.Profile.Settles() && t.turnRuns(c) {
		m, err = c.Settle(t.Ctx)
	}
	if err != nil {
		c.Disown()
		if t.Ctx.Err() == nil {
			t.run.spoil(c.Server(), t.ID)
		}
	}
	return m, t.Judge(err, expected, c.Line)
}

// once judges that no second response came up to now.
func (t *T) once(c *harness.Call, expected string) bool {
	lines := []wire.Line{c.Line}
	for _, e := range c.Server().Since(harness.Mark(c.Line.Seq)) {
		if e.Dir == wire.ServerToClient && e.Message.Kind == wire.Response && e.Message.ID.Key() == c.ID.Key() {
			lines = append(lines, e.Line)
		}
	}
	return t.Expect(len(lines) <= 2, expected, fmt.Sprintf("it gets %d", len(lines)-1), lines...)
}

// turnRuns reports whether a turn has started since a request was written.
func (t *T) turnRuns(c *harness.Call) bool {
	for _, e := range EventsOf(c.Server().Since(harness.Mark(c.Line.Seq)), "") {
		if e.Type == protocol.EventTurnStart {
			return true
		}
	}
	return false
}

// settleDefect waits for the turn of a broken prompt that was taken, as far as
// there is one: a receipt comes before it. What its turn does is nobody's
// requirement, so that it may also not come.
func (t *T) settleDefect(c *harness.Call, m wire.Message) {
	if m.Error != nil || t.Profile.Settles() || t.WithoutModel() {
		return
	}
	result, _ := wire.AsObject(m.Result)
	id, _ := result.String("messageId")
	session := ""
	_ = c.Server().Await(t.Ctx, "the end of the turn", harness.Mark(c.Line.Seq), c.Server().Deadlines().Call, func(fresh []harness.Entry) bool {
		for _, e := range EventsOf(fresh, "") {
			switch {
			case e.Type == protocol.EventInboxSpliced && mentions(e.Data["inserted"], id):
				session = e.Session
			case e.Type == protocol.EventTurnEnd && e.Session == session:
				return true
			}
		}
		return false
	})
	t.Conclude(t.Ctx.Err())
}

// becomesOf sends a prompt with these blocks and tells what becomes of it.
func (t *T) becomesOf(blocks any, script *model.Script) string {
	srv := t.Shared()
	session := t.Session()
	mark := srv.Mark()
	turn := &Turn{t.Send(srv, protocol.MethodPrompt, map[string]any{"sessionId": session, "contentBlocks": blocks}), session, t, srv, mark}
	f, err := t.fateOf(turn)
	switch {
	case err != nil:
		t.unanswered(turn.Call, err)
		return "neither an error nor the end of a turn"
	case f.refused:
		m, _ := turn.Now()
		return "refused with " + errorOf(m)
	case f.retried:
		return "the turn fails to call the model, and tries again"
	case script == nil:
		return "a turn runs, and ends with " + orNone(f.kind)
	}
	calls := t.run.stub.CallsByTag(script.Tag)
	if len(calls) == 0 {
		return "a turn runs without a model call, and ends with " + orNone(f.kind)
	}
	for _, m := range calls[len(calls)-1].Messages {
		for _, kind := range m.Blocks {
			if kind == "x-unknown" {
				return "a turn runs, and the model gets the block; it ends with " + orNone(f.kind)
			}
		}
	}
	return "a turn runs, and the model does not get the block; it ends with " + orNone(f.kind)
}
