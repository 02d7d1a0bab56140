package client

import (
	"fmt"
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// interval are the lines of a prompt in receipt in one of the orders in which they can
// come, with what is particular to it.
type interval struct {
	name    string
	earlier func(s *harness.Session) [][]byte              // lines of the session that come before, nil for none
	lines   func(p *Peer, a Answer) (lines, rest [][]byte) // the rest comes when the prompt has settled
}

// intervals: in a turn the message is in the inbox before anything else of it comes,
// and idle ends it. When the response comes in between is a race of the server's.
var intervals = []interval{
	{name: "in the usual order", lines: usual},
	{name: "behind the idle of an earlier interval", earlier: stale, lines: usual},
	{name: "behind the interval of another message", earlier: func(s *harness.Session) [][]byte {
		return append(anothers(s), s.Status("idle"))
	}, lines: usual},
	{name: "in the interval of another message", earlier: anothers, lines: func(_ *Peer, a Answer) (lines, rest [][]byte) {
		return slices.Concat(a.Before[:1], a.Before[2:], [][]byte{a.Response}, a.After), nil // it runs already
	}},
	{name: "with all of it before the receipt", lines: func(_ *Peer, a Answer) (lines, rest [][]byte) {
		return slices.Concat(a.Before, a.After, [][]byte{a.Response}), nil
	}},
	{name: "behind the idle of an earlier interval, with all of it before the receipt", earlier: stale, lines: func(_ *Peer, a Answer) (lines, rest [][]byte) {
		return slices.Concat(a.Before, a.After, [][]byte{a.Response}), nil
	}},
	{name: "with all of it behind the receipt", lines: func(_ *Peer, a Answer) (lines, rest [][]byte) {
		return slices.Concat([][]byte{a.Response}, a.Before, a.After), nil
	}},
	{name: "with the idle of another session in it", lines: func(p *Peer, a Answer) (lines, rest [][]byte) {
		stranger := p.RT.Session(p.t.Session())
		return slices.Concat(a.Before, [][]byte{a.Response, stranger.Status("running"), stranger.Status("idle")}, a.After), nil
	}},
	{name: "with a child that gets idle in it", lines: func(p *Peer, a Answer) (lines, rest [][]byte) {
		return slices.Concat(a.Before, [][]byte{a.Response}, a.Session.Child(p.t.Session(), "a child's answer"), a.After), nil
	}},
	{name: "with a child that runs on behind it", lines: func(p *Peer, a Answer) (lines, rest [][]byte) {
		child := a.Session.Child(p.t.Session(), "a child's answer")
		const begun = 4 // it has started and runs
		return slices.Concat(a.Before, [][]byte{a.Response}, child[:begun], a.After), child[begun:]
	}},
}

func usual(_ *Peer, a Answer) (lines, rest [][]byte) { return a.Lines(), nil }

func stale(s *harness.Session) [][]byte { return [][]byte{s.Status("idle")} }

// anothers is a turn about a message that is not the prompt's, as what a child has to say
// makes one, without the idle that ends its interval.
func anothers(s *harness.Session) [][]byte {
	return [][]byte{
		s.Spliced("message-of-nobody"), s.Status("running"), s.TurnStart(), s.Spliced(""), s.Assistant("another's answer"),
		s.TurnEnd(harness.Reason(protocol.KindCompleted)),
	}
}

// idleSettles plays the interval of a prompt in every order, each as one piece, on a
// session that had an interval before.
func idleSettles(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	session := t.Session()
	prompt := func() *Asked { return p.AskWith(harness.Prompt{SessionID: session, Text: t.Text("prompt")}) }
	prompt().settle(harness.Turn{})
	for _, v := range intervals {
		expected := "the prompt settles at the first idle of its own interval, " + v.name + ", with all that belongs to it"
		a := prompt()
		var earlier [][]byte
		if v.earlier != nil {
			earlier = v.earlier(p.RT.Session(session))
		}
		answer := a.Turn(harness.Turn{})
		lines, rest := v.lines(p, answer)
		if !a.Write(expected, joined(slices.Concat(earlier, lines))) || !a.Gets(expected, answer) {
			return
		}
		t.Need("write what comes behind it", p.RT.Write(t.Ctx, rest...))
		if !t.Hello.Gives("notifications") {
			continue
		}
		// That all of a turn is collected is another requirement; that of what came early
		// is this one.
		heard := &Heard{Asked: a, via: inResult}
		if !heard.collected(expected, answer.Before, session) {
			return
		}
	}
	if t.Hello.Concurrent && t.Hello.Settles {
		p.settlesBoth(session)
	}
}

// settlesBoth queues two messages in one interval, whose idle is the first behind both of
// them. Which of the two texts the first prompt gets is open. An SDK may also hold the
// second back until the first has settled.
func (p *Peer) settlesBoth(session string) {
	t := p.t
	const expected = "the idle that ends an interval settles both prompts whose messages are in it"
	prompt := func() harness.Prompt { return harness.Prompt{SessionID: session, Text: t.Text("prompt")} }
	first := p.AskWith(prompt())
	second, err := p.ask(prompt())
	if err != nil {
		t.Conclude(err)
		first.settle(harness.Turn{})
		return
	}
	if first.Q.ID().Key() == second.Q.ID().Key() { // C-MSG-03
		t.NotReached("two prompts in flight have ids of their own", fmt.Errorf("both have %s", first.Q.ID().Token()))
	}
	one, two := first.Turn(harness.Turn{}), second.Turn(harness.Turn{})
	last := len(one.After) - 1 // its idle does not come, nor the second's running
	if !first.Write(expected, joined(slices.Concat(one.Before, [][]byte{one.Response}, one.After[:last],
		two.Before[:1], [][]byte{two.Response}, two.Before[2:], two.After))) {
		return
	}
	reply, ended := t.Ended(first.Call, expected, first.Shown)
	if !ended || reply.Err != nil && !t.Expect(false, expected, reply.Err.Error(), first.Shown.frames()...) {
		return
	}
	second.Gets(expected, two)
}
