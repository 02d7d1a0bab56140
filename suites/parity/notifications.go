package parity

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// notifications: what the caller sees of a turn besides its outcome.
func notifications(s *suite) {
	s.play("P-NTF-01", func(p *Play) {
		peer := p.Launch(protocol.MethodPrompt)
		a := peer.Ask("call")
		a.Settles(harness.Turn{Between: func(s *harness.Session) [][]byte {
			return append([][]byte{s.Chunk("a "), s.Chunk("draft"), s.Assistant("an earlier message")}, s.Child("child", "the child's")...)
		}})
		peer.AskOn("next", a.Q.SessionID()).Settles(harness.Turn{})
	})
	s.play("P-NTF-02", manyInOrder)
	s.play("P-NTF-03", mixedFamilies)
	s.play("P-NTF-04", earlierChild)
	s.play("P-NTF-05", func(p *Play) {
		each(p, news, func(a *Asked, line string) {
			a.Settles(harness.Turn{Between: func(*harness.Session) [][]byte { return [][]byte{lined(line)} }})
			a.Works("next")
		})
	})
	s.play("P-NTF-06", throwingCallback)
	s.play("P-NTF-07", betweenCalls)
	s.play("P-NTF-08", subscriptions)
}

// news are notifications that nobody knows, or that are odd.
var news = []input[string]{
	{"an unknown method", `{"jsonrpc":"2.0","method":"dshconform/news","params":{"sessionId":"s1","text":"new"}}`},
	{"an unknown method of sessions", `{"jsonrpc":"2.0","method":"session.dshconform","params":{"sessionId":"s1"}}`},
	{"no params", `{"jsonrpc":"2.0","method":"dshconform/bare"}`},
	{"params null", `{"jsonrpc":"2.0","method":"dshconform/null","params":null}`},
	{"params in a list", `{"jsonrpc":"2.0","method":"dshconform/list","params":["s1"]}`},
	{"an empty method", `{"jsonrpc":"2.0","method":""}`},
	{"no jsonrpc", `{"method":"session.event","params":{"sessionId":"s1","event":{"type":"turn/news","seq":9,"time":0,"data":{}}}}`},
	{"an unknown type of event", `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s1","event":{"type":"dshconform/news","seq":9,"time":0,"data":[1,"two"]}}}`},
	{"an empty type of event", `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s1","event":{"type":"","seq":9,"time":0,"data":{}},"x":1}}`},
	{"a session that is its own child", `{"jsonrpc":"2.0","method":"subagent.started","params":{"parentSessionId":"s1","childSessionId":"s1"}}`},
	{"a child without an id", `{"jsonrpc":"2.0","method":"subagent.started","params":{"parentSessionId":"s1"}}`},
	{"the end of a child that never started", `{"jsonrpc":"2.0","method":"subagent.finished","params":{"parentSessionId":"s1","childSessionId":"never started","agentId":7}}`},
}

// manyInOrder writes many notifications of several methods, in several chunks.
func manyInOrder(p *Play) {
	prompt := harness.Prompt{SessionID: p.session(), Text: "the prompt"}
	if p.offers(func(h harness.Hello) bool { return slices.Contains(h.Callbacks, harness.CallPrompt) }) {
		prompt.Callback = harness.CallbackReport
	}
	a := p.Launch(protocol.MethodPrompt).AskWith("call", prompt)
	turn := a.Turn(harness.Turn{Between: func(s *harness.Session) (lines [][]byte) {
		for i := range 10 {
			lines = append(lines, numbered(s, 10*i, 10)...)
			lines = append(lines, s.Child(fmt.Sprintf("child %d", i), "the child's")...)
		}
		return lines
	}})
	for chunk := range slices.Chunk(turn.Lines(), 7) {
		a.Write(chunk...)
	}
	a.Ends()
	if prompt.Callback != "" {
		p.seeList("call.callback", p.notifications(a.Events()))
	}
}

// mixedFamilies mixes a session, its descendants, and a stranger with a child.
func mixedFamilies(p *Play) {
	a := p.Launch(protocol.MethodPrompt).Ask("call")
	rt := a.RT
	stranger, child, grandchild := rt.Session("stranger"), rt.Session("child"), rt.Session("grandchild")
	a.Settles(harness.Turn{Between: func(s *harness.Session) [][]byte {
		return slices.Concat(
			[][]byte{s.ChildStarted("child"), child.TurnStart(), stranger.TurnStart(), child.ChildStarted("grandchild")},
			[][]byte{grandchild.TurnStart(), stranger.Assistant("the stranger's"), grandchild.Assistant("the grandchild's")},
			stranger.Child("the stranger's child", "its"),
			[][]byte{s.Assistant("an earlier message"), child.Assistant("the child's"), grandchild.TurnEnd(harness.Reason(protocol.KindCompleted))},
			[][]byte{child.ChildFinished("grandchild", "ok", protocol.KindCompleted, nil), rt.Session("unknown").Assistant("nobody's")},
			[][]byte{child.TurnEnd(harness.Reason(protocol.KindError)), s.ChildFinished("child", "error", protocol.KindError, nil)},
		)
	}})
}

