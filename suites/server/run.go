package server

import (
	"context"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/spec"
)

// Run judges a subject in one profile. The run that it returns holds what was
// found, also where the error is a *spec.NotRunError or says that ctx ended; the
// exit code and the closing line are the caller's to work out.
func Run(ctx context.Context, cfg Config) (*reports.Run, error) {
	run, err := judge(ctx, cfg)
	if err != nil || !cfg.Predecessors || !holds(run) {
		return run, err
	}
	return behindPredecessors(ctx, cfg, run)
}

// judge runs the specs that are selected.
func judge(ctx context.Context, cfg Config) (*reports.Run, error) {
	suite := newSuite(cfg.Catalogue)
	specs, ids := suite.Choose(cfg.Options)
	ledger, err := spec.NewRun(cfg.Options, ids)
	if err != nil {
		return nil, err
	}
	r, err := newRunner(ctx, cfg, ledger)
	if err != nil {
		return nil, err
	}
	defer r.close(context.WithoutCancel(ctx))
	if cfg.Begun != nil {
		cfg.Begun(r.result(false, ""))
	}

	if err := r.preflight(ctx); err != nil {
		r.close(ctx)
		if ctx.Err() != nil {
			return r.result(false, "the run was interrupted"), err
		}
		return r.result(false, "the subject could not be run"), err
	}
	specs = spec.Applicable(ledger, specs, r.lacking())
	if r.noModel != "" {
		specs = spec.Unreachable(ledger, specs, "model", r.noModel)
	}
	r.pool = newPool(ctx, suite.inOrder(specs), r.launched)
	spec.All(ctx, ledger, "server", specs, spec.Hooks[*T]{
		Begin: r.newT, Diagnose: (*T).diagnose, Leave: (*T).leave, Result: func() *reports.Run { return r.result(false, "") },
	})
	r.close(ctx)
	if ctx.Err() != nil {
		return r.result(false, "the run was interrupted"), context.Cause(ctx)
	}
	return r.result(true, "its spec did not run"), nil
}

// result is the run as it stands.
func (r *runner) result(final bool, unreached string) *reports.Run {
	t := r.cfg.Target
	run := r.Result(final, unreached)
	run.Kind = reports.KindServer
	run.ProfileNote = r.profileNote
	run.Subject = reports.Subject{
		Name: t.Name, Argv: r.launch.Command.Argv, Dir: r.launch.Command.Dir, Env: spec.EnvNames(r.launch.Command.Env), Target: t.Path,
		Cwd: r.launch.Cwd, Provider: t.Provider, Model: t.Model, ModelEndpoint: string(t.ModelEndpoint), ServerVersion: r.version,
	}
	run.Diagnosis = r.diagnosis()
	run.Remarks = append(run.Remarks, reports.Beyond(r.extras())...)
	if r.noModel != "" {
		run.Remarks = append(run.Remarks, r.noModel)
	}
	if r.spoken != "" && r.cfg.Instead != nil {
		run.Hint = r.cfg.Instead(r.spoken)
	}
	for _, l := range t.Lacks {
		run.Subject.Lacks = append(run.Subject.Lacks, reports.Lack{Capability: l.Capability, Reason: l.Reason, Stale: r.stale(l.Capability)})
	}
	return run
}
