package parity

import (
	"slices"
	"strings"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// closing: how a client lets go of its runtime.
func closing(s *suite) {
	s.play("P-CLS-01", func(p *Play) {
		for i, in := range []input[harness.Behaviour]{
			{"lives on until stdin ends", harness.Behaviour{IgnoreShutdown: true}},
			{"lives on until SIGTERM", harness.Behaviour{IgnoreShutdown: true, IgnoreEOF: true}},
			{"ignores everything", harness.Stubborn()},
		} {
			p.part("a runtime that "+in.name, func() {
				peer := p.LaunchWith(in.value, p.briefClose)
				peer.closes("close")
				peer.p.runtimeOf(peer.Client, peer.RT)
				p.see("steps", "%s", steps(peer.RT, i+2))
			})
		}
	})
	s.play("P-CLS-02", func(p *Play) {
		p.part("twice", func() {
			peer := p.Launch()
			peer.closes("close")
			peer.closes("second close")
			p.reused(peer.Client)
		})
		p.part("before start", func() {
			c := p.client(nil)
			p.closes(c, "close")
			p.reused(c)
		})
	})
	s.play("P-CLS-03", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		a.closes("close")
		a.Ends()
	})
	s.play("P-CLS-04", func(p *Play) {
		for _, way := range deaths {
			p.part(way.name, func() {
				peer := p.Launch()
				way.do(peer)
				p.must(peer.RT.AwaitGone(p.ctx, p.patience()))
				peer.closes("close")
			})
		}
		p.part("refuses shutdown", func() {
			peer := p.LaunchWith(harness.Behaviour{Manual: []string{protocol.MethodShutdown}}, p.briefClose)
			call, err := peer.GoClose(p.ctx)
			if err != nil {
				p.failed(err)
			}
			if q, err := peer.RT.Next(p.ctx, protocol.MethodShutdown); err == nil {
				err = peer.RT.Write(p.ctx, q.Error(protocol.CodeHandler, "not now"))
				p.whoseFault(err)
			}
			p.ends("close", call, p.patience()+peer.Graces())
		})
	})
}

func (peer *Peer) closes(name string) { peer.p.closes(peer.Client, name) }

func (p *Play) closes(c *harness.Client, name string) {
	call, err := c.GoClose(p.ctx)
	if err != nil {
		p.failed(err)
	}
	p.ends(name, call, p.c.sdk.Deadlines().Exit+c.Graces())
}

// runtimeOf sees whether the process of a runtime is ended that was told to end, or
// whose client has failed.
func (p *Play) runtimeOf(c *harness.Client, rt *harness.Runtime) {
	err := rt.AwaitGone(p.ctx, c.Graces()+p.c.sdk.Deadlines().Leave)
	p.see("runtime", "%s", map[bool]string{true: "is ended", false: "lives on"}[err == nil])
}

// steps are the first that a client took to end its runtime, each once. Behind the one
// at which the runtime ends others may follow, or not: it is a race.
func steps(rt *harness.Runtime, most int) string {
	var seen []string
	for _, s := range rt.Steps() {
		if name := s.String(); s.Kind != harness.StepExited && !slices.Contains(seen, name) {
			seen = append(seen, name)
		}
	}
	return strings.Join(seen[:min(len(seen), most)], ", ")
}

// reused calls a client that was closed, which may launch a runtime anew.
func (p *Play) reused(c *harness.Client) {
	launches := c.Relay().Launches()
	call, err := c.GoPrompt(p.ctx, harness.Prompt{SessionID: p.session(), Text: "is anybody there?"})
	if err != nil {
		p.failed(err)
	}
	p.launched(c, call)
	p.ends("later", call, p.patience())
	p.see("launches", "%d", c.Relay().Launches()-launches)
}
