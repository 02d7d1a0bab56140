package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Entry is one line of the conversation with what was made of it.
type Entry struct {
	wire.Line
	Message  wire.Message
	Answered *protocol.Request // the request that a response settles
}

// Server is one process of the subject.
type Server struct {
	launch    *Launch
	proc      *process.Process
	deadlines Deadlines

	writing sync.Mutex // held for the length of one Write: bytes of two never mix
	in      wire.Splitter
	closed  bool // stdin; guarded by writing

	mu        sync.Mutex
	mon       *protocol.Monitor
	log       []Entry
	seq       int
	bytes     int64 // read from stdout
	junk      int64 // what lines that are no frames have cost
	kept      int64 // what the frames in the log have cost
	moved     time.Time
	stir      chan struct{} // closed and replaced whenever something changed
	unstall   chan struct{} // closed while stdout is read
	over      bool          // stdout is not to be stalled any more
	readErr   error
	startup   time.Duration
	nextID    int
	barrier   int  // index in Barriers
	told      bool // shutdown was answered, or stdin ended: the end is by the protocol
	ending    *Ending
	exercised map[string]int // rows that are judged here and not by the monitor
	spoiled   string         // why the process must not serve another spec

	wrote     atomic.Int64  // bytes that went into stdin
	ended     chan struct{} // closed when stdout is read no more
	finishing sync.Mutex    // held by the one who ends the process
}

// What is read before the subject counts as flooding. Each line costs its bytes
// and lineCost besides, since what it takes to keep one is not less.
const (
	// mostJunk bounds what is no frame. A banner or a log on stdout stays far below.
	mostJunk = 64 << 20
	// mostKept bounds the frames between two calls of Forget. The largest stimulus
	// of a requirement makes 16 MiB of text, which public servers tell five times.
	mostKept = 512 << 20
	lineCost = 512
	// wholeJunk bounds a line that is no frame, in bytes, which is kept whole.
	wholeJunk = 64 << 10
)

// limits are those bounds, smaller ones in a test.
type limits struct{ junk, kept int64 }

// read owns stdout until it ends. It is the only goroutine that reads it.
func (s *Server) read() {
	defer close(s.ended)
	source := &stalling{s: s}
	scan := wire.NewScanner(source, 0)
	scan.Moved = func(n int) {
		if endless := scan.Pending(); endless > wire.MaxLine {
			source.refuse = &FloodError{Bytes: endless, What: "a line that does not end"}
		}
		s.mu.Lock()
		s.bytes += int64(n)
		s.moved = time.Now()
		s.mu.Unlock()
	}
	for {
		line, err := scan.Next()
		s.mu.Lock()
		if err == nil {
			line.Dir = wire.ServerToClient
			s.take(line)
			if err = source.refuse; err == nil {
				err = s.flooded()
			}
		}
		if err != nil {
			var flood *FloodError
			if errors.As(err, &flood) {
				err = flood
				s.proc.Stdout().Close() // or the subject waits for a reader for good
			}
			s.readErr = err
			s.wake()
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// flooded says whether more was read than anybody waits for.
func (s *Server) flooded() error {
	switch {
	case s.junk > s.launch.limits.junk:
		return &FloodError{Bytes: s.junk, What: "what is no frame"}
	case s.kept > s.launch.limits.kept:
		return &FloodError{Bytes: s.kept, What: "frames that nobody waits for"}
	}
	return nil
}

// take gives a line of the subject to the monitor, the log and the waiters.
func (s *Server) take(line wire.Line) {
	line.Seq = s.seq
	s.seq++
	o := s.mon.Server(line)
	if o.Message.Kind > wire.Blank {
		s.kept += line.Size + lineCost
	} else {
		s.junk += line.Size + lineCost
		if line.Size > wholeJunk {
			line = protocol.Evidence(line)
		}
	}
	if s.junk <= s.launch.limits.junk/16 || o.Message.Kind > wire.Blank {
		s.log = append(s.log, Entry{line, o.Message, o.Answered})
		s.tell(line)
	}
	s.report(o.Violations)
	s.wake()
}

func (s *Server) report(vs []protocol.Violation) {
	if s.launch.OnViolation == nil {
		return
	}
	for _, v := range vs {
		s.launch.OnViolation(s, v)
	}
}

// violate reports what the harness itself saw: exit codes, processes left.
func (s *Server) violate(row, expected, actual string, frames ...wire.Line) {
	s.report([]protocol.Violation{{Row: row, Expected: expected, Actual: actual, Frames: frames}})
}

func (s *Server) tell(line wire.Line) {
	if s.launch.OnLine != nil {
		s.launch.OnLine(s, line)
	}
}

// note records something that is no line of the wire.
func (s *Server) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	line := wire.Line{Seq: s.seq, At: time.Now(), Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))}
	s.seq++
	s.log = append(s.log, Entry{Line: line})
	s.tell(line)
}

// Note writes a remark into the transcript.
func (s *Server) Note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(format, args...)
}

