package server

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// fate is what became of a prompt under a session id of its own.
type fate struct {
	refused bool
	foreign bool // a turn started under another id
	retried bool // the model call failed on its way, and is tried again
	ended   bool
	kind    string // of the turn/end
	line    wire.Line
}

// fateOf waits until it is clear what becomes of a prompt. Servers try a model
// call that failed again for many seconds: that nothing better comes of it is
// clear at once, since the stub fails no call that was not asked to.
func (t *T) fateOf(turn *Turn) (f fate, err error) {
	err = turn.s.Await(t.Ctx, "the end of a turn", turn.mark, turn.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range EventsOf(fresh, "") {
			switch {
			case e.Session != turn.Session:
				if e.Type == protocol.EventTurnStart {
					f.foreign, f.line = true, e.Line
				}
			case strings.HasPrefix(e.Type, "llm/retry"):
				f.retried, f.line = true, e.Line
			case e.Type == protocol.EventTurnEnd:
				reason, _ := e.Data.Object("reason")
				f.ended, f.line = true, e.Line
				f.kind, _ = reason.String("kind")
			}
		}
		switch answer := turn.Request.Answer; {
		case f.foreign, f.retried:
			return true
		case answer == nil:
			return false
		case answer.Error != nil:
			f.refused, f.line = true, *turn.Request.Response
			return true
		}
		return f.ended || t.Profile.Settles()
	})
	if err != nil {
		t.run.spoil(turn.s, t.ID)
		t.Conclude(err)
	}
	return f, err
}

// sessionIDRune gives scalar values that a session id may hold, with those more
// often that file systems, shells, headers and string tables are touchy about.
var sessionIDRune = rapid.OneOf(
	rapid.RuneFrom([]rune(" .-_~%:*?\"<>|&$'`#+=@!;,(){}[]^azAZ09")),
	rapid.RuneFrom([]rune("\u00a0\u00ad\u00e9\u00dfÿ\u0100\u0130\u0131\u01c5\u0301\u0416\u05d0\u1e9e\u200b\u200d\u2028\u2029\u202e\u3000\u6f22\ud55c\ufb01\ufdd0\ufeff\uff0f\ufffd\uffff\U0001d49c\U0001f600\U0001f1e9\U0010ffff")),
	rapid.Rune(),
).Filter(inSessionID)

func inSessionID(r rune) bool { return !unicode.IsControl(r) && r != '/' && r != '\\' }

// Short ids come first: an input that fails is then small from the start, and
// a real server is not asked a thousand times to make it smaller.
var shortSessionID = rapid.StringOfN(sessionIDRune, 1, 2, -1).Filter(notDots)

var sessionID = rapid.OneOf(
	rapid.SampledFrom([]string{"CON", "nul", "__proto__", "constructor", "...", "~", "-rf", "a ", " a", "a.", "null", "undefined", "0"}),
	rapid.StringOfN(sessionIDRune, 1, 64, -1),
	rapid.StringOfN(sessionIDRune, 64, 64, -1),
).Filter(notDots)

func notDots(id string) bool { return id != "." && id != ".." }

// twins are pairs of ends of ids that are easily taken for each other.
var twins = map[string][2]string{
	"none":        {},
	"case":        {"aZ", "Az"},
	"composition": {"\u00e9", "e\u0301"},
	"spaces":      {"", " "},
}

