package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/suites/spec"
)

// What initialize carries, and the model that no one asks.
const (
	provider = "deepseek-official"
	model    = "dshconform-scripted"
)

// runner is one run: the driver that its specs share, and the ledger of what was
// found.
type runner struct {
	*spec.Run
	cfg       Config
	abort     context.CancelCauseFunc // ends the run with a reason
	deadlines harness.Deadlines
	hello     harness.Hello

	d       *harness.Driver
	drivers int               // started so far
	current atomic.Pointer[T] // the spec that runs
	counter atomic.Int64

	startup           time.Duration // of the driver, to its greeting
	brief             time.Duration // a time-out of the SDK's own that is meant to pass, and does not pass by mistake
	profileNote, hint string
}

func newRunner(cfg Config, abort context.CancelCauseFunc) *runner {
	return &runner{cfg: cfg, abort: abort, deadlines: deadline.New(cfg.TimeoutScale)}
}

// greet starts the driver. Its greeting tells what it is, and how fast.
func (r *runner) greet(ctx context.Context) error {
	if err := os.MkdirAll(r.work(), 0o755); err != nil {
		return fmt.Errorf("lay out the scratch tree: %w", err)
	}
	start := time.Now()
	if err := r.start(ctx); err != nil {
		return errors.New(harness.Explain(err))
	}
	r.hello, r.startup = r.d.Hello(), time.Since(start)
	r.deadlines = r.deadlines.Measured(r.startup)
	return nil
}

// start starts a driver.
func (r *runner) start(ctx context.Context) (err error) {
	command := r.cfg.Driver
	r.drivers++
	command.Supervisor = []string{r.cfg.Program, "supervise"}
	r.d, err = harness.StartDriver(ctx, harness.DriverOptions{Command: command, Deadlines: r.deadlines, OnMessage: r.said})
	return err
}

// handshake has the SDK launch a sound runtime and greet it. Where that does not
// work there is nothing to judge.
func (r *runner) handshake(ctx context.Context) error {
	t := r.newT(r.Outside(ctx, "handshake"))
	defer t.release()
	const most, least = 2 * time.Second, 300 * time.Millisecond
	r.brief = least
	c, err := t.create(nil)
	start := time.Now()
	if err == nil {
		_, err = c.Launch(ctx, harness.Behaviour{})
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && harness.DriverFault(err):
		return &spec.NotRunError{Err: errors.New(harness.Explain(err))}
	case err != nil:
		return &spec.NotRunError{Err: fmt.Errorf("the SDK does not come to work with a sound runtime: %s", harness.Explain(err))}
	}
	r.brief = min(max(20*time.Since(start), least), most)
	return nil
}

// driver gives the driver, a new one where the last was spent. An error of it ends
// the run: the new one does what the first one did not.
func (r *runner) driver(ctx context.Context) (*harness.Driver, error) {
	if r.d != nil && r.d.Fit() {
		return r.d, nil
	}
	r.closeDriver()
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	return r.d, nil
}

func (r *runner) closeDriver() {
	if r.d == nil {
		return
	}
	if _, err := r.d.Close(); err != nil && r.Run != nil {
		r.Note("the driver's processes could not be ended: %v", err)
	}
	r.d = nil
}

// close ends the driver and everything that descends from it.
func (r *runner) close() {
	r.closeDriver()
	if r.Run != nil {
		r.Run.Close()
	}
}

// work is the working directory of runtimes, and what initialize carries.
func (r *runner) work() string { return filepath.Join(r.cfg.Scratch, "work") }

// relay makes a relay for a client of a spec.
func (r *runner) relay(t *T) (*harness.Relay, error) {
	return harness.NewRelay(harness.RelayOptions{
		Dir: r.cfg.Scratch, Program: r.cfg.Program, Profile: r.Profile, Deadlines: r.deadlines,
		OnViolation: func(_ *harness.Runtime, v protocol.Violation) { r.Violated(v) },
		OnLine:      func(_ *harness.Runtime, l wire.Line) { r.Record(t, l) },
	})
}

// said keeps what the driver is told and says as notes in the transcript of the spec
// that runs.
func (r *runner) said(l wire.Line) {
	t := r.current.Load()
	if t == nil {
		return
	}
	const most = 2 << 10
	mark, raw := "driver> ", strings.TrimRight(string(l.Raw[:min(len(l.Raw), most)]), "\n")
	raw = strings.ToValidUTF8(raw, "\ufffd") // a cut may be inside a character
	if l.Dir == wire.ServerToClient {
		mark = "driver< "
	}
	if len(l.Raw) > most {
		raw += "…"
	}
	text := mark + raw + "\n"
	r.Record(t, wire.Line{At: l.At, Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))})
}

// lacking are the capabilities that nothing is judged of that needs them, with the
// reason.
func (r *runner) lacking() map[string]string {
	lacks := map[string]string{}
	for name, has := range r.hello.Capabilities() {
		if has {
			continue
		}
		lacks[name] = "not judged on this platform"
		if strings.HasPrefix(name, "driver-") && name != "driver-process" {
			lacks[name] = "the driver does not offer it"
		}
	}
	return lacks
}
