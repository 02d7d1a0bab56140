package parity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/spec"
)

// Run compares clients in one profile. The run that it returns holds what was found,
// also where the error is a *spec.NotRunError or says that ctx ended; the exit code and
// the closing line are the caller's to work out.
func Run(ctx context.Context, cfg Config) (*reports.Run, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	r := newRunner(cfg, abort)
	defer r.close()
	greeting := r.everyone(func(c *contestant) error { return c.sdk.Greet(ctx) })
	if greeting == nil {
		if err := r.settle(); err != nil {
			return nil, err
		}
	}
	suite := newSuite(cfg.Catalogue)
	scenarios, ids := suite.Choose(r.cfg.Options)
	ledger, err := spec.NewRun(r.cfg.Options, ids)
	if err != nil {
		return nil, err
	}
	r.Run = ledger
	if cfg.Begun != nil {
		cfg.Begun(r.result(false, ""))
	}
	if greeting == nil {
		greeting = r.everyone(func(c *contestant) error {
			return c.sdk.Handshake(ctx, sdk.VisitOptions{Name: "handshake", Profile: r.Profile})
		})
	}
	if greeting != nil && ctx.Err() == nil {
		greeting = &spec.NotRunError{Err: greeting}
	}
	if greeting != nil {
		return r.ended(ctx, greeting, "the clients could not be run")
	}
	for _, c := range r.clients {
		c.lacks = sdk.Lacking(c.sdk.Hello())
	}
	spec.All(ctx, ledger, "parity", scenarios, spec.Hooks[*T]{
		Begin: func(t *spec.T) *T { return &T{T: t, run: r} }, Leave: func(*T) {},
		Result: func() *reports.Run { return r.result(false, "") },
	})
	r.close()
	if ctx.Err() != nil {
		return r.ended(ctx, context.Cause(ctx), "a driver was at fault")
	}
	return r.result(true, "its scenario did not run"), nil
}

// ended is the run as it stands where it ends early.
func (r *runner) ended(ctx context.Context, err error, unreached string) (*reports.Run, error) {
	r.close()
	unreached, err = spec.Early(ctx, err, unreached)
	return r.result(false, unreached), err
}

// settle settles the profile of the run, and with it what is selected.
func (r *runner) settle() error {
	named, err := r.commonProfile()
	switch o := &r.cfg.Options; {
	case o.Profile == "" && err != nil:
		return err
	case o.Profile == "":
		o.Profile = named
		if named != protocol.Directional {
			r.profileNote = fmt.Sprintf("the %s profile is the one that the drivers name", named)
		}
	case err != nil:
		r.profileNote = err.Error()
	case o.Profile != named:
		r.profileNote = fmt.Sprintf("the drivers name the %s profile, not %s", named, o.Profile)
	}
	if r.cfg.Greeted == nil {
		return nil
	}
	return r.cfg.Greeted(&r.cfg.Options)
}

// result is the run as it stands.
func (r *runner) result(final bool, unreached string) *reports.Run {
	run := r.Result(final, unreached)
	run.Kind, run.ProfileNote = reports.KindParity, r.profileNote
	var names []string
	for _, c := range r.clients {
		d := c.Driver
		names = append(names, c.Name)
		s := reports.Subject{
			Name: c.Name, Argv: d.Argv, Dir: d.Dir, Env: spec.EnvNames(d.Env),
			Cwd: c.sdk.Work(), Provider: sdk.Provider, Model: sdk.Model,
		}
		if h := c.sdk.Hello(); h.Protocol != "" {
			s.Says, s.ServerVersion = h.Subject(), h.Version
		}
		run.Subjects = append(run.Subjects, s)
	}
	run.Subject = reports.Subject{Name: strings.Join(names, ", "), Argv: []string{}, Dir: r.clients[0].Driver.Dir, Env: []string{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	run.Differences = append([]reports.Difference{}, r.differences...)
	slices.SortStableFunc(run.Differences, func(a, b reports.Difference) int { return r.Catalogue.Position(a.ID) - r.Catalogue.Position(b.ID) })
	return run
}
