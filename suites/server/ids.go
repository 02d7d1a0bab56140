package server

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// ids: the id of a request comes back as it was. The comparison is the monitor's,
// which sees every response; these specs bring the ids that it is about.
func ids(s *suite) {
	echoed := func(t *T, tokens []string) {
		srv := t.Shared()
		for _, token := range tokens {
			c := t.SendID(srv, token)
			if _, ok := t.Answered(c, "a request with the id "+token+" is answered under it"); !ok {
				return
			}
			t.succeeds(token)
		}
	}
	each(s, "S-IDS-01", shared, []named[[]string]{
		{"ascii", []string{`"an-id"`, `"a b\"\\c"`, `"\u0041\/\u007a"`, `"ID"`, `"` + strings.Repeat("long-", 60) + `"`}},
		{"empty", []string{`""`}},
		{"numeric-looking", []string{`"1"`, `"007"`, `"1e3"`, `"-0"`, `"9007199254740993"`}},
	}, echoed)
	each(s, "S-IDS-02", shared, []named[[]string]{
		{"zero", []string{`0`}},
		{"negative", []string{`-1`, `-9007199254740991`}},
		{"max-safe", []string{`1`, `2147483648`, `9007199254740991`}},
	}, echoed)
	each(s, "S-IDS-03", shared, []named[string]{{"beyond-safe", `9007199254740993`}, {"overflow", `1e400`}, {"fraction", `0.1`}},
		func(t *T, token string) {
			// Silence is S-IDS-06's; here only a wrong id counts, and the monitor sees it.
			srv := t.Shared()
			t.SendID(srv, token)
			t.Barrier(srv)
		})
	s.It("S-IDS-04", shared, sameIDTwice)
	each(s, "S-IDS-05", shared, []named[string]{{"null", `null`}, {"boolean", `true`}, {"object", `{"a":1}`}, {"array", `[1]`}},
		func(t *T, token string) {
			srv := t.Shared()
			t.Observe("a request with the id "+token, "%s", t.replies(srv, requestLine(token, UnknownMethod)))
		})
	each(s, "S-IDS-06", shared, []named[string]{
		{"integral", `1.0`}, {"fraction", `1.5`}, {"exponent", `1e2`}, {"negative-zero", `-0`}, {"beyond-int64", `18446744073709551616`},
	}, func(t *T, token string) {
		srv := t.Shared()
		t.Answered(t.SendID(srv, token), "a request with the id "+token+" gets a response, not silence")
	})
	s.It("S-IDS-07", shared, idUsedAgain)
}

// promptID sends a prompt under this id.
func (t *T) promptID(s *harness.Server, id wire.ID, session string, script model.Script) *Turn {
	mark := s.Mark()
	return &Turn{t.Write(s, string(harness.Frame(id, protocol.MethodPrompt, Prompt(session, script.Prompt("Go.")))))[0], session, t, s, mark}
}

// idUsedAgain uses an id for quick requests, and one for prompts: what servers keep of
// those lives longer.
func idUsedAgain(t *T) {
	srv := t.Shared()
	const expected = "an id whose response is out may be used again"
	token := srv.NewID().Token()
	for range 3 {
		if _, ok := t.Answered(t.SendID(srv, token), expected); !ok {
			return
		}
	}
	if t.WithoutModel() {
		return
	}
	id := srv.NewID()
	for n := range 2 {
		turn := t.promptID(srv, id, t.Session(), t.Script(model.Text("Fine.")))
		_, err := turn.TrySettle()
		switch {
		case n == 0 || err == nil:
			t.Need("a turn settles", err)
		default:
			turn.Disown()
			t.Judge(err, expected, turn.Line)
		}
	}
}

func requestLine(id, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s"}`+"\n", id, method)
}

// SendID sends a request that needs no turn under this id.
func (t *T) SendID(s *harness.Server, token string) *harness.Call {
	return t.Write(s, requestLine(token, UnknownMethod))[0]
}

// succeeds runs a turn whose prompt has this id, where there are turns: a result goes
// another way than an error does. Which id it carries is the monitor's to judge.
func (t *T) succeeds(token string) {
	if t.WithoutModel() {
		return
	}
	turn := t.promptID(t.Shared(), wire.RawID(token), t.Session(), t.Script(model.Text("Fine.")))
	_, err := turn.Call.Settle(t.Ctx)
	if err != nil {
		turn.Disown() // judged here
		t.run.spoil(turn.s, t.ID)
	}
	if t.Judge(err, "a prompt with the id "+token+" is answered under it", turn.Line) {
		t.ran(turn)
	}
}

// sameIDTwice sends two requests under one id: both are quick ones, then one of
// them is a prompt whose turn is held.
func sameIDTwice(t *T) {
	srv := t.Shared()
	expected := "each of two requests in flight under one id is answered or refused"
	token := srv.NewID().Token()
	for _, c := range t.Write(srv, requestLine(token, UnknownMethod)+requestLine(token, UnknownMethod)) {
		if _, ok := t.Answered(c, expected); !ok {
			return
		}
	}
	if t.WithoutModel() || !t.Profile.Settles() {
		return
	}
	gate := t.Gate()
	id := srv.NewID()
	held := t.promptID(srv, id, t.Session(), t.Script(model.AtGate(gate.Name()), model.Text("Fine.")))
	t.AtGate(held, gate)
	_, quick := t.Answered(t.SendID(srv, id.Token()), expected)
	gate.Open()
	if !quick {
		return
	}
	_, err := held.Call.Settle(t.Ctx)
	t.Judge(err, expected, held.Line)
}

// isReply reports whether an entry is a frame that answers something, sent under
// this id.
func isReply(e harness.Entry, id string) bool {
	return e.Dir == wire.ServerToClient && e.Message.ID.Present() && e.Message.ID.Text() == id
}
