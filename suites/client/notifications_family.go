package client

import (
	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// family mixes events of a session, of a descendant and of strangers, who have a child
// too. The descendant is so many levels below, and is started in the call itself, or
// in an earlier one of the session.
func family(t *T, levels int, earlier bool) {
	const expected = "the result of the call holds the notifications of the session and its descendants, and no others"
	p := t.Launch(protocol.MethodPrompt)
	session, stranger := t.Session(), p.RT.Session(t.Session())
	ask := func() *Asked { return p.AskWith(harness.Prompt{SessionID: session, Text: t.Text("prompt")}) }
	line := []*harness.Session{p.RT.Session(session)}
	for range levels {
		line = append(line, p.RT.Session(t.Session()))
	}
	start := func() (lines [][]byte) {
		for i, s := range line[1:] {
			lines = append(lines, line[i].ChildStarted(s.ID))
		}
		return lines
	}
	if earlier {
		ask().settle(harness.Turn{Between: func(*harness.Session) [][]byte { return start() }})
	}
	foreign := [][]byte{
		stranger.TurnStart(), stranger.Assistant("a stranger's answer"), stranger.TurnEnd(harness.Reason(protocol.KindCompleted)),
	}
	foreign = append(foreign, stranger.Child(t.Session(), "the answer of a stranger's child")...)

	var wanted [][]byte // in the middle of the turn
	a := ask()
	answer := a.Turn(harness.Turn{Between: func(s *harness.Session) (lines [][]byte) {
		if !earlier {
			lines = start()
		}
		for i := range max(len(foreign), 10) {
			own := append(numbered(line[i%len(line)], 1), numbered(s, 1)...)
			wanted, lines = append(wanted, own...), append(lines, own...)
			if i < len(foreign) {
				lines = append(lines, foreign[i])
			}
		}
		return lines
	}})
	if !a.Write(expected, answer.Joined()) || !a.Gets(expected, answer) {
		return
	}
	var tree []string
	for _, s := range line {
		tree = append(tree, s.ID)
	}
	reply, _ := a.Over()
	t.collected(expected, wanted, reply.Outcome(), a.Shown, tree...)
	strange := harness.NotificationsOf(foreign)
	for _, n := range reply.Outcome().Notifications {
		if len(without([]harness.Notification{n}, strange)) == 0 {
			t.Fail(expected, "one of a stranger is among them: "+protocol.Short(string(n.Params)), a.Shown.frames()...)
			return
		}
	}
}
