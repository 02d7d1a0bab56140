package model

import (
	"context"
	"fmt"
	"sync"
)

// A record keeps the calls of a stub within bounds. What is dropped is always the oldest: bodies first, then
// parsed messages, then whole calls; the newest call keeps its messages whatever their size.
type record struct {
	keepBody, keepBodies, keepTexts int64
	keepCalls                       int

	order sync.Mutex // held over numbering and observing, so that observers see calls in the order of Seq

	mu        sync.Mutex
	observers map[int]func(Call)
	observed  int // observers ever added
	last      int // Seq of the newest call
	calls     []Call
	bodies    int64 // bytes of the bodies in calls
	bodyAt    int   // index of the first call that may have a body
	texts     int64 // bytes of the messages in calls
	textAt    int   // index of the first call that may have messages
	changed   chan struct{}
}

// add numbers and keeps the call, tells the observers, and gives it back with its number.
func (r *record) add(c Call) Call {
	r.order.Lock()
	defer r.order.Unlock()
	r.mu.Lock()
	r.last++
	c.Seq = r.last
	observers := make([]func(Call), 0, len(r.observers))
	for i := range r.observed {
		if f, ok := r.observers[i]; ok {
			observers = append(observers, f)
		}
	}
	r.keep(c)
	r.broadcast()
	r.mu.Unlock()
	for _, f := range observers {
		f(c)
	}
	return c
}

func (r *record) keep(c Call) {
	if int64(len(c.Body)) > r.keepBody {
		c.Body = nil
	}
	r.calls = append(r.calls, c)
	r.bodies += int64(len(c.Body))
	r.texts += c.textSize()
	for r.bodies > r.keepBodies && r.bodyAt < len(r.calls) {
		old := &r.calls[r.bodyAt]
		r.bodies -= int64(len(old.Body))
		old.Body = nil
		r.bodyAt++
	}
	for r.texts > r.keepTexts && r.textAt < len(r.calls)-1 {
		old := &r.calls[r.textAt]
		r.texts -= old.textSize()
		old.Messages, old.Tools, old.Trimmed = nil, nil, true
		r.texts += old.textSize()
		r.textAt++
	}
	if len(r.calls) > r.keepCalls {
		old := &r.calls[0]
		r.bodies -= int64(len(old.Body))
		r.texts -= old.textSize()
		*old = Call{} // the array behind the slice lives on until append moves it
		r.calls = r.calls[1:]
		r.bodyAt, r.textAt = max(0, r.bodyAt-1), max(0, r.textAt-1)
	}
}

// end notes how the call of that number ended, if it is still kept.
func (r *record) end(seq int, outcome Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return
	}
	if i := seq - r.calls[0].Seq; i >= 0 && i < len(r.calls) {
		r.calls[i].Outcome = outcome
		r.broadcast()
	}
}

// broadcast wakes every waiter. The caller holds mu.
func (r *record) broadcast() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// where gives the calls that match, and a channel that is closed at the next change.
func (r *record) where(match func(Call) bool) ([]Call, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []Call
	for _, c := range r.calls {
		if match(c) {
			found = append(found, c)
		}
	}
	return found, r.changed
}

func (r *record) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.bodies, r.texts, r.bodyAt, r.textAt = nil, 0, 0, 0, 0
}

func (r *record) observe(f func(Call)) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.observed
	r.observed++
	r.observers[id] = f
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.observers, id)
	}
}

// Calls gives copies of the calls that reached the stub since the last [Stub.Forget], in the order of Seq; each
// is in the record before it is answered.
func (s *Stub) Calls() []Call {
	calls, _ := s.record.where(func(Call) bool { return true })
	return calls
}

// CallsByTag gives the calls that the script of that tag answers. There may be more than one for a turn: one for
// each segment of the script, and those that a server repeats or makes besides (a title, a retry).
func (s *Stub) CallsByTag(tag string) []Call {
	calls, _ := s.record.where(func(c Call) bool { return c.Tag == tag })
	return calls
}

// WaitCalls waits until n recorded calls match, and gives all that do. match also sees a call again when its
// Outcome has changed; it must not call the stub.
func (s *Stub) WaitCalls(ctx context.Context, n int, match func(Call) bool) ([]Call, error) {
	for {
		found, changed := s.record.where(match)
		if len(found) >= n {
			return found, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return found, fmt.Errorf("waiting for model calls: %d of %d came: %w", len(found), n, context.Cause(ctx))
		}
	}
}

// WaitTag is [Stub.WaitCalls] for the calls of one tag.
func (s *Stub) WaitTag(ctx context.Context, tag string, n int) ([]Call, error) {
	found, err := s.WaitCalls(ctx, n, func(c Call) bool { return c.Tag == tag })
	if err != nil {
		return found, fmt.Errorf("tag %q: %w", tag, err)
	}
	return found, nil
}

// Forget drops the recorded calls and the gates that are open: for between specs, when no call is being
// answered. Seq goes on. An open gate's name may be used afresh then; a closed one keeps what waits at it.
func (s *Stub) Forget() {
	s.record.forget()
	s.gates.forgetOpen()
}

// OnCall has f called with each call as it is recorded, in the order of Seq and before it is answered, with
// its whole Body whatever the bounds of the record. f must be quick and must not wait for calls. remove ends that.
func (s *Stub) OnCall(f func(Call)) (remove func()) { return s.record.observe(f) }
