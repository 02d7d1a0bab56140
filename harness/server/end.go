package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
)

// Ending is how a process of the subject ended.
type Ending struct {
	Exited bool // by itself, within the deadline
	Exit   process.Exit
	Took   time.Duration    // from when it was told to end
	Left   []process.Member // what of its tree outlived it past the deadline
	Stderr process.StderrInfo
	Drain  error // why stdout was not read to its end, nil where it was
}

// Shutdown sends shutdown, waits for the response and for the end. The error
// says which of the two did not come.
func (s *Server) Shutdown(ctx context.Context) (Ending, error) {
	c, err := s.Send(ctx, protocol.MethodShutdown, nil)
	if err != nil {
		return s.Stop(ctx), fmt.Errorf("shutdown: %w", err)
	}
	return s.AwaitShutdown(ctx, c)
}

// AwaitShutdown waits for the response to a shutdown that was sent and for the
// end of the process. It judges S-SHD-01: the exit code, and that both come.
func (s *Server) AwaitShutdown(ctx context.Context, c *Call) (Ending, error) {
	s.mu.Lock()
	s.told = true
	s.mu.Unlock()
	answer, err := c.await(ctx, "response to shutdown", s.deadlines.Call)
	if ctx.Err() != nil {
		return s.Stop(ctx), err
	}
	if err != nil {
		c.Disown()
		s.locked(func() {
			s.violate("S-SHD-01", "shutdown returns {}", err.Error(), c.Line)
		})
		return s.Stop(ctx), err
	}
	e := s.AwaitExit(ctx)
	switch {
	case ctx.Err() != nil:
		return e, context.Cause(ctx)
	case !e.Exited:
		err = &SilentError{"exit after shutdown", e.Took}
	case !e.Exit.Success():
		err = fmt.Errorf("exit after shutdown: %s", e.Exit)
	case answer.Error != nil:
		err = &RefusedError{protocol.MethodShutdown, string(answer.Error)}
	}
	if err != nil {
		s.locked(func() {
			s.violate("S-SHD-01", "shutdown returns {} and the process exits with code 0", err.Error(), c.Line, *c.Request.Response)
		})
	}
	return e, err
}

func (s *Server) locked(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Signal sends a signal to the launched process alone, as an SDK does.
func (s *Server) Signal(sig os.Signal) error {
	s.locked(func() {
		s.note("%s sent", sig)
		s.mon.Signalled()
	})
	return s.proc.Signal(sig)
}

// Terminate sends SIGTERM.
func (s *Server) Terminate() error { return s.Signal(syscall.SIGTERM) }

// AwaitExit waits for a process that was told to end, reads stdout to its end
// and looks for what is left of its tree. The bound counts from the last byte
// that moved.
func (s *Server) AwaitExit(ctx context.Context) Ending {
	s.mu.Lock()
	if s.ending != nil {
		defer s.mu.Unlock()
		return *s.ending
	}
	s.mu.Unlock()
	start := time.Now()
	exited := s.awaitExited(ctx, start)
	e := Ending{Exited: exited, Took: time.Since(start)}
	if exited {
		e.Exit, _ = s.proc.Exit()
		if !e.Exit.At.IsZero() && e.Exit.At.After(start) {
			e.Took = e.Exit.At.Sub(start)
		}
		e.Left = s.awaitTree(ctx)
	}
	s.finish(ctx, &e)
	return e
}

// awaitExited waits until the launched process is gone, for the deadline from
// the last byte that moved.
func (s *Server) awaitExited(ctx context.Context, start time.Time) bool {
	for {
		s.mu.Lock()
		last := s.moved
		s.mu.Unlock()
		if last.Before(start) {
			last = start
		}
		rest := time.Until(last.Add(s.deadlines.Exit))
		if rest <= 0 || time.Since(start) > 20*s.deadlines.Exit {
			return false
		}
		timer := time.NewTimer(rest)
		select {
		case <-s.proc.Exited():
			timer.Stop()
			return true
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
}

// awaitTree gives what still runs when the bound after the exit has passed.
func (s *Server) awaitTree(ctx context.Context) []process.Member {
	if tree, _ := process.Capabilities(); !tree {
		return nil
	}
	bound := s.deadlines.Leave
	if s.launch.PatientAtExit != nil && !s.launch.PatientAtExit() {
		bound = 0
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-s.proc.Gone():
		return nil
	case <-ctx.Done():
		return nil
	case <-timer.C:
	}
	left, err := s.proc.Tree(ctx)
	if err != nil {
		return nil // a tree that can't be listed is not a verdict on the subject
	}
	return left
}

// finish kills what is left, reads stdout to its end and lets the monitor judge
// what is still owed.
func (s *Server) finish(ctx context.Context, e *Ending) {
	s.mu.Lock()
	stalled := s.unstall
	select {
	case <-stalled:
	default:
		close(stalled)
		s.unstall = closedChan()
	}
	s.mu.Unlock()
	if e.Exited && len(e.Left) == 0 {
		// all that the tree wrote lies in the pipe: read it before the pipe goes
		select {
		case <-s.ended:
		case <-ctx.Done():
		case <-time.After(s.deadlines.Exit):
		}
	}
	s.proc.Kill()
	select {
	case <-s.ended:
	case <-time.After(s.deadlines.Leave):
		s.proc.Stdout().Close()
		<-s.ended
		e.Drain = errors.New("stdout stayed open")
	}
	_, err := s.proc.Close()
	if err != nil {
		e.Drain = errors.Join(e.Drain, err)
	}
	e.Stderr = s.proc.Stderr()
	if exit, ok := s.proc.Exit(); ok {
		e.Exit = exit
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("process ended: %s", e.Exit)
	s.ending = e
	if len(e.Left) > 0 {
		s.violate("S-PRC-01", "no process of the server's tree is left once it has exited", fmt.Sprintf("still running %s later: %s", s.deadlines.Leave, members(e.Left)))
	}
	s.report(s.mon.End(protocol.Ended{Told: s.told && e.Exited && ctx.Err() == nil, Partial: e.Drain != nil || s.readErr != nil && !isEOF(s.readErr)}))
	s.wake()
}

func members(list []process.Member) string {
	text := ""
	for i, m := range list {
		if i == 5 {
			return text + fmt.Sprintf(", and %d more", len(list)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += protocol.Short(m.String())
	}
	return text
}

// Stop ends the process at once, whatever state it is in, and leaves nothing
// running. It may be called more than once.
func (s *Server) Stop(ctx context.Context) Ending {
	s.mu.Lock()
	if s.ending != nil {
		defer s.mu.Unlock()
		return *s.ending
	}
	s.told = false
	s.mon.Signalled()
	s.mu.Unlock()
	e := Ending{}
	if _, gone := s.proc.Exit(); gone {
		e.Exited = true
	}
	s.finish(context.WithoutCancel(ctx), &e)
	return e
}
