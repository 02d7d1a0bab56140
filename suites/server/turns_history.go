package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
)

// history wants what was said before in the call of a later turn, then in one behind
// turns that failed, were cut and used a tool. Of these themselves nothing is wanted:
// what a model is told of them is the server's to decide.
func history(t *T) {
	h := conversation{t: t, session: t.Session()}
	h.talk("one")
	h.talk("two")
	if !h.told("three") {
		return
	}
	h.interlude(noLuck())
	h.talk("four")
	if !t.run.lacks("token-limit") {
		h.interlude(atLimit()...)
	}
	h.talk("five")
	if t.Profile.Settles() && t.hasChildren() { // elsewhere a child may wake its parent once more
		h.interlude(model.Spawn(model.Child("child", "Go.", t.Tag(), model.Text("A child's turn."))), model.Text("So says the child."))
	}
	h.talk("six")
	h.told("seven")
}

// conversation is a session and what was said in it: questions and answers, in turns.
type conversation struct {
	t       *T
	session string
	said    []string
}

// talk runs a turn of a question and an answer.
func (h *conversation) talk(number string) (turn *Turn, script model.Script) {
	question, answer := "Question "+number+".", "Answer "+number+"."
	script = h.t.Script(model.Text(answer))
	turn = h.t.BeginText(h.t.Shared(), h.session, script.Prompt(question))
	turn.Settle()
	h.said = append(h.said, question, answer)
	return turn, script
}

// interlude runs a turn that is no part of what has to be told.
func (h *conversation) interlude(steps ...model.Step) {
	h.t.ran(h.t.BeginText(h.t.Shared(), h.session, h.t.Script(steps...).Prompt("By the way.")))
}

// told runs one more turn and judges that the model was told all of what was said.
func (h *conversation) told(number string) bool {
	turn, script := h.talk(number)
	said := h.said[:len(h.said)-1] // its answer came behind the call
	calls := h.t.run.stub.CallsByTag(script.Tag)
	if len(calls) == 0 {
		h.t.NotReached("the prompt reaches the model", fmt.Errorf("no model call holds its script"))
	}
	var told [][]string
	for _, c := range calls { // further ones make titles and the like, in whichever order
		got := toldOf(c, said)
		if slices.Equal(got, said) {
			return true
		}
		told = append(told, got)
	}
	return h.t.Expect(false, fmt.Sprintf("the model is told %q, in this order", said), fmt.Sprintf("it is told %q", slices.MaxFunc(told, func(a, b []string) int { return len(a) - len(b) })), turn.Line)
}

// toldOf finds, in its order, what of a conversation a model call carries. The prompt
// of a turn that failed may come in one text with the next one.
func toldOf(c model.Call, said []string) (told []string) {
	for _, m := range c.Messages {
		for _, text := range m.Texts {
			for i, want := range said {
				if m.Role == []string{"user", "assistant"}[i%2] && strings.Contains(text, want) {
					told = append(told, want)
				}
			}
		}
	}
	return told
}
