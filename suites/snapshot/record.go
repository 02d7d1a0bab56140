package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/suites/target"
)

// Config says what to take a snapshot of.
type Config struct {
	Target  target.Target
	Profile protocol.Profile
	// Program is the path of this program's executable, which runs the supervisor of
	// each process.
	Program      string
	Scratch      string // a directory that exists, for what the server may write
	TimeoutScale float64
	// Progress hears of each situation before it is run; nil is allowed.
	Progress func(name string)
}

// Scenario is the snapshot of one situation.
type Scenario struct {
	Name, Title string
	Profile     protocol.Profile
	Text        string
	// Problem says why the situation did not come to its end, "" where it did. It is the
	// last line of the text, too.
	Problem string
}

// NotRunError says that the server could not be run.
type NotRunError struct{ Err error }

func (e *NotRunError) Error() string { return e.Err.Error() }
func (e *NotRunError) Unwrap() error { return e.Err }

// Record runs all situations that the target serves, one after the other. The error
// is a *NotRunError where the server did not start, or never answered initialize.
func Record(ctx context.Context, cfg Config) ([]Scenario, error) {
	var out []Scenario
	for i, s := range scenarios {
		if s.needs != "" && lacks(cfg.Target, s.needs) {
			continue
		}
		if cfg.Progress != nil {
			cfg.Progress(s.name)
		}
		scratch := filepath.Join(cfg.Scratch, fmt.Sprint(i))
		if err := os.Mkdir(scratch, 0o755); err != nil {
			return nil, fmt.Errorf("make the scratch tree of a situation: %w", err)
		}
		got, err := one(ctx, cfg, s, scratch)
		switch {
		case errors.Is(err, errNotOffered):
		case err != nil:
			return nil, err
		default:
			out = append(out, got)
		}
	}
	return out, nil
}

func lacks(t target.Target, capability string) bool {
	if _, declared := t.LacksCapability(capability); declared {
		return true
	}
	return t.ModelEndpoint == target.None // all that is needed needs a model
}

// one runs one situation on a fresh process and a fresh stub.
func one(ctx context.Context, cfg Config, s scenario, scratch string) (Scenario, error) {
	stub, err := model.Start(ctx, model.Options{})
	if err != nil {
		return Scenario{}, err
	}
	defer stub.Close() // nothing hangs on how it ends
	ready, err := cfg.Target.Prepare(cfg.Profile, scratch, target.ModelAccess{URL: stub.URL(), Key: stub.Key(), Control: stub.Control()})
	if err != nil {
		return Scenario{}, err
	}
	launch := &harness.Launch{
		Command:   process.Command{Argv: ready.Argv, Env: ready.Env, Dir: ready.Dir, Supervisor: []string{cfg.Program, "supervise"}},
		Monitor:   protocol.Options{Profile: cfg.Profile, MaxTokensAsSuccess: cfg.Target.MaxTokensAsSuccess},
		Deadlines: deadline.New(cfg.TimeoutScale),
		Cwd:       ready.Cwd, Provider: cfg.Target.Provider, Model: cfg.Target.Model,
	}
	server, err := launch.StartInitialized(ctx)
	if server == nil {
		return Scenario{}, &NotRunError{err}
	}
	defer server.Stop(ctx)
	if ctx.Err() == nil && server.Startup() == 0 {
		return Scenario{}, &NotRunError{err}
	}
	t := &talk{ctx: ctx, s: server, stub: stub, profile: cfg.Profile, scenario: s.name}
	if err == nil {
		err = s.run(t)
	}
	if errors.Is(err, errNotOffered) {
		return Scenario{}, err
	}
	if err == nil {
		err = t.shutdown()
	}
	if ctx.Err() != nil {
		return Scenario{}, context.Cause(ctx)
	}
	out := Scenario{Name: s.name, Title: s.title, Profile: cfg.Profile}
	if err != nil {
		out.Problem = t.problem(err)
	}
	mask := newMask(map[string]string{
		scratch: "«scratch»", ready.Cwd: "«cwd»", ready.Home: "«home»", ready.Temp: "«tmp»", stub.Control(): "«control»",
		stub.URL(): "«model»", stub.Key(): "«key»", cfg.Program: "«program»",
	})
	out.Text = render(out, server.Since(0), t.end, mask)
	return out, nil
}
