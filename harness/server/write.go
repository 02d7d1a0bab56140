package server

import (
	"context"
	"fmt"
	"time"

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
// that the subject reads them one by one. Where the platform can't tell how much
// a pipe holds, the pieces may arrive together.
func (s *Server) WriteApart(ctx context.Context, pieces ...[]byte) ([]*protocol.Request, error) {
	return s.write(ctx, pieces, true)
}

func (s *Server) write(ctx context.Context, pieces [][]byte, apart bool) ([]*protocol.Request, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var requests []*protocol.Request
	for i, p := range pieces {
		if apart && i > 0 {
			s.drained(ctx)
		}
		s.mu.Lock()
		s.in.Push(p, func(raw []byte, size int64) {
			line := wire.Line{Seq: s.seq, At: time.Now(), Dir: wire.ClientToServer, Raw: raw, Size: size}
			s.seq++
			s.log = append(s.log, Entry{Line: line})
			s.tell(line)
			if q := s.mon.Client(line); q != nil {
				requests = append(requests, q)
			}
		})
		s.mu.Unlock()
		if err := s.put(ctx, p); err != nil {
			return requests, err
		}
	}
	return requests, nil
}

// put writes p within the deadline, which starts anew whenever the subject took
// something.
func (s *Server) put(ctx context.Context, p []byte) error {
	written := 0
	stdin := s.proc.Stdin()
	stop := context.AfterFunc(ctx, func() { stdin.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	for written < len(p) {
		if err := stdin.SetWriteDeadline(time.Now().Add(s.deadlines.Write)); err != nil {
			return &WriteError{written, len(p), err}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("write to stdin: %w", context.Cause(ctx))
		}
		n, err := stdin.Write(p[written:min(written+64<<10, len(p))])
		written += n
		if err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("write to stdin: %w", context.Cause(ctx))
			}
			return &WriteError{written, len(p), err}
		}
	}
	return nil
}

// drained waits until the subject has taken up what is in the pipe. It is a
// best effort: a subject that does not read is found out by its silence.
func (s *Server) drained(ctx context.Context) {
	for deadline := time.Now().Add(s.deadlines.Grace); time.Now().Before(deadline) && ctx.Err() == nil; {
		if n, known := held(s.proc.Stdin()); !known || n == 0 {
			return
		}
		time.Sleep(50 * time.Microsecond) // polls: no event tells when a pipe runs empty
	}
}

// CloseInput ends the subject's stdin.
func (s *Server) CloseInput() error {
	s.mu.Lock()
	s.note("stdin closed")
	s.mon.InputClosed()
	s.told = true
	s.mu.Unlock()
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.proc.Stdin().Close(); err != nil {
		return fmt.Errorf("close stdin: %w", err)
	}
	return nil
}

// CloseOutput closes the reading end of stdout, as a client that died does.
func (s *Server) CloseOutput() error {
	s.mu.Lock()
	s.note("stdout closed by the client")
	s.mu.Unlock()
	err := s.proc.Stdout().Close()
	if err != nil {
		return fmt.Errorf("close stdout: %w", err)
	}
	<-s.ended
	return nil
}
