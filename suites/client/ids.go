package client

import (
	"bytes"
	"encoding/json"
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// ids: answers find their callers.
func ids(s *suite) {
	s.It("C-IDS-01", backwards)
	s.It("C-IDS-02/unknown-id", func(t *T) {
		ignored(t, "a response with an id that no call has", func(*Asked) [][]byte {
			var lines [][]byte
			for _, id := range []wire.ID{wire.StringID("nobody"), wire.StringID(""), wire.IntID(987_654_321_987), wire.IntID(-1),
				wire.RawID("[]"), wire.RawID(`{"id":1}`), wire.RawID("true"), wire.RawID("1e400")} {
				lines = append(lines, foreign(id)...)
			}
			return lines
		})
	})
	s.It("C-IDS-02/id-null", func(t *T) {
		ignored(t, "a response whose id is null", func(*Asked) [][]byte { return foreign(wire.RawID("null")) })
	})
	s.It("C-IDS-02/second", secondResponse)
	s.It("C-IDS-03", otherType)
}

// foreign are responses under an id: an error and a result that are nobody's.
func foreign(id wire.ID) [][]byte {
	failed := harness.Encode(object{"code": -32700, "message": "nobody's error"})
	return [][]byte{
		slices.Concat([]byte(`{"jsonrpc":"2.0","id":`+id.Token()+`,"error":`), failed, []byte("}\n")),
		harness.ResultLine(id, object{"status": "aborted", "reason": harness.Reason("nobody's"), "accepted": true, "messageId": "nobody's"}),
	}
}

// ignored writes responses before the answer of a call, which has to settle with that.
func ignored(t *T, what string, lines func(*Asked) [][]byte) {
	a := t.Asked()
	if a.Settles(what+" is ignored: the call in flight settles with its own", a.Turn(harness.Turn{}), lines(a)...) {
		a.Works("the next call works behind " + what)
	}
}

// secondResponse answers calls twice: at once, and again while the next one waits.
func secondResponse(t *T) {
	const expected = "a second response to a call is ignored"
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	second := slices.Concat(foreign(a.Q.ID())...)
	if !a.Write(expected, append(answer.Joined(), second...)) || !a.Gets(expected+": the first one counts", answer) {
		return
	}
	next, ok := a.Asks(expected + ": the next call is made")
	if ok && next.Settles(expected+": the call in flight settles with its own", next.Turn(harness.Turn{}), second) {
		next.Works(expected + ": the next call works")
	}
}

// otherType answers under the id as the other JSON type, and then under the true one.
func otherType(t *T) {
	a := t.Asked()
	id := a.Q.ID()
	other := wire.StringID(id.Token())
	if id.IsString() {
		other = wire.RawID(id.Text())
		var number json.Number
		if json.Unmarshal([]byte(id.Text()), &number) != nil || !other.IsNumber() {
			t.NotProvoked("its ids are strings that are no numbers: " + id.Token())
		}
	}
	expected := "a response with the id " + other.Token() + " does not settle the call " + id.Token()
	if a.Settles(expected, a.Turn(harness.Turn{}), foreign(other)...) {
		a.Works("the next call works behind a response with an id of the other type")
	}
}

// backwards answers calls in flight in the reverse order, one of them with an error.
func backwards(t *T) {
	const expected = "responses that come in another order reach their own callers"
	p := t.Launch(protocol.MethodPrompt)
	asked := []*Asked{p.Ask(), p.Ask(), p.Ask(), p.Ask(), p.Ask()}
	const failing = 2
	answers := make([]Answer, len(asked))
	var lines [][]byte
	for i, a := range asked {
		answers[i] = a.Turn(harness.Turn{})
		if i == failing {
			lines = append(lines, a.Q.Error(-32050, "the error of one alone"))
		} else {
			lines = append(lines, answers[i].Joined())
		}
	}
	slices.Reverse(lines)
	if !p.Write(expected, bytes.Join(lines, nil)) {
		return
	}
	for i, a := range asked {
		if i != failing {
			a.Gets(expected, answers[i])
		} else {
			t.Fails(a.Call, expected, a.Shown)
		}
		if t.Failed() {
			return
		}
	}
}
