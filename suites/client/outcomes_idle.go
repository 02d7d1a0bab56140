package client

import (
	"bytes"
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// interval are the lines of a prompt in receipt in one of the orders in which they can
// come, with what is particular to it.
type interval struct {
	name  string
	lines func(p *Peer, a Answer) [][]byte
}

// intervals: in a turn the message is in the inbox before anything else of it comes,
// and idle ends it. When the response comes in between is a race of the server's.
var intervals = []interval{
	{"in the usual order", func(_ *Peer, a Answer) [][]byte { return a.Lines() }},
	{"behind the idle of an earlier interval", func(_ *Peer, a Answer) [][]byte {
		return slices.Concat([][]byte{a.Session.Status("idle")}, a.Lines())
	}},
	{"with all of it before the receipt", func(_ *Peer, a Answer) [][]byte {
		return slices.Concat(a.Before, a.After, [][]byte{a.Response})
	}},
	{"behind the idle of an earlier interval, with all of it before the receipt", func(_ *Peer, a Answer) [][]byte {
		return slices.Concat([][]byte{a.Session.Status("idle")}, a.Before, a.After, [][]byte{a.Response})
	}},
	{"with all of it behind the receipt", func(_ *Peer, a Answer) [][]byte {
		return slices.Concat([][]byte{a.Response}, a.Before, a.After)
	}},
	{"with the idle of another session in it", func(p *Peer, a Answer) [][]byte {
		stranger := p.RT.Session(p.t.Session())
		return slices.Concat(a.Before, [][]byte{a.Response, stranger.Status("running"), stranger.Status("idle")}, a.After)
	}},
	{"with a child that gets idle in it", func(p *Peer, a Answer) [][]byte {
		return slices.Concat(a.Before, [][]byte{a.Response}, a.Session.Child(p.t.Session(), "a child's answer"), a.After)
	}},
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
		answer := a.Turn(harness.Turn{})
		if !a.Write(expected, bytes.Join(v.lines(p, answer), nil)) || !a.Gets(expected, answer) {
			return
		}
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
}
