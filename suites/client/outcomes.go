package client

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

type object = map[string]any

// outcomes: when a prompt is settled for its caller, and with what.
func outcomes(s *suite) {
	for _, v := range []struct {
		name    string
		reasons []any
	}{
		{"ok", []any{harness.Reason(protocol.KindCompleted)}},
		{"error", []any{
			object{"kind": "error", "error": object{"name": "ModelError", "message": "out of 运气", "status": 529}},
			object{"kind": "dshconform/new-kind", "snake_case": nil, "list": []any{object{"deep": object{"er": true}}}},
		}},
		{"aborted", []any{object{"kind": "aborted", "cause": object{"kind": "interrupt", "by": "somebody"}}}},
	} {
		s.It("C-OUT-01/"+v.name, func(t *T) {
			for _, reason := range v.reasons {
				if !t.Failed() {
					responseDecides(t, reason)
				}
			}
		})
	}
	s.It("C-OUT-02/missing", func(t *T) { brokenOutcomes(t, missing) })
	s.It("C-OUT-02/mistyped", func(t *T) { brokenOutcomes(t, mistyped) })
	s.It("C-OUT-02/unknown", func(t *T) {
		if t.returnsEarly() {
			t.Lacking("driver-outcome", "")
		}
		brokenOutcomes(t, unknown)
	})
	s.It("C-OUT-03", strayFinished)
	s.It("C-OUT-04", finishedSettles)
	s.It("C-OUT-05", idleSettles)
}

// responseDecides answers with an outcome: first behind the events that belong to it,
// then behind events that say something else.
func responseDecides(t *T, reason any) {
	p := t.Launch(protocol.MethodPrompt)
	other := harness.Reason(protocol.KindMaxTokens)
	for _, ends := range []any{reason, other} {
		const expected = "the caller gets the status and the reason of the response"
		a, ok := p.Asks(expected)
		if !ok {
			return
		}
		answer := a.Turn(harness.Turn{Reason: reason, Ended: ends})
		if !a.Settles(expected, answer) || !a.told(expected, answer, "status", "reason") {
			return
		}
	}
}

// told judges that the call has settled with these members of the answer's outcome, status
// or reason.
func (a *Asked) told(expected string, answer Answer, members ...string) bool {
	reply, _ := a.Over()
	got := reply.Outcome()
	same := true
	if slices.Contains(members, "status") {
		same = a.t.Expect(harness.Text(got.Status) == answer.Status, expected+": "+answer.Status, "the status is "+given(got.Status), a.Shown.frames()...)
	}
	if slices.Contains(members, "reason") {
		same = a.t.Expect(wire.SameValue(got.Reason, answer.Reason), expected+": "+string(answer.Reason), "the reason is "+given(got.Reason), a.Shown.frames()...) && same
	}
	return same
}

// told are those of status and reason that the SDK gives: that it gives both is asked by
// C-OUT-01 alone.
func (t *T) told() []string {
	return slices.DeleteFunc([]string{"status", "reason"}, func(member string) bool { return !t.Hello.Gives(member) })
}

// broken is how an outcome is none. Each value takes the place of the one named.
type broken struct {
	result  []jsontext.Value // the whole of the response's (directional, receipt)
	status  []jsontext.Value // of the response (directional), of session.finished (accepted)
	reason  []jsontext.Value // of the response (directional)
	receipt []jsontext.Value
	running []jsontext.Value // of a session.status while the call waits for idle (receipt)
}

// absent stands for a member that is left out.
var absent jsontext.Value