func (s *Server) wake() {
	close(s.stir)
	s.stir = make(chan struct{})
}

// stalling reads stdout only while it is not stalled.
type stalling struct {
	s      *Server
	refuse error // why nothing more is read
}

func (r *stalling) Read(p []byte) (int, error) {
	for {
		if r.refuse != nil {
			return 0, r.refuse
		}
		r.s.mu.Lock()
		gate := r.s.unstall
		r.s.mu.Unlock()
		select {
		case <-gate:
		default:
			<-gate
			continue // it may have been stalled anew
		}
		n, err := r.s.proc.Stdout().Read(p)
		if errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
		return n, err
	}
}

// Stall stops the reading of stdout, as a client that is busy does; the pipe
// fills up. What one read had already taken is still delivered. The function
// that it returns goes on reading; it may be called more than once, also when
// the process has been ended. Stalls do not nest.
func (s *Server) Stall() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return func() {}
	}
	s.release() // wakes a reader that waits for an earlier stall, which this one replaces
	gate := make(chan struct{})
	s.unstall = gate
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.unstall == gate {
			s.release()
		}
	}
}

// release goes on reading. The caller holds the lock.
func (s *Server) release() {
	select {
	case <-s.unstall:
	default:
		close(s.unstall)
	}
}

// Unread is the number of bytes that wait in the pipe of stdout, which a stalled
// reader leaves there.
func (s *Server) Unread() (n int, known bool) { return held(s.proc.Stdout()) }

// Written is the number of bytes that went into the pipe of stdin so far.
func (s *Server) Written() int64 { return s.wrote.Load() }

// Await waits until found gives true. It is called with the lines from the mark
// on, each once, whenever new ones came; an empty slice is a chance to look at
// something else. awaited names what is waited for. The deadline counts from the
// last byte that moved on stdout, so that a slow stream is no silence; what
// streams for ever without bringing it is given up after twenty deadlines.
func (s *Server) Await(ctx context.Context, awaited string, mark Mark, within time.Duration, found func([]Entry) bool) error {
	return deadline.Wait(ctx, awaited, within, func() deadline.Sight {
		s.mu.Lock()
		defer s.mu.Unlock()
		fresh := s.since(mark)
		mark = Mark(s.seq)
		sight := deadline.Sight{Done: found(fresh), Moved: s.moved, Stir: s.stir}
		if readErr := s.readErr; readErr != nil {
			sight.Ended = func() error { return s.died(awaited, readErr) }
		}
		return sight
	})
}

// died explains why nothing can come any more.
func (s *Server) died(awaited string, readErr error) error {
	var flood *FloodError
	if errors.As(readErr, &flood) {
		return flood
	}
	return s.diedError(awaited)
}

// diedError tells how the process ended. Its pipes end a moment before its exit
// is known, which is waited for.
func (s *Server) diedError(awaited string) *DiedError {
	e := &DiedError{Awaited: awaited}
	timer := time.NewTimer(s.deadlines.Leave)
	defer timer.Stop()
	select {
	case <-s.proc.Exited():
	case <-timer.C:
	}
	e.Exit, e.Exited = s.proc.Exit()
	e.Stderr = string(s.proc.Stderr().Tail)
	return e
}

// Mark is a place in the conversation.
type Mark int

// Mark is the place behind the last line so far.
func (s *Server) Mark() Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Mark(s.seq)
}

func (s *Server) since(m Mark) []Entry {
	i := len(s.log)
	for i > 0 && s.log[i-1].Seq >= int(m) {
		i--
	}
	return s.log[i:]
}

// Since copies the lines from the mark on.
func (s *Server) Since(m Mark) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Entry(nil), s.since(m)...)
}

// Forget drops the lines so far: a process that serves many specs must not keep
// them all.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.kept = nil, 0
}

// Pid is the id of the launched process.
func (s *Server) Pid() int { return s.proc.Pid() }

// Process is the process under the server.
func (s *Server) Process() *process.Process { return s.proc }

// Extras are the notifications and the members of results that the protocol does not
// know, with how often they came.
func (s *Server) Extras() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mon.Extras())
}

// Deadlines are the deadlines that hold for this subject.
func (s *Server) Deadlines() Deadlines { return s.deadlines }

// Spoil marks the process as unfit for another spec.
func (s *Server) Spoil(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spoiled == "" {
		s.spoiled = why
	}
}

// Fit reports whether the process lives, reads on, and was not spoiled.
func (s *Server) Fit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spoiled == "" && s.readErr == nil && s.ending == nil && !s.told
}

// Exercised is how often the monitor, or this package, applied a rule of the
// requirement to this process.
func (s *Server) Exercised(row string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mon.Exercised(row) + s.exercised[row]
}

// Violations is how often the monitor found the requirement violated by this
// process.
func (s *Server) Violations(row string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mon.Violations(row)
}

// Inspect calls f with the monitor, locked.
func (s *Server) Inspect(f func(*protocol.Monitor)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.mon)
}

// Bytes is how much stdout brought so far.
func (s *Server) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
