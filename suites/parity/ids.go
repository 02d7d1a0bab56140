package parity

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// ids: answers find their callers.
func ids(s *suite) {
	s.play("P-IDS-01", func(p *Play) {
		peer := p.Launch(protocol.MethodPrompt)
		var asked []*Asked
		for _, name := range []string{"call 1", "call 2", "call 3", "call 4"} {
			asked = append(asked, peer.Ask(name))
		}
		for i, a := range slices.Backward(asked) {
			if i == 1 {
				a.told = "the error of one alone"
				a.Write(a.Q.Error(-32050, a.told))
				continue
			}
			a.Write(a.Turn(harness.Turn{}).Joined())
		}
		for _, a := range asked {
			a.Ends()
		}
	})
	s.play("P-IDS-02", func(p *Play) {
		each(p, []input[wire.ID]{
			{"a text", wire.StringID("nobody")}, {"an empty text", wire.StringID("")}, {"a number", wire.IntID(987_654_321_987)}, {"a negative one", wire.IntID(-1)},
			{"null", wire.RawID("null")}, {"true", wire.RawID("true")}, {"an object", wire.RawID("{}")}, {"a list", wire.RawID("[1]")},
			{"2^53+1", wire.RawID("9007199254740993")}, {"1e400", wire.RawID("1e400")},
		}, func(a *Asked, id wire.ID) {
			a.Settles(harness.Turn{}, foreign(id))
			a.Works("next")
		})
	})
	s.play("P-IDS-03", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		second := foreign(a.Q.ID())
		a.Write(a.Turn(harness.Turn{}).Joined(), second)
		a.Ends()
		next := a.Ask("next")
		next.Settles(harness.Turn{}, second)
	})
	s.play("P-IDS-04", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		id, other := a.Q.ID(), wire.StringID(a.Q.ID().Token())
		if id.IsString() {
			if other = wire.RawID(id.Text()); !isNumber(other) {
				other = wire.IntID(1) // nobody's, as the id in any other form would be
			}
		}
		a.damaged(bytes.Replace(a.refusal(), []byte(`"id":`+id.Token()), []byte(`"id":`+other.Token()), 1))
		a.Works("next")
	})
}

func isNumber(id wire.ID) bool { return jsontext.Value(id.Token()).IsValid() && id.IsNumber() }
