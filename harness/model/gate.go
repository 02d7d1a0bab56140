package model

import (
	"context"
	"fmt"
	"sort"
	"sync"
)

// A Gate holds model calls until a spec opens it. Gates are named by the scripts that wait at them; one that
// nobody asked for yet is made on first use by either side, so it may be opened before it is reached. Names are
// shared by the whole stub: begin them with the tag of the script.
type Gate struct {
	name    string
	opened  chan struct{}
	reached chan struct{}

	mu      sync.Mutex
	open    bool
	arrived int           // calls that ever came here
	waiting int           // calls that wait here now
	changed chan struct{} // closed and renewed at each arrival
}

func newGate(name string) *Gate {
	return &Gate{
		name:    name,
		opened:  make(chan struct{}),
		reached: make(chan struct{}),
		changed: make(chan struct{}),
	}
}

// Name is the name that scripts use.
func (g *Gate) Name() string { return g.name }

// Open lets every call pass, those that come later too. It may be called more than once.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		g.open = true
		close(g.opened)
	}
}

// IsOpen tells whether [Gate.Open] was called.
func (g *Gate) IsOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// Reached is closed when a model call first comes to the gate, open or not. All that the script wrote before
// has been flushed to the subject by then.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// WaitReached waits for [Gate.Reached].
func (g *Gate) WaitReached(ctx context.Context) error { return g.WaitCount(ctx, 1) }

// WaitCount waits until n model calls have come to the gate, in all.
func (g *Gate) WaitCount(ctx context.Context, n int) error {
	for {
		g.mu.Lock()
		arrived, changed := g.arrived, g.changed
		g.mu.Unlock()
		if arrived >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for model calls at gate %q: %d of %d came: %w", g.name, arrived, n, context.Cause(ctx))
		}
	}
}

// Waiting is the number of calls that the gate holds now.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}

// wait holds a model call until the gate is open or ctx ends.
func (g *Gate) wait(ctx context.Context) error {
	g.mu.Lock()
	g.arrived++
	g.waiting++
	if g.arrived == 1 {
		close(g.reached)
	}
	close(g.changed)
	g.changed = make(chan struct{})
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.waiting--
		g.mu.Unlock()
	}()
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting at gate %q: %w", g.name, context.Cause(ctx))
	}
}

// gates are all gates of a stub.
type gates struct {
	mu     sync.Mutex
	byName map[string]*Gate
	closed bool // the stub is closing: every gate is open
}

func (g *gates) get(name string) *Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	gate, ok := g.byName[name]
	if !ok {
		gate = newGate(name)
		if g.closed {
			gate.Open()
		}
		if g.byName == nil {
			g.byName = map[string]*Gate{}
		}
		g.byName[name] = gate
	}
	return gate
}

func (g *gates) all() []*Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*Gate, 0, len(g.byName))
	for _, gate := range g.byName {
		list = append(list, gate)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	return list
}

// forgetOpen drops the gates that can hold nobody, so that a name may be used afresh and a night of
// sequences does not pile them up.
func (g *gates) forgetOpen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, gate := range g.byName {
		if gate.IsOpen() {
			delete(g.byName, name)
		}
	}
}

func (g *gates) openAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, gate := range g.byName {
		gate.Open()
	}
}