// anySessionID: sessions work and are told apart whatever their ids are.
func anySessionID(t *T) {
	usual := t.Run(t.Apart(), t.Session(), model.Text("Fine."))
	// An id serves again in the process that knows it, as it does when rapid repeats
	// an input; in another process the session may be on disk already.
	used := map[string]*harness.Server{}
	unique := func(srv *harness.Server, id, end string, bare bool) string {
		if by := used[id+end]; bare && (by == nil || by == srv) {
			return id + end
		}
		if prefixed := "s" + strconv.FormatInt(t.run.count(), 36) + "-" + id + end; utf8.RuneCountInString(prefixed) <= 64 {
			return prefixed
		}
		return id + end
	}
	try := func(rt *rapid.T, c Counterexample, ids *rapid.Generator[string]) {
		srv := t.Apart()
		drawn := ids.Draw(rt, "sessionId")
		bare := rapid.Bool().Draw(rt, "with nothing before it")
		twin := twins[rapid.SampledFrom([]string{"none", "none", "none", "case", "composition", "spaces"}).Draw(rt, "twin")]
		room := 64 - utf8.RuneCountInString(drawn)
		if room < 2 {
			twin = twins["none"]
		}
		run := func(id string) model.Script {
			used[id] = srv
			script := t.Script(model.Text("Fine."))
			turn := t.Begin(srv, id, script)
			f, err := t.fateOf(turn)
			switch {
			case err != nil:
				turn.Disown()
				c.Fail("the turn does not come to its end", turn.Line)
			case f.refused:
				c.Fail("the prompt is refused", turn.Line, f.line)
			case f.foreign:
				c.Fail("a turn runs under another session id", turn.Line, f.line)
			case f.retried:
				c.Fail("the turn fails to call the model, and tries again", turn.Line, f.line)
			case f.kind != usual.Kind:
				c.Fail("the turn ends with "+orNone(f.kind)+" where one under an ordinary id ends with "+orNone(usual.Kind), turn.Line, f.line)
			}
			return script
		}
		id := unique(srv, drawn, twin[0], bare)
		first := run(id)
		if twin == twins["none"] {
			return
		}
		other := strings.TrimSuffix(id, twin[0]) + twin[1]
		if by := used[other]; other == id || by != nil && by != srv {
			return
		}
		second := run(other)
		for _, call := range t.run.stub.CallsByTag(second.Tag) {
			if strings.Contains(strings.Join(call.UserTexts(), "\n"), strconv.Quote(first.Tag)) {
				c.Fail("a session with a similar id shares its history")
			}
		}
	}
	expected := "a turn under any session id runs like one under an ordinary id, and its events carry that id"
	t.shrinkTime = "1s"
	t.Property(40, expected, func(rt *rapid.T, c Counterexample) { try(rt, c, shortSessionID) })
	if !t.Failed() {
		t.Property(30, expected, func(rt *rapid.T, c Counterexample) { try(rt, c, sessionID) })
	}
}

// unusualSessionID shows what becomes of a session id that servers may refuse.
func unusualSessionID(t *T, shape string) {
	srv := t.Apart()
	t.Run(srv, t.Session(), model.Text("Fine.")) // some servers look at ids only where there are sessions already
	id := shape
	switch {
	case len(shape) > 100:
		id = (t.Session() + shape)[:len(shape)]
	case shape != "":
		id = t.Session() + shape
	}
	turn := t.Begin(srv, id, t.Script(model.Text("Fine.")))
	f, err := t.fateOf(turn)
	got := "the turn ends with " + orNone(f.kind)
	switch {
	case err != nil:
		t.unanswered(turn.Call, err)
		got = "neither an error nor the end of a turn"
	case f.refused:
		m, _ := turn.Now()
		got = "refused with " + errorOf(m)
	case f.foreign:
		got = "a turn runs under another session id"
	case f.retried:
		got = "the turn fails to call the model, and tries again"
	}
	t.Observe("a prompt under it", "%s", got)
}

// errorOf tells the code of an error response.
func errorOf(m wire.Message) string {
	e, _ := wire.AsObject(m.Error)
	return "error " + protocol.Short(string(e["code"]))
}

// anyRequestID: a string comes back as the same string. Strings of printable
// ASCII are S-IDS-01's: each of these holds something else.
func anyRequestID(t *T) {
	t.Barrier(t.Shared())
	ordinary := func(r rune) bool { return r >= ' ' && r <= '~' }
	strange := rapid.OneOf(
		rapid.RuneFrom([]rune("\x00\x01\t\n\r\x1f\x7f\u0085\u00a0\u00e9\u0130\u0301\u2028\u2029\u200d\u202e\u6f22\ufeff\ufffe\uffff\U0001d49c\U0001f600\U0010ffff")),
		rapid.Rune(),
	).Filter(func(r rune) bool { return !ordinary(r) })
	t.Property(80, "a request id that is any string of Unicode scalar values comes back as that string", func(rt *rapid.T, c Counterexample) {
		srv := t.Shared()
		id := rapid.StringN(0, 12, -1).Draw(rt, "before") + string(strange.Draw(rt, "character")) + rapid.StringN(0, 12, -1).Draw(rt, "behind")
		token := wire.StringID(id).Token()
		if rapid.Bool().Draw(rt, "escaped") {
			token = escapedly(id)
		}
		call := t.SendID(srv, token)
		m, err := call.Answer(t.Ctx)
		if err != nil {
			t.Conclude(err)
			call.Disown()
			t.run.spoil(srv, t.ID)
			c.Fail("the request got no response", call.Line)
		}
		if m.ID.Text() != id || !m.ID.IsString() {
			c.Fail("the response carries another id", call.Line, call.ResponseLine())
		}
	})
	const strangest = "\x01\t\x7f\u0085\u00e9e\u0301\u2028\u202e\u6f22\ufeff\U0001d49c\U0001f600"
	for _, token := range []string{wire.StringID(strangest).Token(), escapedly("another " + strangest)} {
		if t.Failed() {
			return
		}
		t.succeeds(token)
	}
}