var (
	missing = broken{
		result: []jsontext.Value{absent, jsontext.Value("null"), jsontext.Value(`{"accepted":true}`)},
		status: []jsontext.Value{absent},
		// Every reason is the one of a turn/end, and has a kind, whatever that is.
		reason:  []jsontext.Value{absent, jsontext.Value("{}")},
		receipt: []jsontext.Value{absent},
		running: []jsontext.Value{absent},
	}
	mistyped = broken{
		result:  []jsontext.Value{jsontext.Value("[]"), jsontext.Value(`"ok"`), jsontext.Value("true"), jsontext.Value("7")},
		status:  []jsontext.Value{jsontext.Value("7"), jsontext.Value("null"), jsontext.Value("true"), jsontext.Value(`["ok"]`), jsontext.Value(`{"ok":true}`)},
		reason:  []jsontext.Value{jsontext.Value(`"completed"`), jsontext.Value("null"), jsontext.Value("[]"), jsontext.Value(`{"kind":7}`), jsontext.Value(`{"kind":null}`), jsontext.Value(`{"kind":true}`), jsontext.Value(`{"kind":["completed"]}`)},
		receipt: []jsontext.Value{jsontext.Value("7"), jsontext.Value("null"), jsontext.Value("{}")},
		running: []jsontext.Value{jsontext.Value(`null`), jsontext.Value(`7`), jsontext.Value(`true`), jsontext.Value(`["idle"]`), jsontext.Value(`{"idle":true}`)},
	}
	unknown = broken{
		status:  []jsontext.Value{jsontext.Value(`"fine"`), jsontext.Value(`"OK"`), jsontext.Value(`" ok"`), jsontext.Value(`""`), jsontext.Value(`"completed"`), jsontext.Value(`"cancelled"`)},
		running: []jsontext.Value{jsontext.Value(`"dormant"`), jsontext.Value(`"Idle"`), jsontext.Value(`" idle"`), jsontext.Value(`"completed"`), jsontext.Value(`""`)},
	}
)

// response is the line of a response with this result, which may be absent: an id without a
// method is a response all the same.
func (a *Asked) response(result jsontext.Value) []byte {
	return append([]byte(members("jsonrpc", harness.Encode("2.0"), "id", jsontext.Value(a.Q.ID().Token()), "result", result)), '\n')
}

// brokenOutcomes settles prompts in the way of the profile, each with something else
// that is wrong.
func brokenOutcomes(t *T, b broken) {
	p := t.Launch(protocol.MethodPrompt)
	for _, v := range b.status {
		switch t.Profile {
		case protocol.Directional:
			p.refuses(func(a *Asked, answer Answer) [][]byte {
				answer.Response = a.Q.Result(members("status", v, "reason", answer.Reason))
				return answer.Lines()
			})
		case protocol.Accepted:
			if !t.Hello.Gives("status") {
				t.Lacking("driver-outcome", "the SDK gives no status")
			}
			p.refuses(func(_ *Asked, answer Answer) [][]byte {
				params := members("sessionId", harness.Encode(answer.Session.ID), "status", v, "reason", answer.Reason)
				answer.Before[len(answer.Before)-1] = harness.NotificationLine(protocol.NotificationFinished, params)
				return answer.Lines()
			})
		}
	}
	if t.Profile != protocol.Accepted {
		for _, v := range b.result {
			p.refuses(func(a *Asked, answer Answer) [][]byte {
				answer.Response = a.response(v)
				return answer.Lines()
			})
		}
	}
	if t.Profile == protocol.Directional {
		for i, v := range b.reason {
			status := []string{"ok", "error", "aborted"}[i%3]
			p.refuses(func(a *Asked, answer Answer) [][]byte {
				answer.Response = a.Q.Result(members("status", harness.Encode(status), "reason", v))
				return answer.Lines()
			})
		}
	}
	if t.Profile == protocol.Receipt {
		for _, v := range b.receipt {
			p.refuses(func(a *Asked, answer Answer) [][]byte {
				answer.Response = a.Q.Result(members("messageId", v))
				return answer.Lines()
			})
		}
	}
	if t.Profile == protocol.Receipt && t.Hello.Settles {
		for _, v := range b.running {
			if !t.Failed() {
				unknownStatus(t, v)
			}
		}
	}
}

