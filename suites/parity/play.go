package parity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/suites/sdk"
)

// Play is a scenario that plays on one client. It belongs to one goroutine.
type Play struct {
	Profile protocol.Profile
	Hello   harness.Hello // what the driver offers

	ctx     context.Context
	run     *runner
	c       *contestant
	players []*contestant // those that play the scenario
	visit   *sdk.Visit
	view    *view

	label    string          // of the part that plays, in front of the names of fields
	known    map[string]bool // the sessions that it has made up
	made     []string        // the sessions that the SDK has made up
	sessions int             // made so far in this part
	peers    []*Peer
	again    *Peer  // to be asked once more where its call fails, see [Peer.hangs]
	unseen   string // the session of that, whose frames are not looked at
	whole    bool   // frames are compared as a whole
}

// stop ends a part of a play, or all of it: what was seen says why.
type stop struct{}

// fault ends all plays: the driver is at fault, the suite could not go on, or the run
// was stopped.
type fault struct{ err error }

// failed ends the play for an error that is no client's.
func (p *Play) failed(err error) { panic(fault{err}) }

// see leaves what was seen in the view.
func (p *Play) see(field, format string, args ...any) {
	p.view.set(p.label+field, value{text: fmt.Sprintf(format, args...)})
}

func (p *Play) seeList(field string, list []item) {
	p.view.set(p.label+field, value{list: list, lists: true})
}

// part plays something on clients of its own, which are let go of at its end. Where it
// stops early, what is behind it plays all the same. Parts do not nest, but for the
// whole of a scenario.
func (p *Play) part(label string, script func()) {
	outer, whole := p.label, p.whole
	if label != "" {
		p.label += label + ": "
	}
	p.sessions, p.peers, p.known, p.made, p.unseen = 0, nil, map[string]bool{}, nil, ""
	defer func() {
		switch r := recover().(type) {
		case nil, stop:
		default:
			panic(r)
		}
		p.seeFrames()
		p.label, p.whole = outer, whole
		if err := p.visit.Release(p.ctx); err != nil {
			p.failed(err)
		}
	}()
	script()
}

// seeFrames leaves what the SDKs wrote. What stands around the handshake is looked at
// where that is what the scenario is about: elsewhere it would differ in all of them.
func (p *Play) seeFrames() {
	for i, peer := range p.peers {
		from := handshake(peer.RT)
		if peer.fromStart {
			from = 0
		}
		var list []item
		for _, e := range peer.RT.Since(0) {
			if e.Dir != wire.ClientToServer {
				continue
			}
			if from--; from < 0 && (p.unseen == "" || sessionOf(e.Message) != p.unseen) {
				list = append(list, p.frame(e.Message, e.Raw, p.whole))
			}
		}
		field := "frames"
		if i > 0 {
			field = fmt.Sprintf("frames of client %d", i+1)
		}
		p.view.set(p.label+field, value{list: list, lists: true, part: p.label, frames: true})
	}
	p.peers = nil
}

func sessionOf(m wire.Message) string {
	params, _ := wire.AsObject(m.Params)
	id, _ := params.String("sessionId")
	return id
}

// handshake counts the frames up to the first request behind initialize.
func handshake(rt *harness.Runtime) (n int) {
	for _, e := range rt.Since(0) {
		if e.Dir != wire.ClientToServer {
			continue
		}
		if e.Message.Kind == wire.Request && n > 0 {
			return n
		}
		n++
	}
	return n
}

// whoseFault ends all plays where an error is not the SDK's to be seen.
func (p *Play) whoseFault(err error) {
	if p.ctx.Err() != nil || harness.DriverFault(err) {
		p.failed(err)
	}
}

// client makes a client of the SDK; nothing is launched.
func (p *Play) client(change func(*harness.CreateOptions)) *harness.Client {
	c, err := p.visit.Create(p.ctx, change)
	if err != nil {
		p.whoseFault(err)
		p.see("create", "%s", p.came(err))
		panic(stop{})
	}
	return c
}

// Launch makes a client and has it launch its runtime, which leaves these methods to
// the script.
func (p *Play) Launch(manual ...string) *Peer {
	return p.LaunchWith(harness.Behaviour{Manual: manual}, nil)
}

// LaunchWith is Launch for another behaviour and changed options.
func (p *Play) LaunchWith(b harness.Behaviour, change func(*harness.CreateOptions)) *Peer {
	c := p.client(change)
	rt, err := c.Launch(p.ctx, b)
	if err != nil {
		p.whoseFault(err)
		p.see("launch", "%s", p.came(err))
		panic(stop{})
	}
	return p.meet(c, rt)
}

// meet has what the SDK writes be looked at.
func (p *Play) meet(c *harness.Client, rt *harness.Runtime) *Peer {
	peer := &Peer{Client: c, RT: rt, p: p}
	p.peers = append(p.peers, peer)
	return peer
}

// session gives the id of a further session. Every client has the same ones.
func (p *Play) session() string {
	p.sessions++
	id := fmt.Sprintf("s%d", p.sessions)
	p.known[id] = true
	return id
}

// offers reports whether every client offers something, so that the script can use it:
// one that another does not is no difference.
func (p *Play) offers(has func(harness.Hello) bool) bool {
	return !slices.ContainsFunc(p.players, func(c *contestant) bool { return !has(c.sdk.Hello()) })
}

// takes reports whether every client has a time-out that can be set.
func (p *Play) takes(timeout string) bool {
	return p.offers(func(h harness.Hello) bool { return h.Takes(timeout) })
}

const hangs = "hangs"

// came says what an error of a step comes to, in the words that all clients share.
func (p *Play) came(err error) string {
	var silent *harness.SilentError
	var ended *harness.EndedError
	var write *harness.WriteError
	e := harness.Raised(err)
	switch {
	case e != nil:
		return "fails (" + string(e.Class) + ")"
	case errors.As(err, &silent):
		p.visit.Spoil("something hangs in it")
		return hangs
	case errors.As(err, &ended):
		return "the process of the client ends"
	case errors.As(err, &write):
		return "reads no more"
	}
	return "does not come about"
}

// ends waits for the end of a call and leaves what it came to under its name. Where it
// has none the part ends. It reports whether the call succeeded.
func (p *Play) ends(name string, c *harness.Call, within time.Duration) (harness.Reply, bool) {
	reply, err := p.visit.Own(c).AwaitWithin(p.ctx, within)
	if err != nil {
		p.whoseFault(err)
		p.view.end(p.label, name, p.came(err))
		p.visit.Spoil("a call hangs in it")
		panic(stop{})
	}
	if e := reply.Err; e != nil {
		if p.again != nil && e.Class != harness.ClassRemote && p.again.hangs() {
			p.view.end(p.label, name, hangs)
			panic(stop{})
		}
		p.view.end(p.label, name, "fails")
		p.see(name+".error.class", "%s", e.Class)
		return reply, false
	}
	p.view.end(p.label, name, "succeeds")
	return reply, true
}

// patience is how long a call may take that nothing holds up.
func (p *Play) patience() time.Duration { return p.c.sdk.Deadlines().Call }
