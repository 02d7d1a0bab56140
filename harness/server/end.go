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
	"github.com/dshconform/dshconform/harness/wire"
)

// Ending is how a process of the subject ended.
type Ending struct {
	Exited bool // by itself, within the deadline
	Exit   process.Exit
	Took   time.Duration    // from when it was told to end
	Left   []process.Member // what of its tree outlived it past the deadline
	Stderr process.StderrInfo
	Drain  error // why stdout was not read to its end, nil where it was

	looked bool // for what is left
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
		err = &SilentError{Awaited: "exit after shutdown", After: e.Took}
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
		s.note("%s", wire.SignalNote(process.SignalName(sig)))
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
		e.Left, e.looked = s.awaitTree(ctx)
	}
	return s.finish(ctx, e)
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

// awaitTree gives what still runs when the bound after the exit has passed, and
// whether that could be found out.
func (s *Server) awaitTree(ctx context.Context) (left []process.Member, known bool) {
	if tree, _ := process.Capabilities(); !tree {
		return nil, false
	}
	bound := s.deadlines.Leave
	if s.launch.PatientAtExit != nil && !s.launch.PatientAtExit() {
		bound = 0
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-s.proc.Gone():
		return nil, true
	case <-ctx.Done():
		return nil, false
	case <-timer.C:
	}
	left, err := s.proc.Tree(ctx)
	if err != nil {
		return nil, false // a tree that can't be listed is not a verdict on the subject
	}
	return left, true
}

// finish kills what is left, reads stdout to its end and lets the monitor judge
// what is still owed. It is done once: a second caller gets the first one's.
func (s *Server) finish(ctx context.Context, e Ending) Ending {
	s.finishing.Lock()
	defer s.finishing.Unlock()
	s.mu.Lock()
	if s.ending != nil {
		defer s.mu.Unlock()
		return *s.ending
	}
	s.over = true
	s.release()
	s.mu.Unlock()
	switch {
	case e.looked && len(e.Left) == 0:
		// all that the tree wrote lies in the pipe: read it before the pipe goes
		s.awaitEnded(ctx, s.deadlines.Exit)
	case e.Exited:
		s.awaitEnded(ctx, s.deadlines.Leave) // what is left of the tree may hold it
	}
	_, killErr := s.proc.Kill()
	if !s.awaitEnded(context.WithoutCancel(ctx), s.deadlines.Leave) {
		s.proc.Stdout().Close()
		<-s.ended
		e.Drain = errors.New("stdout stayed open")
	}
	s.proc.Close() // fails as Kill did
	e.Drain = errors.Join(e.Drain, killErr)
	e.Stderr = s.proc.Stderr()
	if exit, ok := s.proc.Exit(); ok {
		e.Exit = exit
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Drain != nil {
		s.note("%s", wire.GapNote("stdout was not read to its end"))
	}
	s.note("%s", wire.EndNote(e.Exit.String()))
	s.ending = &e
	if e.looked {
		s.exercised["S-PRC-01"]++
	}
	if len(e.Left) > 0 {
		s.violate("S-PRC-01", "no process of the server's tree is left once it has exited", fmt.Sprintf("still running %s later: %s", s.deadlines.Leave, members(e.Left)))
	}
	s.report(s.mon.End(protocol.Ended{Told: s.told && e.Exited && ctx.Err() == nil, Partial: e.Drain != nil || s.readErr != nil && !isEOF(s.readErr)}))
	s.wake()
	return e
}

// awaitEnded waits until stdout was read to its end. It reports whether it was.
func (s *Server) awaitEnded(ctx context.Context, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-s.ended:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
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
	s.note(wire.NoteStopped)
	s.mon.Signalled()
	s.mu.Unlock()
	e := Ending{}
	if _, gone := s.proc.Exit(); gone {
		e.Exited = true
	}
	return s.finish(context.WithoutCancel(ctx), e)
}
