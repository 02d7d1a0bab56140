package client

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/spec"
)

// runner is one run: the SDK that its specs share, and the ledger of what was found.
type runner struct {
	*spec.Run
	cfg   Config
	abort context.CancelCauseFunc // ends the run with a reason
	sdk   *sdk.SDK

	deadlines harness.Deadlines
	hello     harness.Hello
	brief     time.Duration // a time-out of the SDK's own that is meant to pass, and does not pass by mistake

	current atomic.Pointer[T] // the spec that runs
	counter atomic.Int64

	profileNote, hint string
}

func newRunner(cfg Config, abort context.CancelCauseFunc) *runner {
	r := &runner{cfg: cfg, abort: abort}
	r.sdk = sdk.New(sdk.Options{
		Driver: cfg.Driver, Program: cfg.Program, Scratch: cfg.Scratch, Work: filepath.Join(cfg.Scratch, "work"),
		Deadlines: deadline.New(cfg.TimeoutScale), OnMessage: r.said, Log: cfg.Log,
	})
	return r
}

// greet starts the driver, and learns what it is, and how fast.
func (r *runner) greet(ctx context.Context) error {
	err := r.sdk.Greet(ctx)
	r.hello, r.deadlines = r.sdk.Hello(), r.sdk.Deadlines()
	return err
}

// handshake has the SDK launch a sound runtime and greet it. Where that does not
// work there is nothing to judge.
func (r *runner) handshake(ctx context.Context) error {
	t := r.newT(r.Outside(ctx, "handshake"))
	defer t.release()
	err := r.sdk.Handshake(ctx, t.visiting())
	r.brief = r.sdk.Brief()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &spec.NotRunError{Err: err}
	}
	return nil
}

// visiting is how a spec uses the SDK: what the monitor finds is the run's, and every
// line goes into the transcript.
func (t *T) visiting() sdk.VisitOptions {
	r := t.run
	return sdk.VisitOptions{
		Name: t.ID, Profile: r.Profile,
		OnViolation: func(v protocol.Violation) { r.Violated(v) },
		OnLine:      func(l wire.Line) { r.Record(t, l) },
	}
}

// close ends the driver and everything that descends from it.
func (r *runner) close() {
	r.sdk.Close()
	if r.Run != nil {
		r.Run.Close()
	}
}

// said keeps what the driver is told and says as notes in the transcript of the spec
// that runs.
func (r *runner) said(l wire.Line) {
	if t := r.current.Load(); t != nil {
		r.Record(t, sdk.MessageNote(l))
	}
}
