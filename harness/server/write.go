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
	s.writing.Lock()
	defer s.writing.Unlock()
	var requests []*protocol.Request
	for _, p := range pieces {
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