// earlierChild has a child of one call speak in the next, and in that of another
// session.
func earlierChild(p *Play) {
	peer := p.Launch(protocol.MethodPrompt)
	first := peer.Ask("first")
	first.Settles(harness.Turn{Between: func(s *harness.Session) [][]byte { return [][]byte{s.ChildStarted("child")} }})
	child := peer.RT.Session("child")
	speaks := func(*harness.Session) [][]byte { return [][]byte{child.TurnStart(), child.Assistant("the child's")} }
	peer.AskOn("next", first.Q.SessionID()).Settles(harness.Turn{Silent: true, Between: speaks})
	peer.Ask("other").Settles(harness.Turn{Between: speaks})
}

// throwingCallback has the callback of a prompt throw.
func throwingCallback(p *Play) {
	if !p.offers(func(h harness.Hello) bool { return slices.Contains(h.Callbacks, harness.CallPrompt) }) {
		p.see("callback", "not offered by all")
		return
	}
	peer := p.Launch(protocol.MethodPrompt)
	a := peer.AskWith("call", harness.Prompt{SessionID: p.session(), Text: "the prompt", Callback: harness.CallbackThrow})
	a.Settles(harness.Turn{})
	p.seeList("call.callback", p.notifications(a.Events()))
	peer.Works("next")
}

// betweenCalls writes notifications behind a turn, and when no call is in flight.
func betweenCalls(p *Play) {
	peer := p.Launch(protocol.MethodPrompt)
	first := peer.Ask("first")
	turn := first.Turn(harness.Turn{})
	late := slices.Concat(numbered(turn.Session, 100, 2), [][]byte{turn.Session.Assistant("too late")})
	first.Write(turn.Joined(), bytes.Join(late, nil))
	first.Ends()
	next := peer.AskOn("next", first.Q.SessionID())
	next.Settles(harness.Turn{Silent: true})
}

// subscriptions listen beside a prompt: one to everything, one to the session, and one
// whose filter throws.
func subscriptions(p *Play) {
	peer := p.Launch(protocol.MethodPrompt)
	session := p.session()
	var names []string
	var calls []*harness.Call
	for _, filter := range []string{harness.FilterAll, harness.FilterSession, harness.FilterThrow} {
		if !p.offers(func(h harness.Hello) bool { return slices.Contains(h.Filters, filter) }) {
			continue
		}
		of := ""
		if filter == harness.FilterSession {
			of = session
		}
		call, err := peer.Subscribe(p.ctx, filter, of, harness.CallbackReport)
		if err != nil {
			p.whoseFault(err)
			p.see(filter, "%s", p.came(err))
			continue
		}
		if filter != harness.FilterThrow {
			names, calls = append(names, filter), append(calls, call)
		}
	}
	a := peer.AskOn("call", session)
	stranger := a.RT.Session("stranger")
	turn := a.Turn(harness.Turn{Between: func(s *harness.Session) [][]byte {
		return slices.Concat([][]byte{stranger.TurnStart()}, s.Child("child", "the child's"), [][]byte{
			harness.NotificationLine("dshconform/news", members{"x": 1}), stranger.Assistant("the stranger's"),
		})
	}})
	a.Write(turn.Joined())
	a.Ends()
	written := harness.NotificationsOf(turn.Notifications())
	last := written[len(written)-1]
	for i, call := range calls {
		err := call.AwaitEvents(p.ctx, "last notification of the turn", func(got []harness.Notification) bool {
			return slices.ContainsFunc(got, func(n harness.Notification) bool {
				return n.Method == last.Method && wire.SameValue(n.Params, last.Params)
			})
		})
		if err != nil {
			p.whoseFault(err)
		}
		p.seeList(names[i]+".callback", p.notifications(call.Events()))
	}
	peer.Works("next")
}

// jsonLine is a notification with these params as they are written.
func jsonLine(method, params string) []byte {
	return harness.NotificationLine(method, jsontext.Value(params))
}
