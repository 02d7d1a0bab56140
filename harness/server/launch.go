package server

import (
	"context"
	"fmt"
	"time"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Launch says how the subject is started and what it is held to.
type Launch struct {
	Command   process.Command
	Monitor   protocol.Options
	Deadlines Deadlines

	// Cwd, Provider and Model are the params of initialize.
	Cwd, Provider, Model string

	// OnStart is called with each process that was started, before anything is sent
	// to it; nil is allowed. Its error ends the process.
	OnStart func(context.Context, *Server) error

	// OnViolation gets what the monitor and the harness find, as it is found. It
	// is called with the server's lock held: it must not call back.
	OnViolation func(*Server, protocol.Violation)
	// OnLine gets every line of both directions and the notes, for transcripts,
	// under the same rule.
	OnLine func(*Server, wire.Line)

	// PatientAtExit tells whether children that outlive the process are waited
	// for; a run that found them once needs not wait again. Nil means yes.
	PatientAtExit func() bool

	limits limits
}

// Start starts a process of the subject. An error is a *process.StartError.
func (l *Launch) Start(ctx context.Context) (*Server, error) {
	if l.limits == (limits{}) {
		own := *l
		own.limits = limits{junk: mostJunk, kept: mostKept}
		l = &own
	}
	s := &Server{launch: l, mon: protocol.NewMonitor(l.Monitor), ended: make(chan struct{}), stir: make(chan struct{}), unstall: closedChan(), deadlines: l.Deadlines, exercised: map[string]int{}}
	command := l.Command
	p, err := process.Start(ctx, command)
	if err != nil {
		return nil, err
	}
	s.proc = p
	go s.read()
	if l.OnStart != nil {
		if err := l.OnStart(ctx, s); err != nil {
			s.Stop(context.WithoutCancel(ctx))
			return nil, err
		}
	}
	return s, nil
}

// InitializeParams are the params that a sound client sends.
func (l *Launch) InitializeParams() map[string]any {
	return map[string]any{"cwd": l.Cwd, "provider": l.Provider, "model": l.Model}
}

// StartInitialized starts a process and completes the handshake. The error of
// the handshake comes with the server, which the caller then has to end.
func (l *Launch) StartInitialized(ctx context.Context) (*Server, error) {
	s, err := l.Start(ctx)
	if err != nil {
		return nil, err
	}
	return s, s.Initialize(ctx)
}

// Initialize completes the handshake and measures how long the subject took.
func (s *Server) Initialize(ctx context.Context) error {
	asked := time.Now() // a process that was started ahead of need has waited for this
	c, err := s.Send(ctx, protocol.MethodInitialize, s.launch.InitializeParams())
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	answer, err := c.await(ctx, "response to initialize", s.deadlines.Start)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.startup == 0 {
		s.startup = time.Since(asked)
	}
	s.mu.Unlock()
	if answer.Error != nil {
		return &RefusedError{protocol.MethodInitialize, string(answer.Error)}
	}
	return nil
}

// Startup is the time from the request to the response of initialize, 0 before. Of a
// process that was launched just before, that is how long it takes to start.
func (s *Server) Startup() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startup
}

func closedChan() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
