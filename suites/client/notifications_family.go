package client

import (
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// family mixes events of a session, of a descendant and of strangers. One stranger has a
// child too, one an id that the session's begins with, and one an id that begins with the
// session's. The descendant is so many levels below, and is started in the call itself, or
// in an earlier one of the session. A second child, started behind it, has one parent with
// the first.
func family(t *T, levels int, earlier bool) {
	via := t.channel()
	if t.returnsEarly() && via != toSubscription {
		t.Lacking("driver-outcome", "")
	}
	expected := "the notifications of the session and its descendants, and no others, are " + string(via)
	p := t.Launch(protocol.MethodPrompt)
	beginning := t.Session()
	session, stranger := beginning+".session", p.RT.Session(t.Session())
	prompt := func() harness.Prompt { return harness.Prompt{SessionID: session, Text: t.Text("prompt")} }
	line := []*harness.Session{p.RT.Session(session)}
	for range levels {
		line = append(line, p.RT.Session(t.Session()))
	}
	sibling := p.RT.Session(t.Session())
	members := append(slices.Clone(line), sibling)
	start := func() (lines [][]byte) {
		for i, s := range line[1:] {
			lines = append(lines, line[i].ChildStarted(s.ID))
		}
		return append(lines, line[0].ChildStarted(sibling.ID))
	}
	if earlier {
		p.AskWith(prompt()).settle(harness.Turn{Between: func(*harness.Session) [][]byte { return start() }})
		p.AskWith(prompt()).settle(harness.Turn{})
	}
	var foreign [][]byte
	for _, s := range []*harness.Session{stranger, p.RT.Session(beginning), p.RT.Session(session + "-2")} {
		foreign = append(foreign, s.TurnStart(), s.Assistant("a stranger's answer"), s.TurnEnd(harness.Reason(protocol.KindCompleted)))
	}
	foreign = append(foreign, stranger.Child(t.Session(), "the answer of a stranger's child")...)

	var wanted [][]byte // in the middle of the turn
	a := p.Hear(via, prompt())
	answer := a.Turn(harness.Turn{Between: func(s *harness.Session) (lines [][]byte) {
		if !earlier {
			lines = start()
			wanted = slices.Clone(lines)
		}
		for i := range max(len(foreign), 10) {
			own := append(numbered(members[i%len(members)], 1), numbered(s, 1)...)
			wanted, lines = append(wanted, own...), append(lines, own...)
			if i < len(foreign) {
				lines = append(lines, foreign[i])
			}
		}
		for i, child := range line[1:] { // what else a child tells, up to its end
			text := "the child's answer"
			begins := [][]byte{child.TurnStart(), child.Chunk(text), child.Assistant(text)}
			ends := child.TurnEnd(harness.Reason(protocol.KindCompleted)) // which is missing where that of every turn is
			finished := line[i].ChildFinished(child.ID, "ok", protocol.KindCompleted, &text)
			lines = append(append(lines, begins...), ends, finished)
			wanted = append(append(wanted, begins...), finished)
		}
		return lines
	}})
	if !a.Write(expected, answer.Joined()) || !a.Gets(expected, answer) {
		return
	}
	var tree []string
	for _, s := range members {
		tree = append(tree, s.ID)
	}
	a.judged(expected, wanted, answer.Lines(), foreign, tree)
}

// judged judges what was handed over of a family, whose first session is the call's own. An
// SDK that gives events alone may leave out those of children: then there is no telling.
func (h *Heard) judged(expected string, wanted, all, foreign [][]byte, tree []string) {
	own := h.via.form(events(harness.NotificationsOf(all), tree...))
	got := h.got(own[len(own)-1:])
	// Where nobody says whose an event is, it can be the same as one of another session.
	strange := without(h.via.form(harness.NotificationsOf(foreign)), own)
	for _, n := range got {
		if len(without([]harness.Notification{n}, strange)) == 0 {
			h.t.Fail(expected, "one of a stranger is among them: "+protocol.Short(string(n.Params)), h.Shown.frames()...)
			return
		}
	}
	children := without(h.via.form(events(harness.NotificationsOf(wanted), tree[1:]...)), h.via.form(events(harness.NotificationsOf(all), tree[0])))
	alone := h.via == inEvents && len(without(children, got)) == len(children)
	if alone {
		tree = tree[:1]
	}
	h.collected(expected, wanted, tree...)
	if alone && !h.t.Failed() {
		h.t.Lacking("driver-events", "the events are those of the session alone")
	}
}
