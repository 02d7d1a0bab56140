package parity

import (
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// concurrency: several calls at once, and pipes that fill.
func concurrency(s *suite) {
	s.play("P-CON-01", func(p *Play) {
		peer := p.Launch(protocol.MethodPrompt)
		one, two := peer.Ask("one"), peer.Ask("two")
		first, second := one.Turn(harness.Turn{}), two.Turn(harness.Turn{Reason: harness.Reason(protocol.KindError)})
		a, b := first.Lines(), second.Lines()
		for i := range max(len(a), len(b)) {
			if i < len(a) {
				one.Write(a[i])
			}
			if i < len(b) {
				two.Write(b[i])
			}
		}
		one.Ends()
		two.Ends()
	})
	s.play("P-CON-02", overlap)
	s.play("P-CON-03", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		noise := []byte(strings.Repeat("a log line that nobody waits for, 64 bytes long with its newline\n", 1<<14))
		if err := a.RT.WriteStderr(p.ctx, noise); err != nil {
			p.whoseFault(err)
			p.see("stderr", "%s", p.came(err))
		}
		a.Settles(harness.Turn{})
	})
	s.play("P-CON-04", func(p *Play) {
		p.whole = true
		peer := p.Launch(protocol.MethodPrompt)
		resume := peer.RT.Stall()
		defer resume()
		const size = 16 << 20
		text := strings.Repeat("some text of 16 ", size/16)
		call, err := peer.GoPrompt(p.ctx, harness.Prompt{SessionID: p.session(), Text: text})
		if err != nil {
			p.failed(err)
		}
		peer.RT.Pace(64<<10, 100*time.Microsecond)
		resume()
		q, err := peer.RT.NextPrompt(p.ctx, "s1")
		a := &Asked{Call: p.visit.Own(call), Peer: peer, Q: q, name: "call"}
		if err != nil {
			p.whoseFault(err)
			a.Ends()
			return
		}
		a.Settles(harness.Turn{Unquoted: true})
	})
}

// overlap prompts on a session whose turn runs. The runtime refuses where the profile
// does so.
func overlap(p *Play) {
	peer := p.Launch(protocol.MethodPrompt)
	first := peer.Ask("first")
	second := peer.AskOn("second", first.Q.SessionID())
	if p.Profile == protocol.Receipt {
		first.Settles(harness.Turn{})
		second.Settles(harness.Turn{})
		return
	}
	second.told = "session already has an active prompt: s1"
	second.Write(second.Q.Refused())
	second.Ends()
	first.Settles(harness.Turn{})
	peer.AskOn("next", first.Q.SessionID()).Settles(harness.Turn{})
}
