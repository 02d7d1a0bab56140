package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// ends: the ends besides shutdown, which are EOF on stdin and SIGTERM.
func ends(s *suite) {
	for _, how := range []struct{ row, what string }{{"S-SHD-07", byEOF}, {"S-SHD-08", bySIGTERM}} {
		each(s, how.row, 1, []named[bool]{{"idle", false}, {"in-turn", true}}, func(t *T, inTurn bool) {
			if t.endsBy(how.what, inTurn) && how.what == byEOF && !inTurn {
				t.endsBy(byEOFInLine, inTurn)
			}
		})
	}
	s.It("S-SHD-09", shared, func(t *T) {
		for _, how := range []string{byEOF, bySIGTERM} {
			if how == bySIGTERM && t.run.lacks("signals") {
				continue
			}
			t.Observe("exit at "+how, "%s", exitOf(t.ended(how, false).Ending))
			if t.WithoutModel() {
				continue
			}
			seen := t.ended(how, true)
			t.Observe("exit at "+how+" with a turn in flight", "%s", exitOf(seen.Ending))
			t.Observe("a turn in flight at "+how, "%s", seen.turn)
		}
	})
	s.It("S-SHD-10/running", 1, func(t *T) {
		srv := t.Fresh()
		t.answeredBeforeEOF(srv, false)
	})
	s.It("S-SHD-10/before-start", shared, func(t *T) {
		t.answeredBeforeEOF(t.Raw(), true)
	})
}

// The ways to end a process, as reports call them.
const (
	byEOF       = "EOF on stdin"
	byEOFInLine = "EOF on stdin behind a line without LF"
	bySIGTERM   = "SIGTERM"
)

// cutID is the id of the request whose line EOF cuts.
const cutID = "last"

// end is what was seen of a process that was ended in one of these ways. It is
// seen once in a run: two requirements ask for it.
type end struct {
	harness.Ending
	turn     string // what became of a turn in flight
	answered bool   // the request whose line EOF cut
	frames   []wire.Line
}

// endsBy judges that a process ends when it is told to.
func (t *T) endsBy(how string, inTurn bool) bool {
	seen := t.ended(how, inTurn)
	return t.Expect(seen.Exited, how+" ends the process within the bound", "it still runs when the bound has passed", seen.frames...)
}

// ended ends a fresh process in one of these ways.
func (t *T) ended(how string, inTurn bool) end {
	key := fmt.Sprint(how, inTurn)
	if seen, ok := t.run.ends[key]; ok {
		return seen
	}
	srv := t.Fresh()
	var turn *Turn
	var seen end
	if inTurn {
		_, _ = t.Begin(srv, t.Session(), t.Script(noLuck())).TrySettle() // what a failure leaves behind may hold an end up
		turn, _ = t.Held(srv, t.Session(), []model.Step{model.Text("Said before the end.")}, nil)
		t.heldChild(srv)
		seen.frames = append(seen.frames, turn.Line)
	}
	mark := srv.Mark()
	t.tellToEnd(srv, how)
	seen.Ending = srv.AwaitExit(t.Ctx)
	t.Conclude(t.Ctx.Err())
	if how == byEOFInLine {
		since := srv.Since(mark)
		seen.frames = Sent(since)
		seen.answered = slices.ContainsFunc(since, func(e harness.Entry) bool { return isReply(e, cutID) })
	}
	if inTurn {
		seen.turn = fateOf(turn, srv.Since(mark))
	}
	if t.run.ends == nil {
		t.run.ends = map[string]end{}
	}
	t.run.ends[key] = seen
	return seen
}

func (t *T) tellToEnd(srv *harness.Server, how string) {
	switch how {
	case bySIGTERM:
		t.Need("send SIGTERM", srv.Terminate())
		return
	case byEOFInLine:
		t.Write(srv, strings.TrimSuffix(requestLine(`"`+cutID+`"`, UnknownMethod), "\n"))
	}
	t.Need("close stdin", srv.CloseInput())
}

// fateOf tells what became of a turn, in words that do not vary between runs.
func fateOf(turn *Turn, since []harness.Entry) string {
	var fate []string
	for _, e := range EventsOf(since, turn.Session) {
		if e.Type == protocol.EventTurnEnd {
			reason, _ := e.Data.Object("reason")
			kind, _ := reason.String("kind")
			fate = append(fate, "turn/end of kind "+kind)
		}
	}
	if len(fate) == 0 {
		fate = append(fate, "no turn/end")
	}
	if turn.t.Profile.Settles() {
		fate = append(fate, outcomeOf(turn.Call)+" to its prompt")
	}
	return strings.Join(fate, ", ")
}

// answeredBeforeEOF writes requests and ends stdin directly behind them.
func (t *T) answeredBeforeEOF(srv *harness.Server, handshake bool) {
	var all strings.Builder
	if handshake {
		all.Write(harness.Frame(srv.NewID(), protocol.MethodInitialize, t.run.launch.InitializeParams()))
	}
	for range 20 {
		all.Write(t.sure(srv))
	}
	calls := t.Write(srv, all.String())
	for _, c := range calls {
		c.Disown() // judged here
	}
	t.Need("close stdin", srv.CloseInput())
	within := srv.Deadlines().Call
	if handshake {
		within = srv.Deadlines().Start
	}
	var missing []*harness.Call
	err := srv.Await(t.Ctx, "response", harness.Mark(0), within, func([]harness.Entry) bool {
		missing = missing[:0]
		for _, c := range calls {
			if !c.Settled() {
				missing = append(missing, c)
			}
		}
		return len(missing) == 0
	})
	if len(missing) == 0 {
		return
	}
	t.Conclude(err)
	var died *harness.DiedError
	how := "when the bound has passed"
	if errors.As(err, &died) {
		how = "when stdout has ended"
	}
	some := "some of"
	if len(missing) == len(calls) {
		some = "all of"
	}
	t.Fail("requests that came before EOF are answered before the process ends", fmt.Sprintf("%s the requests are not answered %s", some, how), missing[0].Line)
}

// sure is a request that this subject is known to answer at once.
func (t *T) sure(srv *harness.Server) []byte {
	b := harness.Barriers[t.run.barrier]
	return harness.Frame(srv.NewID(), b.Method, b.Params)
}
