package protocol

import (
	"bytes"
	"slices"

	"github.com/dshconform/dshconform/harness/wire"
)

// allowance is a line of the client to which replies may come that name no request:
// a batch, a request whose id is null, a line that only some readers take for a frame.
type allowance struct {
	age
	left int // replies
}

// age tells how long ago a line of the client was written that need not be answered.
// A reply to it is not waited for without end, or it would account for whatever comes
// later without being asked for.
//
// An answer to a later request proves only that the line was read, since a server may
// serve several requests at once. So it takes two: the second of them asked when the
// first was answered. What names a method of the protocol may take any time (a turn, a
// handshake), and never gets old.
type age struct {
	written int  // when, by the clock of requests
	read    int  // when the first later request was answered, 0 before
	slow    bool // it never gets old
	old     bool
}

// answered tells that a request which was written at asked is answered now.
func (a *age) answered(asked, now int) {
	switch {
	case a.slow || a.old:
	case a.read == 0 && asked > a.written:
		a.read = now
	case a.read != 0 && asked > a.read:
		a.old = true
	}
}

// takesTime reports whether a line that is no frame may hold a request that takes time.
func takesTime(l wire.Line) bool {
	return slices.ContainsFunc([]string{`\u`, MethodInitialize, "prompt", MethodShutdown}, func(mark string) bool {
		return bytes.Contains(l.Raw, []byte(mark))
	})
}

// allow notes that n replies which name no request may come to what is written now.
func (r *requests) allow(n int, slow bool) *allowance {
	a := &allowance{age: age{written: r.clock, slow: slow}, left: n}
	r.allowances = append(r.allowances, a)
	if len(r.allowances) > rememberedLines {
		first := r.allowances[0]
		r.allowances = r.allowances[1:]
		r.allowances[0].left += first.left
		r.allowances[0].slow = r.allowances[0].slow || first.slow
	}
	return a
}

// mayReply reports whether a reply that names no request is accounted for.
func (r *requests) mayReply() bool {
	return r.anyReply || slices.ContainsFunc(r.allowances, func(a *allowance) bool { return a.left > 0 })
}

// spend takes such a reply for one that may come. Those that get old go first: the
// others can wait.
func (r *requests) spend() bool {
	if r.anyReply {
		return true
	}
	for _, slow := range []bool{false, true} {
		for _, a := range r.allowances {
			if a.slow == slow && a.left > 0 {
				a.left--
				return true
			}
		}
	}
	return false
}

// grow tells the lines that need not be answered that the request q is answered now.
func (r *requests) grow(q *Request) {
	if !q.Owed {
		return
	}
	r.clock++
	r.allowances = slices.DeleteFunc(r.allowances, func(a *allowance) bool {
		a.answered(q.written, r.clock)
		return a.old || a.left <= 0
	})
	r.optional = slices.DeleteFunc(r.optional, (*Request).Settled)
	for _, open := range r.optional {
		open.answered(q.written, r.clock)
	}
}

// mostOptional bounds how many requests that need not be answered are waited for.
const mostOptional = 1024

// wait notes a request that need not be answered. Where there are too many, the first
// that is old is forgotten, or else the first.
func (r *requests) wait(q *Request) {
	r.optional = append(r.optional, q)
	if len(r.optional) <= mostOptional {
		return
	}
	at := max(0, slices.IndexFunc(r.optional, func(q *Request) bool { return q.old }))
	r.remove(r.optional[at])
	r.optional = slices.Delete(r.optional, at, at+1)
}
