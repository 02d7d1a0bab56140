package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Write writes the pieces to stdin, each with a write of its own. What they form
// as lines passes the monitor before its last byte is written. It returns the
// requests among them.
func (s *Server) Write(ctx context.Context, pieces ...[]byte) ([]*protocol.Request, error) {
	return s.write(ctx, pieces, false)
}

// WriteApart is Write with each piece written when the pipe is empty again, so
// that the subject reads them one by one; an error says that it does not take them
// up. Where the platform can't tell how much a pipe holds, the pieces may arrive
// together.
func (s *Server) WriteApart(ctx context.Context, pieces ...[]byte) ([]*protocol.Request, error) {
	return s.write(ctx, pieces, true)
}

func (s *Server) write(ctx context.Context, pieces [][]byte, apart bool) ([]*protocol.Request, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil, &WriteError{Of: total(pieces), Err: errInputClosed}
	}
	var requests []*protocol.Request
	for i, p := range pieces {
		if apart && i > 0 && !s.drained(ctx) {
			return requests, &WriteError{Written: total(pieces[:i]), Of: total(pieces), After: s.deadlines.Call, Err: os.ErrDeadlineExceeded}
		}
		fresh := len(requests)
		s.mu.Lock()
		s.in.Push(p, func(raw []byte, size int64) {
			if q := s.sent(raw, size); q != nil {
				requests = append(requests, q)
			}
		})
		s.mu.Unlock()
		if err := s.put(ctx, p); err != nil {
			s.cut(requests[fresh:])
			return requests, err
		}
	}
	return requests, nil
}

// sent gives a line of the client to the log and the monitor.
func (s *Server) sent(raw []byte, size int64) *protocol.Request {
	line := wire.Line{Seq: s.seq, At: time.Now(), Dir: wire.ClientToServer, Raw: raw, Size: size}
	s.seq++
	s.log = append(s.log, Entry{Line: line})
	s.tell(line)
	return s.mon.Client(line)
}

// cut deals with a piece that was not taken whole: nothing is owed for what the
// subject could not read, and stdin may stand inside a line.
func (s *Server) cut(requests []*protocol.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range requests {
		if !q.Settled() {
			s.mon.Disown(q)
		}
	}
	if s.spoiled == "" {
		s.spoiled = "a write to it was cut"
	}
}

func total(pieces [][]byte) (n int) {
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

var errInputClosed = errors.New("the suite has closed it")

func (s *Server) put(ctx context.Context, p []byte) error {
	written, waited, err := deadline.Write(ctx, s.proc.Stdin(), p, s.deadlines.Write, func(n int) { s.wrote.Add(int64(n)) })
	switch {
	case err == nil:
		return nil
	case waited > 0:
		return &WriteError{Written: written, Of: len(p), After: waited, Err: err}
	case ctx.Err() != nil:
		return fmt.Errorf("write to stdin: %w", err)
	}
	return s.unread(written, len(p), err)
}

// unread explains a write that found nobody at the other end of stdin.
func (s *Server) unread(written, of int, err error) error {
	if e := s.diedError("it had read what was written to it"); e.Exited {
		return e
	}
	return &WriteError{Written: written, Of: of, Err: fmt.Errorf("the server lives and has closed its stdin: %w", err)}
}

// drained waits until the subject has taken up what is in the pipe, or has ended.
func (s *Server) drained(ctx context.Context) bool {
	for deadline := time.Now().Add(s.deadlines.Call); ctx.Err() == nil; {
		if n, known := held(s.proc.Stdin()); !known || n == 0 {
			return true
		}
		if _, ended := s.proc.Exit(); ended {
			return true // which the next write tells
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(50 * time.Microsecond) //nolint:forbidigo // polls: no event tells when a pipe runs empty
	}
	return true
}

// CloseInput ends the subject's stdin. What is being written is written first.
func (s *Server) CloseInput() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.locked(func() {
		if raw, size := s.in.Rest(); size > 0 { // a line without its LF
			s.sent(raw, size)
		}
		s.note(wire.NoteInputClosed)
		s.mon.InputClosed()
		s.told = true
	})
	if err := s.proc.Stdin().Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close stdin: %w", err)
	}
	return nil
}

// CloseOutput closes the reading end of stdout, as a client that died does.
func (s *Server) CloseOutput() error {
	s.locked(func() {
		s.note(wire.NoteOutputClosed)
		s.mon.OutputUnread()
		s.over = true
		s.release() // a stalled reader would not see it
	})
	// A process that is being started by somebody else has copies of all descriptors
	// until it executes its program: a write of the subject in that moment would find
	// a reader, and be its last. The descriptor is closed in truth when the reader has
	// let go of it: no process may start until then.
	syscall.ForkLock.RLock()
	err := s.proc.Stdout().Close()
	<-s.ended
	syscall.ForkLock.RUnlock()
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close stdout: %w", err)
	}
	return nil
}
