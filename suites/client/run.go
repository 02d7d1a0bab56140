package client

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/spec"
)

// Run judges an SDK in one profile. The run that it returns holds what was found,
// also where the error is a *spec.NotRunError or says that ctx ended; the exit code
// and the closing line are the caller's to work out.
func Run(ctx context.Context, cfg Config) (*reports.Run, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	r := newRunner(cfg, abort)
	defer r.close()
	greeting := r.greet(ctx)
	if greeting != nil && ctx.Err() == nil {
		greeting = &spec.NotRunError{Err: greeting}
	}
	suite := newSuite(cfg.Catalogue)
	if err := r.chooseProfile(); err != nil && greeting == nil {
		return nil, err
	}
	specs, ids := suite.Choose(r.cfg.Options)
	ledger, err := spec.NewRun(r.cfg.Options, ids)
	if err != nil {
		return nil, err
	}
	ledger.Sent = wire.ServerToClient
	r.Run = ledger
	if cfg.Begun != nil {
		cfg.Begun(r.result(false, ""))
	}
	if greeting == nil {
		greeting = r.handshake(ctx)
	}
	if greeting != nil {
		return r.ended(ctx, greeting, "the SDK could not be run")
	}
	specs = spec.Applicable(ledger, specs, sdk.Lacking(r.hello))
	spec.All(ctx, ledger, "client", specs, spec.Hooks[*T]{
		Begin: r.newT, Diagnose: (*T).diagnose, Leave: (*T).leave, Result: func() *reports.Run { return r.result(false, "") },
	})
	r.close()
	if ctx.Err() != nil {
		return r.ended(ctx, context.Cause(ctx), "the driver was at fault")
	}
	return r.result(true, "its spec did not run"), nil
}

// ended is the run as it stands where it ends early.
func (r *runner) ended(ctx context.Context, err error, unreached string) (*reports.Run, error) {
	r.close()
	unreached, err = spec.Early(ctx, err, unreached)
	return r.result(false, unreached), err
}

// chooseProfile settles the profile of the run, and with it what is selected.
func (r *runner) chooseProfile() error {
	named := r.hello.Profile
	switch o := &r.cfg.Options; {
	case o.Profile == "":
		o.Profile = cmp.Or(named, protocol.Directional)
		if named != "" && named != protocol.Directional {
			r.profileNote = fmt.Sprintf("the %s profile is the one that the driver names", named)
		}
	case named != "" && o.Profile != named:
		r.profileNote = fmt.Sprintf("the driver names the %s profile, not %s", named, o.Profile)
		if r.cfg.Instead != nil {
			r.hint = r.cfg.Instead(named)
		}
	}
	if r.cfg.Greeted == nil {
		return nil
	}
	return r.cfg.Greeted(&r.cfg.Options)
}

// result is the run as it stands.
func (r *runner) result(final bool, unreached string) *reports.Run {
	run := r.Result(final, unreached)
	run.Kind = reports.KindClient
	run.ProfileNote, run.Hint = r.profileNote, r.hint
	c := r.cfg.Driver
	run.Subject = reports.Subject{
		Name: c.Argv[0], Argv: c.Argv, Dir: c.Dir, Env: spec.EnvNames(c.Env),
		Cwd: r.sdk.Work(), Provider: sdk.Provider, Model: sdk.Model,
	}
	if r.hello.Protocol != "" {
		run.Subject.Name, run.Subject.ServerVersion = r.hello.Subject(), r.hello.Version
	}
	if n := r.sdk.Drivers(); n > 0 {
		run.Diagnosis = &reports.Diagnosis{StartupSeconds: r.sdk.Startup().Seconds(), Processes: n}
	}
	return run
}
