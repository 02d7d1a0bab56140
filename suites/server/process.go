package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/suites/spec"
)

// processRows: the server as a program among others.
func processRows(s *suite) {
	s.It("S-PRC-01", 1, func(t *T) {
		// The harness looks at every process that ends by itself; this makes sure that
		// there is one, and that it has worked.
		srv := t.Fresh()
		if !t.WithoutModel() {
			t.Run(srv, t.Session(), model.Text("An ordinary turn."))
			t.heldChild(srv)
		}
		_, err := srv.Shutdown(t.Ctx)
		t.Conclude(err)
		t.Exercised(srv, "S-PRC-01")
	})
	s.It("S-PRC-02", 1, func(t *T) {
		srv, c := t.unheard()
		e := srv.AwaitExit(t.Ctx)
		t.Conclude(t.Ctx.Err())
		t.Expect(e.Exited, "once the client has closed stdout the server ends at its next write", "it still runs when the bound has passed", c.Line)
	})
	s.It("S-PRC-03", shared, func(t *T) {
		srv := t.Shared()
		if !t.WithoutModel() {
			t.Run(srv, t.Session(), model.Text("An ordinary turn."))
		}
		t.Barrier(srv)
		t.Observe("bytes on stderr, most of one process", "%s", amount(t.run.mostStderr()))
	})
	s.It("S-PRC-04", shared, func(t *T) {
		srv := t.Raw()
		t.Need("send SIGTERM", srv.Terminate())
		e := srv.AwaitExit(t.Ctx)
		t.Conclude(t.Ctx.Err())
		t.Observe("SIGTERM during start-up", "%s", exitOf(e))
	})
	s.It("S-PRC-05", shared, stderrFlood)
	s.It("S-PRC-06", 1, busyUnheard)
}

// unheard gives a process whose stdout the client has closed, with a request
// that makes it write. More requests follow while it lives: between the suite and
// the server there may be pipes of somebody else (a wrapper, a proxy), which swallow
// the first write and refuse the next.
func (t *T) unheard() (*harness.Server, *harness.Call) {
	srv := t.Fresh()
	t.Need("close stdout", srv.CloseOutput())
	var first *harness.Call
	for range 3 {
		c, err := srv.SendLine(t.Ctx, t.sure(srv))
		if first == nil {
			if first = c; c == nil {
				t.Need("write a request", err)
			}
		}
		if c != nil {
			c.Disown() // nobody can see its response
		}
		if err != nil {
			break // it reads no more: it is ending
		}
		t.grace(srv, srv.Process().Exited())
	}
	return srv, first
}

// busyUnheard measures the CPU time of a process that nobody hears, over some
// windows of time or until it has ended. It is busy where it works in each of them
// and gets, of all of them, a third of what a loop of our own gets: on a machine
// under load that may be little, so that windows grow until ours has run for a while,
// and what a process does once, to end, is over sooner.
func busyUnheard(t *T) {
	srv, c := t.unheard()
	const windows = 3
	window := 5 * srv.Deadlines().Grace
	t.grace(srv, srv.Process().Exited()) // the write fails and the server takes note
	last, alive := t.cpu(srv)
	var used, got time.Duration
	for range windows {
		if !alive {
			return // what it used while it ended is no loop
		}
		ran := spec.Spin(window, srv.Process().Exited(), t.Ctx.Done())
		for more := 2; ran < window/8 && more > 0; more-- {
			ran += spec.Spin(window, srv.Process().Exited(), t.Ctx.Done())
		}
		t.Conclude(t.Ctx.Err())
		now, lives := t.cpu(srv)
		if now-last < window/20 {
			return
		}
		used, got, last, alive = used+now-last, got+ran, now, lives
	}
	t.Expect(!alive || used < got/3, "once the client has closed stdout the server does not keep a CPU busy", "it uses all the CPU time that it can get", c.Line)
}

// cpu is the CPU time that a process has used, and whether it lives.
func (t *T) cpu(srv *harness.Server) (used time.Duration, alive bool) {
	used, err := srv.Process().CPU(t.Ctx)
	if err != nil { // its end is known a moment later than it shows
		t.grace(srv, srv.Process().Exited())
	}
	select {
	case <-srv.Process().Exited():
		return used, false
	default:
		t.Need("read the CPU time", err)
		return used, true
	}
}

// mostStderr is the largest number of bytes that a process of the run has
// written to stderr.
func (r *runner) mostStderr() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := int64(0)
	for _, s := range r.all {
		most = max(most, s.Process().Stderr().Total)
	}
	return most
}

// amount tells a number of bytes so roughly that it does not vary between runs.
func amount(n int64) string {
	switch {
	case n == 0:
		return "none"
	case n <= 4<<10:
		return "up to 4 KiB"
	case n <= 256<<10:
		return "up to 256 KiB"
	case n <= 16<<20:
		return "up to 16 MiB"
	}
	return "more than 16 MiB"
}

// floodSize is how much the target promises to write to stderr.
const floodSize = 1 << 20

// stderrFlood holds the same conversation with a process that floods stderr and
// with one that does not: what the monitor finds in the first alone is the
// flood's doing.
func stderrFlood(t *T) {
	var mu sync.Mutex
	var found []protocol.Violation
	var total int64
	reached := make(chan struct{})
	srv := t.RawWith(func(l *harness.Launch) {
		flood := t.run.cfg.Target.StderrFlood
		l.Command.Argv = append(append([]string{}, l.Command.Argv...), t.run.expandAll(flood.Args)...)
		l.Command.Env = append([]string{}, l.Command.Env...)
		for _, v := range flood.Env {
			l.Command.Env = append(l.Command.Env, v.Name+"="+t.run.expand(v.Value))
		}
		l.Command.OnStderr = func(p []byte) {
			mu.Lock()
			defer mu.Unlock()
			if total < floodSize && total+int64(len(p)) >= floodSize {
				close(reached)
			}
			total += int64(len(p))
		}
		l.OnViolation = func(_ *harness.Server, v protocol.Violation) {
			mu.Lock()
			defer mu.Unlock()
			found = append(found, v)
		}
	})
	const expected = "a server that writes 1 MiB to stderr serves as always"
	if !t.Judge(srv.Initialize(t.Ctx), expected) {
		return
	}
	ok := t.converse(srv, expected)
	timer := time.NewTimer(srv.Deadlines().Turn)
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C:
		if ok {
			mu.Lock()
			n := total
			mu.Unlock()
			t.NotReached("the server writes 1 MiB to stderr", fmt.Errorf("%s came", amount(n)))
		}
	case <-t.Ctx.Done():
		t.Conclude(t.Ctx.Err())
	}
	if ok = ok && t.converse(srv, expected); !ok {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	if len(found) == 0 {
		return
	}
	quiet := t.Shared()
	for range 2 {
		t.converse(quiet, "the same conversation without a flood")
	}
	for _, v := range found {
		if quiet.Violations(v.Row) == 0 {
			t.Fail("1 MiB on stderr changes nothing on stdout", v.Actual, v.Frames...)
			return
		}
	}
}

// converse sends requests and runs a turn.
func (t *T) converse(srv *harness.Server, expected string) bool {
	for range 20 {
		if !t.Served(srv, expected) {
			return false
		}
	}
	return t.WithoutModel() || t.Works(srv, expected)
}
