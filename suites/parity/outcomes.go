package parity

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

const completed = `{"kind":"completed"}`

// outcomes: when a prompt is settled for its caller, and with what.
func outcomes(s *suite) {
	s.play("P-OUT-01", func(p *Play) {
		each(p, texts(
			completed, `{"kind":"error","error":{"name":"ModelError","message":"out of 运气","status":529}}`,
			`{"kind":"aborted","cause":{"kind":"interrupt","by":"somebody"}}`, `{"kind":"max-tokens"}`, `{"kind":"interrupted","x":[1,null,{"y":2.50}]}`,
			`{"kind":"of a plugin","kinds":{"kind":"completed"}}`,
		), func(a *Asked, reason string) { a.Settles(harness.Turn{Reason: jsontext.Value(reason)}) })
	})
	s.play("P-OUT-02", func(p *Play) {
		each(p, texts(absent, "7", "null", `["ok"]`, `"fine"`, `"OK"`, `""`, `"aborted"`, "true"), func(a *Asked, status string) {
			a.Write(a.settling(status, completed))
			a.Ends()
			a.Works("next")
		})
	})
	s.play("P-OUT-03", func(p *Play) {
		each(p, texts(absent, "null", `"completed"`, "{}", `{"kind":7}`, `{"kind":""}`, "[]", "7"), func(a *Asked, reason string) {
			a.Write(a.settling(`"ok"`, reason))
			a.Ends()
			a.Works("next")
		})
	})
	s.play("P-OUT-04", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		a.Write(a.Turn(harness.Turn{Ended: harness.Reason(protocol.KindMaxTokens)}).Joined())
		a.Ends()
	})
	s.play("P-OUT-05", strayFinished)
	s.play("P-OUT-06", func(p *Play) {
		each(p, texts("{}", "null", "[]", `"ok"`, "7", `{"accepted":true}`, `{"messageId":"m-1"}`, `{"messageId":7}`, `{"status":"ok"}`,
			`{"status":"ok","reason":{"kind":"completed"},"accepted":true,"messageId":"m-1","x":{"y":1}}`), func(a *Asked, result string) {
			a.otherResult(jsontext.Value(result))
		})
	})
	s.play("P-OUT-07", idles)
}

// strayFinished has session.finished say something else than the outcome, before it and
// behind it.
func strayFinished(p *Play) {
	for _, where := range []string{"before the outcome", "behind it"} {
		p.part(where, func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			turn := a.Turn(harness.Turn{})
			stray := turn.Session.Finished("error", harness.Reason("stray"))
			if where == "behind it" {
				a.Write(turn.Joined(), stray)
			} else {
				a.Write(stray, turn.Joined())
			}
			a.Ends()
			a.AskOn("next", a.Q.SessionID()).Settles(harness.Turn{})
		})
	}
}

// otherResult answers with a result that is not the profile's. In receipt the turn goes
// on as if its message had been accepted.
func (a *Asked) otherResult(result jsontext.Value) {
	turn := a.Turn(harness.Turn{})
	turn.Response = a.Q.Result(result)
	a.Write(turn.Joined())
	a.Ends()
	a.Works("next")
}

// idles plays the interval of a prompt in receipt in several orders, on a session that
// had one before.
func idles(p *Play) {
	type lines = func(*Asked, harness.Played) [][]byte
	for _, in := range []input[lines]{
		{"behind an idle of an earlier interval", func(_ *Asked, t harness.Played) [][]byte {
			return slices.Concat([][]byte{t.Session.Status("idle")}, t.Lines())
		}},
		{"all of it before the receipt", func(_ *Asked, t harness.Played) [][]byte {
			return slices.Concat(t.Before, t.After, [][]byte{t.Response})
		}},
		{"all of it behind the receipt", func(_ *Asked, t harness.Played) [][]byte {
			return slices.Concat([][]byte{t.Response}, t.Before, t.After)
		}},
		{"with idles of a child and of a stranger in it", func(a *Asked, t harness.Played) [][]byte {
			more := t.Session.Child("child", "the child's")
			more = append(more, a.RT.Session("stranger").Status("running"), a.RT.Session("stranger").Status("idle"))
			return slices.Concat(t.Before, [][]byte{t.Response}, more, t.After)
		}},
		{"with a status that nobody knows in it", func(_ *Asked, t harness.Played) [][]byte {
			return slices.Concat(t.Before, [][]byte{t.Response, t.Session.Status("dormant")}, t.After)
		}},
	} {
		p.part(in.name, func() {
			peer := p.Launch(protocol.MethodPrompt)
			first := peer.Ask("first")
			first.Settles(harness.Turn{})
			a := peer.AskOn("call", first.Q.SessionID())
			a.Write(bytes.Join(in.value(a, a.Turn(harness.Turn{})), nil))
			a.Ends()
		})
	}
}
