package sdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/wire"
)

// What initialize carries. Where the suite is the runtime, it asks no model.
const (
	Provider = "deepseek-official"
	Model    = "dshconform-scripted"
)

// Options say how an SDK is held.
type Options struct {
	// Driver is the driver's program: Argv, Dir, Env.
	Driver process.Command
	// Program is the path of dshconform, which runs the supervisor and the relay.
	Program string
	// Scratch is the existing directory for relays; Work is that of runtimes, and what
	// initialize carries. It is made.
	Scratch, Work string
	Deadlines     harness.Deadlines
	// OnMessage gets every line between the suite and the driver; nil is allowed. It
	// must not call back.
	OnMessage func(wire.Line)
	// Log gets remarks for the user, one line each; nil is allowed.
	Log func(format string, args ...any)
}

// SDK is one SDK under test. It belongs to one goroutine.
type SDK struct {
	o       Options
	d       *harness.Driver
	hello   harness.Hello
	startup time.Duration
	started int
	brief   time.Duration
}

// New starts nothing. The SDK has to be closed.
func New(o Options) *SDK { return &SDK{o: o, brief: leastBrief} }

// A time-out of the SDK's own that is meant to pass is between these.
const leastBrief, mostBrief = 300 * time.Millisecond, 2 * time.Second

// Greet starts the driver. Its greeting tells what it is, and how fast.
func (s *SDK) Greet(ctx context.Context) error {
	if err := os.MkdirAll(s.o.Work, 0o755); err != nil {
		return fmt.Errorf("lay out the scratch tree: %w", err)
	}
	start := time.Now()
	if err := s.start(ctx); err != nil {
		return errors.New(harness.Explain(err))
	}
	s.hello, s.startup = s.d.Hello(), time.Since(start)
	s.o.Deadlines = s.o.Deadlines.Measured(s.startup)
	return nil
}

func (s *SDK) start(ctx context.Context) (err error) {
	command := s.o.Driver
	s.started++
	command.Supervisor = []string{s.o.Program, "supervise"}
	s.d, err = harness.StartDriver(ctx, harness.DriverOptions{Command: command, Deadlines: s.o.Deadlines, OnMessage: s.o.OnMessage})
	return err
}

// Handshake has the SDK launch a sound runtime and greet it, in a visit of its own.
// Where that does not work there is nothing to judge.
func (s *SDK) Handshake(ctx context.Context, o VisitOptions) error {
	v := s.Visit(o)
	c, err := v.Create(ctx, nil)
	start := time.Now()
	if err == nil {
		_, err = c.Launch(ctx, harness.Behaviour{})
	}
	took := time.Since(start)
	if err == nil {
		err = v.firstPrompt(ctx, c)
	}
	err = cmp.Or(v.Release(ctx), err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && harness.DriverFault(err):
		return errors.New(harness.Explain(err))
	case err != nil:
		return fmt.Errorf("the SDK does not come to work with a sound runtime: %s%s", harness.Explain(err), s.lastWords(err))
	}
	s.brief = min(max(20*took, leastBrief), mostBrief)
	return nil
}

// firstPrompt has the SDK run a turn of a sound runtime. How that ends is for the specs to judge. A driver that does not
// live through it, or answers nothing any more, is no window to an SDK.
func (v *Visit) firstPrompt(ctx context.Context, c *harness.Client) error {
	call, err := c.GoPrompt(ctx, harness.Prompt{SessionID: "the-first-session", Text: "Are you there?"})
	if err == nil {
		_, err = v.Own(call).AwaitWithin(ctx, v.sdk.o.Deadlines.Call)
	}
	var silent *harness.SilentError
	if !errors.As(err, &silent) {
		return err
	}
	defer v.Spoil("its first prompt hangs")
	if !v.d.Hello().Concurrent {
		return nil // it may wait for its SDK
	}
	if _, other := v.Create(ctx, nil); !errors.As(other, new(*harness.SilentError)) {
		return nil // the driver answers: it is the SDK that hangs
	}
	return fmt.Errorf("the driver answers nothing any more behind its first prompt: %w", err)
}

// lastWords are what a driver that says nothing any more last wrote to stderr.
func (s *SDK) lastWords(err error) string {
	if s.d == nil || !errors.As(err, new(*harness.SilentError)) {
		return ""
	}
	tail := strings.TrimSpace(string(s.d.Stderr().Tail))
	if tail == "" {
		return ""
	}
	return "; its stderr ends with:\n" + tail
}

// driver gives the driver, a new one where the last was spent. An error of it is the
// driver's: the new one does what the first one did not.
func (s *SDK) driver(ctx context.Context) (*harness.Driver, error) {
	if s.d != nil && s.d.Fit() {
		return s.d, nil
	}
	s.Close()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s.d, nil
}

// Close ends the driver and everything that descends from it.
func (s *SDK) Close() {
	if s.d == nil {
		return
	}
	if _, err := s.d.Close(); err != nil && s.o.Log != nil {
		s.o.Log("the driver's processes could not be ended: %v", err)
	}
	s.d = nil
}

// Hello is what the driver said of itself; the zero value before [SDK.Greet].
func (s *SDK) Hello() harness.Hello { return s.hello }

// Command is the driver's.
func (s *SDK) Command() process.Command { return s.o.Driver }

// Deadlines are those that hold for the SDK.
func (s *SDK) Deadlines() harness.Deadlines { return s.o.Deadlines }

// Startup is how long the first driver took to its greeting; Drivers is how many were
// started.
func (s *SDK) Startup() time.Duration { return s.startup }
func (s *SDK) Drivers() int           { return s.started }

// Brief is a time-out of the SDK's own that is meant to pass, and does not pass by
// mistake.
func (s *SDK) Brief() time.Duration { return s.brief }

// Work is the working directory of runtimes, and what initialize carries.
func (s *SDK) Work() string { return s.o.Work }

// Lacking are the capabilities that nothing is judged of that needs them, with the
// reason.
func Lacking(hello harness.Hello) map[string]string {
	lacks := map[string]string{}
	for name, has := range hello.Capabilities() {
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

// MessageNote is a line between the suite and the driver as a note in a transcript.
func MessageNote(l wire.Line) wire.Line {
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
	return wire.Line{At: l.At, Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))}
}
