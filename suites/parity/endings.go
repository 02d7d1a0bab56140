package parity

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// endings: what a caller sees when the runtime is gone, or silent.
func endings(s *suite) {
	s.play("P-END-01", func(p *Play) {
		for _, way := range deaths {
			p.part(way.name, func() {
				a := p.Launch(protocol.MethodPrompt).Ask("call")
				way.do(a.Peer)
				a.Ends()
			})
			p.part(way.name+", in its turn", func() {
				a := p.Launch(protocol.MethodPrompt).Ask("call")
				turn := a.Turn(harness.Turn{})
				lines := turn.Before[:2]
				if p.Profile == protocol.Receipt {
					lines = append(turn.Before, turn.Response, turn.After[0])
				}
				a.Write(lines...)
				way.do(a.Peer)
				a.Ends()
			})
		}
	})
	s.play("P-END-02", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		a.Write(a.Turn(harness.Turn{Between: func(s *harness.Session) [][]byte { return numbered(s, 0, 200) }}).Joined())
		a.exits(0)
		a.Ends()
	})
	s.play("P-END-03", func(p *Play) {
		p.part("stdout, in a call", func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			p.must(a.RT.CloseOutput(p.ctx))
			a.Ends()
			a.later()
		})
		p.part("stdin, before a call", func() {
			peer := p.Launch(protocol.MethodPrompt)
			p.must(peer.RT.CloseInput(p.ctx))
			peer.later()
		})
		p.part("stderr, in a call", func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			p.must(a.RT.CloseStderr(p.ctx))
			a.Settles(harness.Turn{})
			a.Works("next")
		})
	})
	s.play("P-END-04", func(p *Play) {
		for _, way := range deaths {
			p.part(way.name, func() {
				peer := p.Launch()
				peer.goes(way.do)
				peer.later()
				p.see("launches", "%d", peer.Relay().Launches())
			})
		}
	})
	s.play("P-END-05", func(p *Play) {
		const code, exit, words = 73, "73", "the runtime's last words"
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		p.must(a.RT.WriteStderr(p.ctx, []byte("some log line\nfatal: "+words+"\n")))
		a.goes(func(peer *Peer) { peer.exits(code) })
		a.Ends()
		// What the call in flight is told is a race of the end of stdout with the exit, which the parent learns of last.
		for end := time.Now().Add(p.c.sdk.Deadlines().Leave); !a.firstLater().tells(exit) && time.Now().Before(end); {
			select { // no event tells when a parent can learn of an exit
			case <-time.After(10 * time.Millisecond):
			case <-p.ctx.Done():
			}
		}
		if reply, ok := a.later(); !ok {
			p.see("later.error tells the exit code", "%t", told(reply).tells(exit))
			p.see("later.error tells the end of stderr", "%t", told(reply).tells(words))
		}
	})
	s.play("P-END-06", func(p *Play) {
		peer := p.LaunchWith(harness.Behaviour{Manual: []string{protocol.MethodPrompt}}, func(o *harness.CreateOptions) { o.CallTimeout = p.run.brief() })
		a := peer.Ask("call")
		if !a.Ends() {
			next := peer.Ask("next")
			next.Settles(harness.Turn{}, a.Turn(harness.Turn{Text: "too late"}).Joined())
		}
	})
	s.play("P-END-07", func(p *Play) {
		for _, end := range []string{"is silent", "exits"} {
			p.part("a runtime that "+end, func() { p.unanswered(end == "exits") })
		}
	})
}

// deaths are the ways in which a process ends.
var deaths = []struct {
	name string
	do   func(*Peer)
}{
	{"exits with 0", func(peer *Peer) { peer.exits(0) }},
	{"exits with 3", func(peer *Peer) { peer.exits(3) }},
	{"dies by SIGKILL", func(peer *Peer) { peer.p.must(peer.RT.Die(syscall.SIGKILL)) }},
}

func (peer *Peer) exits(code int) { peer.p.must(peer.RT.Exit(code)) }

// must ends all plays where what the runtime does does not come about.
func (p *Play) must(err error) {
	if err != nil {
		p.failed(fmt.Errorf("the scripted runtime: %w", err))
	}
}

// goes has the runtime end, and waits for it. Its stdin goes first: the kernel closes
// one stream after the other, and a call in between may find it open and wait for good.
func (peer *Peer) goes(die func(*Peer)) {
	p := peer.p
	p.must(peer.RT.CloseInput(p.ctx))
	die(peer)
	p.must(peer.RT.AwaitGone(p.ctx, p.patience()))
}

// later sees what a call gets whose runtime is gone: the second one, since the first
// may still be in flight when the SDK notices.
func (peer *Peer) later() (harness.Reply, bool) {
	peer.firstLater()
	return peer.p.ends("later", peer.asksAnybody(), peer.p.patience())
}

// told is a reply, for what its error tells.
type told harness.Reply

func (r told) tells(what string) bool {
	return r.Err != nil && strings.Contains(r.Err.Message+" "+string(r.Err.Data), what)
}

func (peer *Peer) firstLater() told {
	p := peer.p
	reply, err := p.visit.Own(peer.asksAnybody()).AwaitWithin(p.ctx, p.patience())
	if err != nil {
		p.whoseFault(err)
		p.see("first later", "%s", p.came(err))
		panic(stop{})
	}
	return told(reply)
}

// asksAnybody prompts where nobody may be there to answer.
func (peer *Peer) asksAnybody() *harness.Call {
	call, err := peer.GoPrompt(peer.p.ctx, harness.Prompt{SessionID: peer.p.session(), Text: "is anybody there?"})
	if err != nil {
		peer.p.failed(err)
	}
	return call
}

// unanswered leaves initialize without an answer.
func (p *Play) unanswered(exits bool) {
	if !exits && !p.takes("initialize") {
		p.see("initialize", "no time-out can be set with all")
		return
	}
	c := p.client(func(o *harness.CreateOptions) {
		p.briefClose(o)
		if !exits {
			o.InitializeTimeout = p.run.brief()
		}
	})
	rt, call, err := c.Begin(p.ctx, harness.Behaviour{Manual: []string{protocol.MethodInitialize}})
	if err == nil {
		_, err = rt.Next(p.ctx, protocol.MethodInitialize)
	}
	if err != nil {
		p.whoseFault(err)
		p.see("launch", "%s", p.came(err))
		panic(stop{})
	}
	if exits {
		p.must(rt.Exit(3))
	}
	if _, ok := p.ends("initialize", call, p.patience()+c.Graces()); !ok && !exits {
		p.runtimeOf(c, rt)
	}
}
