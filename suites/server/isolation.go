package server

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/model"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// isolation: callers choose ids and texts, and share a server.
func isolation(s *suite) {
	each(s, "S-SEC-01", shared, []named[func(climb, place string) []string]{
		{"traversal", func(climb, place string) []string {
			return []string{climb + "/climb", "a/../" + climb + "/climb-behind-a-name"}
		}},
		{"absolute", func(climb, place string) []string { return []string{place + "/absolute"} }},
		{"nul", func(climb, place string) []string {
			return []string{place + "/nul\x00.json", climb + "/climb-nul\x00"}
		}},
	}, pathAsID)
	s.It("S-SEC-02", shared, func(t *T) {
		srv := t.Shared()
		t.Run(srv, t.Session(), model.Text("An ordinary turn."))
		for _, status := range []int{400, 401, 403} {
			t.ran(t.Begin(srv, t.Session(), t.Script(model.Fail(status, "refused"))))
		}
		t.provokeAll(srv, t.errorsOf(srv))
		t.Exercised(srv, "S-SEC-02")
	})
	s.It("S-SEC-03/events", shared, func(t *T) {
		t.sideBySide("no event of a session carries what another one said", func(all []*secretive, c Counterexample) {
			srv := all[0].turn.s
			for _, e := range srv.Since(all[0].turn.mark) {
				session, ok := sessionOf(e)
				if !ok {
					continue
				}
				for _, other := range all {
					if other.turn.Session != session && other.in(e.Raw) {
						c.Fail("a notification of one session carries the content of another", ownLine(all, session), other.turn.Line, e.Line)
					}
				}
			}
		})
	})
	s.It("S-SEC-03/model-calls", shared, func(t *T) {
		t.sideBySide("no model call of a session carries what another one said", func(all []*secretive, c Counterexample) {
			for _, own := range all {
				for _, script := range own.scripts {
					for _, call := range t.run.stub.CallsByTag(script.Tag) {
						text := []byte(textsOf(call))
						for _, other := range all {
							if other != own && other.in(text) {
								c.Fail("a model call of one session carries the content of another", own.turn.Line, other.turn.Line)
							}
						}
					}
				}
			}
		})
		if !t.Failed() {
			t.failedBefore()
		}
	})
}

// secretive is a session that says and hears what no other does.
type secretive struct {
	turn         *Turn
	asks, hears  string // the beginnings of all that it says, and all that is said to it
	scripts      []model.Script
	prompt, said string // what it is wrapped in
}

// in reports whether text holds anything of the session's.
func (s *secretive) in(text []byte) bool {
	return bytes.Contains(text, []byte(s.asks)) || bytes.Contains(text, []byte(s.hears))
}

// together is how many sessions run at once.
const together = 32

// sideBySide runs many sessions at once, two turns each, and lets a property look at
// what they brought.
func (t *T) sideBySide(expected string, look func([]*secretive, Counterexample)) {
	t.Run(t.Shared(), t.Session(), model.Text("Fine."))
	words := rapid.StringMatching(`[a-z]{0,12}`)
	t.shrinkTime = "1s"
	t.Property(1, expected, func(rt *rapid.T, c Counterexample) {
		srv := t.Shared()
		all := make([]*secretive, together)
		for i := range all {
			n := strconv.FormatInt(t.run.count(), 36)
			all[i] = &secretive{
				turn: &Turn{Session: t.Session()},
				asks: "(asks-" + n + ")", hears: "(hears-" + n + ")",
				prompt: words.Draw(rt, "prompt"), said: words.Draw(rt, "reply"),
			}
		}
		mark := srv.Mark()
		t.round(srv, all)
		t.round(srv, all)
		for _, s := range all {
			s.turn.mark = mark
		}
		look(all, c)
	})
}

// round runs one turn of each session, all of them at once: each waits at a gate
// until all do. A server that runs fewer at once shows what it can.
func (t *T) round(srv *harness.Server, all []*secretive) {
	gate := t.Gate()
	for _, s := range all {
		script := t.Script(model.Text(s.hears+s.said), model.AtGate(gate.Name()), model.Text(s.said+s.hears))
		s.scripts = append(s.scripts, script)
		s.turn = t.BeginText(srv, s.turn.Session, script.Prompt(s.asks+s.prompt))
	}
	// Waits for the calls themselves, for as long as some of them still come.
	for waiting := -1; waiting < len(all) && waiting < gate.Waiting(); {
		waiting = gate.Waiting()
		ctx, cancel := context.WithTimeout(t.Ctx, srv.Deadlines().Call)
		_ = gate.WaitCount(ctx, len(all)) // fewer will do
		cancel()
	}
	gate.Open()
	for _, s := range all {
		s.turn.Settle()
	}
}

// sessionOf is the session that a notification is about.
func sessionOf(e harness.Entry) (string, bool) {
	if e.Dir != wire.ServerToClient || e.Message.Kind != wire.Notification {
		return "", false
	}
	params, _ := wire.AsObject(e.Message.Params)
	return params.String("sessionId")
}

func ownLine(all []*secretive, session string) wire.Line {
	for _, s := range all {
		if s.turn.Session == session {
			return s.turn.Line
		}
	}
	return wire.Line{}
}

// textsOf is all text of a model call.
func textsOf(c model.Call) string {
	var b strings.Builder
	for _, m := range c.Messages {
		for _, text := range m.Texts {
			fmt.Fprintln(&b, text)
		}
	}
	return b.String()
}

// pathAsID judges that a session id which looks like a path is none to the
// server. Whether the prompt is refused, or its turn runs, has no right answer.
func pathAsID(t *T, ids func(climb, place string) []string) {
	srv := t.Apart()
	if !t.WithoutModel() {
		t.Run(srv, t.Session(), model.Text("Fine.")) // so that the server has made what it makes in any case
	}
	scratch := t.run.scratch(t)
	for _, id := range ids(scratch.up(), scratch.place) {
		turn := t.Begin(srv, id, t.Script(model.Text("Fine.")))
		if t.WithoutModel() {
			_, err := turn.Call.Answer(t.Ctx)
			t.needResponse("the prompt is answered", turn.Call, err)
		} else if _, err := t.fateOf(turn); err != nil {
			t.needResponse("the prompt is refused, or its turn ends", turn.Call, err)
		}
		// Files are written behind the wire: a whole turn is longer than that takes.
		if t.WithoutModel() {
			t.Barrier(srv)
		} else {
			t.Run(srv, t.Session(), model.Text("Fine."))
		}
		added, err := scratch.added()
		t.Need("list the scratch tree", err)
		for _, path := range added {
			t.Fail("a session id that looks like a path makes no file outside of the server's own directories", "there is "+path, turn.Line)
		}
		if len(added) > 0 {
			return
		}
	}
}

// failedBefore judges that a prompt whose turn failed is not told to the model in the
// turn of another session that comes next.
func (t *T) failedBefore() {
	srv := t.Shared()
	secret := "(failed-" + strconv.FormatInt(t.run.count(), 36) + ")"
	failed := t.BeginText(srv, t.Session(), t.Script(noLuck()).Prompt(secret))
	t.ran(failed)
	for range 2 {
		script := t.Script(model.Text("Fine."))
		next := t.Begin(srv, t.Session(), script)
		next.Settle()
		for _, call := range t.run.stub.CallsByTag(script.Tag) {
			if !t.Expect(!strings.Contains(textsOf(call), secret), "no model call of a session carries a prompt of another one whose turn failed", "it carries it", failed.Line, next.Line) {
				return
			}
		}
	}
}
