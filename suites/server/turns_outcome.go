package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// outcomes: the status and the reason of a prompt in the directional profile.
func outcomes(s *suite) {
	s.It("S-TRN-01", shared, func(t *T) {
		srv := t.Shared()
		for _, session := range []string{t.Session(), t.LongSession()} {
			turn := t.Begin(srv, session, t.Script(model.Text("Fine.")))
			settled := t.ran(turn)
			end, ended := settled.End()
			if settled.Response.Error != nil && !ended {
				continue // refused, which is not about a completed turn
			}
			if settled.Response.Error != nil || ended && settled.Kind != protocol.KindCompleted {
				t.Expect(settled.Kind != protocol.KindCompleted, `a completed turn returns status "ok"`, "an error response", end.Line, settled.Line)
				continue
			}
			t.status(settled, "ok", "a completed turn")
		}
	})
	s.It("S-TRN-02", 1, func(t *T) {
		srv := t.Shared()
		session := t.Session()
		t.everyEnd(srv, session)
		t.Exercised(srv, "S-TRN-02")
		aborted(t, t.Fresh())
	})
	s.It("S-TRN-03", shared, func(t *T) {
		srv := t.Shared()
		t.fails(t.Begin(srv, t.Session(), t.Script(noLuck())), "a turn whose model failed")
		if t.hasChildren() {
			child := model.Child("a child", "Do it.", t.Tag(), model.Text("Done."))
			t.fails(t.Begin(srv, t.Session(), t.Script(model.Spawn(child), noLuck())), "a turn whose model failed behind a tool call")
		}
	})
	s.It("S-TRN-04", shared, func(t *T) {
		srv := t.Shared()
		settled := t.ran(t.Begin(srv, t.Session(), t.Script(atLimit()...)))
		const what = "a turn that was cut at the token limit"
		want := protocol.SettledStatus(protocol.KindMaxTokens, t.run.cfg.Target.MaxTokensAsSuccess)
		if settled.Response.Error != nil {
			t.Fail(fmt.Sprintf("%s returns status %q", what, want), "an error response", settled.Line)
			return
		}
		if t.status(settled, want, what) {
			t.kind(settled, protocol.KindMaxTokens, what)
		}
	})
	s.It("S-TRN-05", 1, func(t *T) {
		const what = "a turn that shutdown aborted"
		srv := t.Fresh()
		settled := aborted(t, srv)
		if settled.Response.Error != nil {
			t.Fail(what+` returns status "aborted"`, "an error response", settled.Line)
			return
		}
		if t.status(settled, "aborted", what) {
			t.kind(settled, protocol.KindAborted, what)
		}
	})
	s.It("S-TRN-06", shared, unknownKind)
}

// fails judges the outcome of a turn whose model failed.
func (t *T) fails(turn *Turn, what string) {
	settled := t.ran(turn)
	end, ended := settled.End()
	if settled.Response.Error != nil {
		t.Expect(!ended, what+` returns status "error" where it has a turn/end`, "an error response", end.Line, settled.Line)
		return
	}
	t.status(settled, "error", what)
}

// knownKinds are the kinds that the protocol names.
var knownKinds = []string{protocol.KindCompleted, protocol.KindError, protocol.KindAborted, protocol.KindMaxTokens, "interrupted"}

// unknownKind tries finish reasons until one ends a turn with a kind outside the
// known set.
func unknownKind(t *T) {
	srv := t.Shared()
	tried := false
	for _, finish := range []string{"content_filter", "solar_flare"} {
		settled := t.ran(t.Begin(srv, t.Session(), t.Script(model.Text("Hm."), model.Finish(finish))))
		end, ended := settled.End()
		if !ended || slices.Contains(knownKinds, settled.Kind) {
			continue
		}
		tried = true
		what := fmt.Sprintf("a turn that ended with the kind %q", settled.Kind)
		if settled.Response.Error != nil {
			t.Fail(what+` returns status "error"`, "an error response", end.Line, settled.Line)
			continue
		}
		if t.status(settled, "error", what) {
			t.kind(settled, settled.Kind, what)
		}
	}
	if !tried {
		t.NotProvoked("the server brings every finish reason to a kind that the protocol names")
	}
}

// aborted holds a turn, sends shutdown, and gives what the prompt was answered.
func aborted(t *T, srv *harness.Server) Settled {
	turn, _ := t.Held(srv, t.Session(), []model.Step{model.Text("So far ")}, []model.Step{model.Text("so good.")})
	if m, early := turn.Now(); early {
		t.NotReached("the turn runs when shutdown is sent", fmt.Errorf("the prompt was answered already: %s%s", m.Result, m.Error))
	}
	down := t.Send(srv, protocol.MethodShutdown, nil)
	_, err := srv.AwaitShutdown(t.Ctx, down)
	m, answered := turn.Now()
	if !answered {
		t.Need("shutdown", err)
		t.NotReached("the prompt is answered", fmt.Errorf("the process ended without"))
	}
	return turn.settled(m)
}

// status judges the status of a result. Where the answer has another profile's
// form the spec ends: the rows on that form tell.
func (t *T) status(s Settled, want, what string) bool {
	result, _ := wire.AsObject(s.Response.Result)
	if _, there := result["status"]; !there && string(result["accepted"]) == "true" {
		t.NotReached("the prompt returns an outcome", fmt.Errorf("the result is %s", protocol.Short(string(s.Response.Result))))
	}
	got, isString := result.String("status")
	end, ended := s.End()
	if ended && end.Line.Seq > s.Line.Seq {
		t.NotReached("the prompt is answered behind its turn", fmt.Errorf("the turn/end comes behind the response"))
	}
	return t.Expect(isString && got == want, fmt.Sprintf("%s returns status %q", what, want), "it is "+orNothing(protocol.Short(string(result["status"]))), end.Line, s.Line)
}

// kind judges the kind of a result's reason.
func (t *T) kind(s Settled, want, what string) bool {
	result, _ := wire.AsObject(s.Response.Result)
	reason, _ := result.Object("reason")
	got, _ := reason.String("kind")
	end, _ := s.End()
	return t.Expect(got == want, fmt.Sprintf("%s returns a reason of kind %q", what, want), "it is of kind "+orNothing(got), end.Line, s.Line)
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// list names what is in a set, in order.
func list(set map[string]bool) string {
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}
