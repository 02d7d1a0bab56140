package client

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/spec"
)

// flooding is how many stray requests a flood has.
const flooding = 10_000

// flood makes stray requests of this many bytes each, more or less.
func (p *Peer) flood(size int) []byte {
	filler := strings.Repeat("x", size)
	var b bytes.Buffer
	for range flooding {
		b.Write(harness.RequestLine(p.RT.NewID(), strayMethod, object{"filler": filler}))
	}
	return b.Bytes()
}

// flooded writes a flood and the answer of a prompt behind it, which has to settle.
func (p *Peer) flooded(flood []byte) bool {
	a := p.Ask()
	return a.Settles("the call behind 10,000 stray requests settles", a.Turn(harness.Turn{}), flood)
}

func floodStalls(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	if p.flooded(p.flood(16)) {
		p.Works("the next call works behind 10,000 stray requests")
	}
}

// floodGrows floods again and again: what is kept for good shows as memory that grows
// by what was written. Collectors give back in steps what is not, so that one flood may
// find room for what is kept, too: several are looked at together. One that waits until
// a young generation is full gives it back at one time or another.
func floodGrows(t *T) {
	const size, together, most = 1 << 10, 4, 256 << 20 // a young generation is smaller, where nobody asked for more
	p := t.Launch(protocol.MethodPrompt)
	memory := func() int64 {
		u, err := t.visit.Driver().Usage(t.Ctx)
		t.Need("measure the memory of the driver", err)
		return u.Memory
	}
	requests := p.flood(size)
	flood := func() {
		a := p.Ask()
		t.Need("flood the client", p.RT.Write(t.Ctx, requests, a.Turn(harness.Turn{}).Joined()))
		_, err := a.Outcome(t.Ctx)
		t.Need("the call behind the flood settles", err)
	}
	flood() // what it needs at all
	before := memory()
	floods, grown := 0, int64(0)
	for grown < most {
		for range together {
			flood()
			floods++
		}
		now := memory()
		if now-before < together*flooding*size/2 {
			return
		}
		grown, before = grown+now-before, now
	}
	t.Fail("stray requests do not grow the memory of the client without bound",
		fmt.Sprintf("%d times 10,000 of them, %d MiB each time, and it has grown by %d MiB", floods, flooding*size>>20, grown>>20))
}

// floodSpins looks at the CPU time that goes on being used behind a flood, and compares
// it with that before, as often as a loop of our own has got so much of it: on a machine
// under load that takes a while, and loops don't get equal shares. A process is spinning
// where each time it gets a twentieth of that more, or more than that; what is done once,
// such as a collection of garbage, is over sooner.
func floodSpins(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	cpu := func() time.Duration {
		u, err := t.visit.Driver().Usage(t.Ctx)
		t.Need("measure the CPU time of the driver", err)
		return u.CPU
	}
	const rounds, slice, share = 4, 500 * time.Millisecond, 0.05 // the kernel counts in ticks of 10 ms
	// least is the smallest share of several, or one that is below a bound.
	least := func(bound float64) float64 {
		smallest := math.Inf(1)
		for range rounds {
			before, got := cpu(), time.Duration(0)
			for got < slice {
				got += spec.Spin(slice, t.Ctx.Done())
				t.Conclude(t.Ctx.Err())
			}
			if smallest = min(smallest, float64(cpu()-before)/float64(got)); smallest < bound {
				break
			}
		}
		return smallest
	}
	idle := least(share)
	if idle > 0.5 { // what earlier specs left behind spins: of a process without a past there is telling
		t.visit.Spoil("the CPU is not idle before " + t.ID)
		p = t.Launch(protocol.MethodPrompt)
		idle = least(share)
	}
	if idle > 0.5 {
		t.NotReached("the driver is idle before the flood", fmt.Errorf("it uses %.0f %% of what a loop gets", 100*idle))
	}
	if idle < share {
		idle = 0
	}
	a := p.Ask()
	t.Need("flood the client", p.RT.Write(t.Ctx, p.flood(16), a.Turn(harness.Turn{}).Joined()))
	_, err := a.Outcome(t.Ctx)
	t.Need("the call behind the flood settles", err)
	if bound := idle + share; least(bound) >= bound {
		t.Fail("10,000 stray requests do not leave the client spinning",
			fmt.Sprintf("without a call in flight it goes on using the CPU as a loop does, %d times in a row", rounds))
	}
}