// refuses judges that a prompt whose answer is broken fails as one that the protocol
// does not have. What was seen is enough once it is wrong.
func (p *Peer) refuses(lines func(*Asked, Answer) [][]byte) {
	const expected = "an outcome that is not one fails the call with an error of class protocol"
	if p.t.Failed() {
		return
	}
	a, ok := p.Asks(expected)
	if ok && a.Write(expected, bytes.Join(lines(a, a.Turn(harness.Turn{})), nil)) {
		p.t.Fails(a.Call, expected, a.Shown, harness.ClassProtocol)
	}
}

// members is an object of names and values; one without a value is left out.
func members(pairs ...any) jsontext.Value {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		v := pairs[i+1].(jsontext.Value)
		if v == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], v)
	}
	return jsontext.Value("{" + b.String() + "}")
}

// unknownStatus writes, in the middle of a turn of receipt, a session.status with a word that
// nobody knows, or that is none. It settles nothing: a client refuses it, or waits for idle.
func unknownStatus(t *T, v jsontext.Value) {
	expected := "the status " + given(v) + " settles nothing: the call fails with an error of class protocol, or waits for idle"
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	strange := harness.NotificationLine(protocol.NotificationStatus, members("sessionId", harness.Encode(answer.Session.ID), "status", v))
	lines := slices.Insert(slices.Clone(answer.After), 0, strange)
	if !a.Write(expected, slices.Concat(bytes.Join(answer.Before, nil), answer.Response, joined(lines))) {
		return
	}
	reply, ended := t.Ended(a.Call, expected, a.Shown)
	switch {
	case !ended:
	case reply.Err != nil:
		t.failed(reply, expected, a.Shown, harness.ClassProtocol)
	default:
		why := t.differs(reply.Outcome(), answer)
		t.Expect(why == "", expected, "it settles before: "+why, a.Shown.frames()...)
	}
}

// strayFinished answers without a session.finished, and then behind one that says
// something else.
func strayFinished(t *T) {
	a := t.Asked()
	if !a.Settles("the prompt settles without a session.finished", a.Turn(harness.Turn{})) {
		return
	}
	const expected = "a stray session.finished changes nothing: the response wins"
	next, ok := a.Asks(expected)
	if !ok {
		return
	}
	answer := next.Turn(harness.Turn{})
	stray := answer.Session.Finished("error", harness.Reason(protocol.KindError))
	if next.Settles(expected, answer, stray) && next.told(expected, answer, t.told()...) {
		a.Works("the next prompt settles behind a stray session.finished")
	}
}

// finishedSettles writes session.finished and the response in both orders, each pair
// as one piece, a stranger's session.finished among them, to several prompts of one session.
// Where an SDK gives nothing of it, no more than that the call settles can be seen.
func finishedSettles(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	session := t.Session()
	for _, reason := range []any{harness.Reason(protocol.KindCompleted), object{"kind": "error", "error": object{"message": "out of 运气"}}} {
		for _, first := range []string{"session.finished", "the response"} {
			expected := "the prompt settles with the status and the reason of session.finished, " + first + " first"
			a, ok := p.AsksWith(expected, harness.Prompt{SessionID: session, Text: t.Text("prompt")})
			if !ok {
				return
			}
			answer := a.Turn(harness.Turn{Reason: reason})
			finished := answer.Before[len(answer.Before)-1]
			stranger := p.RT.Session(t.Session()).Finished("aborted", harness.Reason("somebody else's"))
			lines := slices.Concat(answer.Before[:len(answer.Before)-1], [][]byte{stranger, finished, answer.Response})
			if first == "the response" {
				slices.Reverse(lines[len(lines)-2:])
			}
			if !a.Write(expected, joined(lines)) || !a.Gets(expected, answer) || !a.told(expected, answer, t.told()...) {
				return
			}
		}
	}
	if len(t.told()) == 0 {
		t.Lacking("driver-outcome", "the SDK gives neither status nor reason")
	}
}
