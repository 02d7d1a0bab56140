package server

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// NotRunError says that the subject could not be run: nothing was judged.
type NotRunError struct{ Err error }

func (e *NotRunError) Error() string { return e.Err.Error() }
func (e *NotRunError) Unwrap() error { return e.Err }

// Run judges a subject in one profile. The run that it returns holds what was
// found, also where the error is a *NotRunError or says that ctx ended; the exit
// code and the closing line are the caller's to work out.
func Run(ctx context.Context, cfg Config) (*reports.Run, error) {
	specs, ids := choose(cfg)
	results, err := reports.NewCollector(cfg.Catalogue, string(cfg.Profile), cfg.Frozen, ids)
	if err != nil {
		return nil, err
	}
	r, err := newRunner(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r.results = results
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
	specs = r.applicable(specs)
	fresh := 0
	for _, s := range specs {
		fresh += s.fresh
	}
	r.pool = newPool(ctx, fresh, r.launched)
	r.ginkgo(ctx, specs)
	r.close(ctx)
	if ctx.Err() != nil {
		return r.result(false, "the run was interrupted"), context.Cause(ctx)
	}
	return r.result(true, "its spec did not run"), nil
}

// choose picks the specs to run, and the ids that the result is about: those of
// the specs and those of the monitor's rows.
func choose(cfg Config) (specs []spec, ids []string) {
	picked := func(row requirements.Row, variant string) bool { return cfg.Select == nil || cfg.Select(row, variant) }
	all := newSuite(cfg.Catalogue).specs
	for _, s := range all {
		if picked(s.row, s.variant) {
			ids = append(ids, s.id)
			if s.row.Binds(string(cfg.Profile)) {
				specs = append(specs, s)
			}
		}
	}
	for _, row := range cfg.Catalogue.Rows(requirements.Server) {
		if row.Monitor && !slices.Contains(ids, row.ID) && picked(row, "") {
			ids = append(ids, row.ID)
		}
	}
	slices.SortStableFunc(specs, func(a, b spec) int { return min(a.fresh, 1) - min(b.fresh, 1) })
	return specs, ids
}

// applicable settles the specs whose rows the subject or the platform leaves
// without anything to judge, and returns the others.
func (r *runner) applicable(specs []spec) []spec {
	reasons := r.platformLacks()
	for _, l := range r.cfg.Target.Lacks {
		reasons[l.Capability] = l.Reason
	}
	lacks := slices.Sorted(maps.Keys(reasons))
	return slices.DeleteFunc(specs, func(s spec) bool {
		capability, blocked := r.cfg.Catalogue.Blocked(s.row, s.variant, lacks)
		if blocked {
			r.results.Record(s.id, reports.Lacking(capability, reasons[capability.Name]))
		}
		return blocked
	})
}

// specTimeout bounds a spec as a whole, far above what its own deadlines allow:
// it catches a mistake of the suite, not a slow subject.
const specTimeout = 30 * time.Minute

// ginkgo runs the specs under Ginkgo, whose own output goes nowhere.
func (r *runner) ginkgo(ctx context.Context, specs []spec) {
	if len(specs) == 0 {
		return
	}
	formatter.ColorableStdOut, formatter.ColorableStdErr = io.Discard, io.Discard
	globals.Reset()
	ginkgo.Describe("server", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		for i, s := range specs {
			ginkgo.It(s.id+" "+s.row.SentenceOf(s.variant), ginkgo.Label(s.row.Labels()...), func(sc ginkgo.SpecContext) {
				specCtx, cancel := context.WithCancelCause(sc)
				defer cancel(nil)
				defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
				if ctx.Err() != nil {
					ginkgo.AbortSuite("interrupted")
				}
				if o := r.spec(specCtx, s, i, len(specs)); o.Verdict == reports.Fail {
					ginkgo.Fail(o.Expected + ": " + o.Actual)
				}
			})
		}
	})
	suiteCfg, reporterCfg := ginkgo.GinkgoConfiguration()
	suiteCfg.RandomSeed = int64(r.cfg.Seed % (1 << 31))
	suiteCfg.Timeout = 24 * time.Hour
	suiteCfg.GracePeriod = time.Minute
	suiteCfg.EmitSpecProgress = false
	reporterCfg.NoColor, reporterCfg.Succinct = true, true
	ginkgo.RunSpecs(discard{}, "dshconform server", suiteCfg, reporterCfg)
}

