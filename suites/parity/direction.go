package parity

import (
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// direction: what the runtime should not write to a client.
func direction(s *suite) {
	s.play("P-DIR-01", func(p *Play) {
		peer := p.Launch(protocol.MethodPrompt)
		a := peer.Ask("call")
		a.Write(strays(a))
		a.Settles(harness.Turn{})
		a.WriteApart(strays(a), nil) // with no call in flight: they have been read before the next one is made
		// What is answered by somebody else than the reader has been answered by then.
		peer.Works("next")
		peer.Works("last")
	})
	s.play("P-DIR-02", func(p *Play) {
		each(p, texts("dshconform/stray", "session/prompt", ""), func(a *Asked, method string) {
			a.Settles(harness.Turn{}, harness.RequestLine(a.Q.ID(), method, members{"status": "ok", "reason": harness.Reason("stray")}))
			a.Works("next")
		})
	})
}

// strays are requests that no sound runtime writes.
func strays(a *Asked) []byte {
	return slices.Concat(
		harness.RequestLine(a.RT.NewID(), "dshconform/stray", members{"sessionId": a.Q.SessionID()}),
		harness.RequestLine(wire.IntID(7_777_777), "session/prompt", members{"sessionId": "x", "contentBlocks": []any{}}),
		harness.RequestLine(a.RT.NewID(), "ping", nil),
	)
}
