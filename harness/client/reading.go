package client

import (
	"context"
	"io"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/protocol"
)

// stallingInput reads stdin only while it is not stalled, and at its pace.
type stallingInput struct{ rt *Runtime }

func (r *stallingInput) Read(p []byte) (int, error) {
	for {
		r.rt.mu.Lock()
		gate, pace := r.rt.unstall, r.rt.pace
		r.rt.mu.Unlock()
		select {
		case <-gate:
		default:
			select {
			case <-gate:
			case <-r.rt.life.Done():
				return 0, io.EOF
			}
			continue // it may have been stalled anew
		}
		if pace.pause > 0 {
			timer := time.NewTimer(pace.pause)
			select {
			case <-timer.C:
			case <-r.rt.life.Done():
				timer.Stop()
				return 0, io.EOF
			}
		}
		if pace.piece > 0 && len(p) > pace.piece {
			p = p[:pace.piece]
		}
		n, err := r.rt.ends[stdin].Read(p)
		if isClosed(err) {
			err = io.EOF
		}
		return n, err
	}
}

// Stall stops the reading of stdin, as a server that is busy does; the pipe fills up. What one read had already taken
// is still delivered. The function that it returns goes on reading; it may be called more than once. Stalls do not
// nest.
func (rt *Runtime) Stall() (resume func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.release() // wakes a reader that waits for an earlier stall, which this one replaces
	gate := make(chan struct{})
	rt.unstall = gate
	return func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		if rt.unstall == gate {
			rt.release()
		}
	}
}

// release goes on reading. The caller holds the lock.
func (rt *Runtime) release() {
	select {
	case <-rt.unstall:
	default:
		close(rt.unstall)
	}
}

// stalled reports whether stdin is not read. The caller holds the lock.
func (rt *Runtime) stalled() bool {
	select {
	case <-rt.unstall:
		return false
	default:
		return true
	}
}

// Pace has stdin read slowly from the next read on: at most piece bytes at a time, and a pause before each. Zeros read
// at full speed again.
func (rt *Runtime) Pace(piece int, pause time.Duration) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.pace.piece, rt.pace.pause = piece, pause
}

// Unread is the number of bytes that wait in the pipe of stdin, which a stalled reader leaves there.
func (rt *Runtime) Unread() (n int, known bool) { return rt.ends[stdin].held() }

// Mark is a place in the conversation.
type Mark int

// Mark is the place behind the last line so far.
func (rt *Runtime) Mark() Mark {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return Mark(rt.seq)
}

func (rt *Runtime) since(m Mark) []Entry {
	i := len(rt.log)
	for i > 0 && rt.log[i-1].Seq >= int(m) {
		i--
	}
	return rt.log[i:]
}

// Since copies the lines from the mark on; Mark 0 gives all.
func (rt *Runtime) Since(m Mark) []Entry {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return append([]Entry(nil), rt.since(m)...)
}

// Inspect calls f with the monitor, locked. It is nil before the launch was accepted.
func (rt *Runtime) Inspect(f func(*protocol.ClientMonitor)) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	f(rt.mon)
}

// Await waits until found gives true. It is called with the lines from the mark on, each once, whenever new ones came;
// an empty slice is a chance to look at something else. The deadline counts from the last byte that the SDK wrote. The
// error is a *GoneError where the process has ended, or stdin has, and a *SilentError where the deadline passed.
func (rt *Runtime) Await(ctx context.Context, awaited string, mark Mark, within time.Duration, found func([]Entry) bool) error {
	return deadline.Wait(ctx, awaited, within, func() deadline.Sight {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		fresh := rt.since(mark)
		mark = Mark(rt.seq)
		sight := deadline.Sight{Done: found(fresh), Moved: rt.moved, Stir: rt.stir}
		how := rt.how
		if how == "" && rt.readErr != nil {
			how = "stdin has ended"
		}
		if how != "" {
			sight.Ended = func() error { return &GoneError{Awaited: awaited, How: how} }
		}
		return sight
	})
}