// discard takes the verdict of Ginkgo on the suite as a whole: ours are by
// requirement.
type discard struct{}

func (discard) Fail() {}

// spec runs one spec and settles its outcome.
func (r *runner) spec(ctx context.Context, s spec, i, of int) reports.Outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, specTimeout, fmt.Errorf("the spec did not end within %s", specTimeout))
	defer cancel()
	t := &T{Ctx: ctx, Profile: r.cfg.Profile, run: r, spec: s}
	r.current.Store(&s.id)
	if r.cfg.Progress != nil {
		r.cfg.Progress.Started(s.id, i, of)
	}
	start := time.Now()
	t.body()
	t.outcome.Seconds = time.Since(start).Seconds()
	t.leave()
	if t.stopped || ctx.Err() != nil && !t.Failed() {
		return reports.Outcome{}
	}
	t.outcome.Repeat = r.repeat(s.id)
	if t.outcome.Frames == nil {
		t.outcome.Frames = []reports.Frame{}
	}
	if t.transcripts > 0 {
		t.outcome.Transcript = "transcripts/" + transcriptName(s.id, 1)
	}
	r.results.Record(s.id, t.outcome)
	o, _ := r.results.Outcome(s.id) // with what the monitor saw of it
	if r.cfg.Progress != nil {
		r.cfg.Progress.Ended(s.id, o)
	}
	if r.cfg.Save != nil {
		r.cfg.Save(r.result(false, ""))
	}
	return o
}

// body runs the spec's body and brings what it recorded to a verdict.
func (t *T) body() {
	defer func() {
		switch p := recover().(type) {
		case nil, stop:
		default:
			buf := make([]byte, 4096)
			buf = buf[:runtime.Stack(buf, false)]
			t.outcome = reports.Outcome{Verdict: reports.Error, Reason: fmt.Sprintf("the spec panicked: %v\n%s", p, buf)}
			t.found = nil
		}
		t.conclusion()
	}()
	t.spec.body(t)
}

// conclusion derives the verdict where the spec did not end early.
func (t *T) conclusion() {
	switch {
	case len(t.found) > 0:
		first := t.found[0]
		observed := t.outcome.Observed
		t.outcome = reports.Outcome{Verdict: reports.Fail, Expected: first.Expected, Actual: first.Actual, Frames: first.Frames, More: t.found[1:], Observed: observed}
	case t.outcome.Verdict != "" || t.stopped:
	case t.spec.row.Level != requirements.Observe:
		t.outcome.Verdict = reports.Pass
	case len(t.outcome.Observed) > 0:
		t.outcome.Verdict = reports.Observed
	default:
		t.outcome = reports.Outcome{Verdict: reports.Error, Reason: "the spec observed nothing"}
	}
}

// result is the run as it stands.
func (r *runner) result(final bool, unreached string) *reports.Run {
	t := r.cfg.Target
	run := &reports.Run{
		Kind:      reports.KindServer,
		Catalogue: r.cfg.Catalogue.Revision(), Frozen: r.cfg.Frozen,
		Started: r.begun, Seconds: time.Since(r.begun).Seconds(),
		Profile: string(r.cfg.Profile), Seed: r.cfg.Seed, Complete: final,
		Subject: reports.Subject{
			Name: t.Name, Argv: r.launch.Command.Argv, Dir: r.launch.Command.Dir, Env: names(r.launch.Command.Env), Target: t.Path,
			Cwd: r.launch.Cwd, Provider: t.Provider, Model: t.Model, ModelEndpoint: string(t.ModelEndpoint), ServerVersion: r.version,
		},
		ProfileNote:  r.profileNote,
		Requirements: r.results.Requirements(final || unreached != "", unreached),
		Besides:      r.results.Besides(),
	}
	if r.startup > 0 {
		run.Diagnosis = &reports.Diagnosis{StartupSeconds: r.startup.Seconds()}
	}
	if r.spoken != "" && r.cfg.Instead != nil {
		run.Hint = r.cfg.Instead(r.spoken)
	}
	for _, l := range t.Lacks {
		run.Subject.Lacks = append(run.Subject.Lacks, reports.Lack{Capability: l.Capability, Reason: l.Reason, Stale: r.stale(l.Capability)})
	}
	return run
}

func names(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
