package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/server"
)

// judgeServer is `dshconform server`: it reads everything that was asked for before it starts anything, judges, and
// returns the exit code.
func judgeServer(ctx context.Context, f *serverFlags, command []string) (int, error) {
	cat, err := requirements.Load()
	if err != nil {
		return 0, failed("%w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return 0, failed("finding the executable of dshconform: %w", err)
	}
	subject, err := subjectOf(cat, f, command, program)
	if err != nil {
		return 0, err
	}
	cfg, keep, specs, err := prepare(cat, f, subject)
	if err != nil {
		return 0, err
	}
	cfg.Program = program
	again := repeater{flags: f, profile: subject.profile, seed: cfg.Seed, command: command}
	cfg.Repeat, cfg.Instead = again.ids, again.instead

	if cfg.Scratch, err = os.MkdirTemp("", "dshconform-"); err != nil {
		return 0, failed("making a scratch directory: %w", err)
	}
	boundMemory()
	ctx, stop := onInterrupt(ctx, func(s os.Signal) {
		keep.abandon((&interrupted{s}).Error())
		_ = removeTree(cfg.Scratch) // the supervisors end the subjects when this program has ended
		os.Exit(reports.ExitInterrupted)
	})
	defer stop()
	out := humans(f)
	cfg.Progress, cfg.Log = out, out.note
	cfg.Begun = func(r *reports.Run) {
		keep.save(r)
		header(out, r, subject)
		out.wait(specs)
	}
	run, err := server.Run(ctx, cfg)
	out.close()
	if cleanErr := removeTree(cfg.Scratch); cleanErr != nil {
		out.note("%v", cleanErr)
	}
	return conclude(f, keep, out, run, err)
}

// prepare reads the options of a run. Everything that is wrong in them is found here, before anything is started.
func prepare(cat *requirements.Catalogue, f *serverFlags, s subject) (cfg server.Config, keep *keeper, specs int, err error) {
	cfg = server.Config{Target: s.target, Profile: s.profile, Catalogue: cat, TimeoutScale: f.timeoutScale}
	keep = &keeper{dir: f.report, strict: f.strict, min: f.minExercised}
	if f.changed("report") && f.report == "" {
		return cfg, nil, 0, misuse("--report takes a directory")
	}
	if !(f.timeoutScale > 0 && f.timeoutScale <= 1000) {
		return cfg, nil, 0, misuse("--timeout-scale takes a number between 0 and 1000, not %v", f.timeoutScale)
	}
	if f.minExercised < 0 {
		return cfg, nil, 0, misuse("--min-exercised takes a number of requirements, not %d", f.minExercised)
	}
	if cfg.Seed, err = seedOf(f.seed); err != nil {
		return cfg, nil, 0, err
	}
	picked, specs, err := selectServer(cat, string(s.profile), f.ids, f.label)
	if err != nil {
		return cfg, nil, 0, err
	}
	cfg.Select = picked.picks
	if f.changed("baseline") {
		if keep.baseline, err = reports.ReadBaseline(cat, f.baseline); err != nil {
			return cfg, nil, 0, misuse("%w", err)
		}
	}
	if cfg.Frozen, err = frozen(cat, f, s, keep.baseline); err != nil {
		return cfg, nil, 0, err
	}
	if err := keep.open(); err != nil {
		return cfg, nil, 0, err
	}
	cfg.Transcripts = keep.transcripts()
	cfg.Save = keep.save
	return cfg, keep, specs, nil
}

// frozen is the revision of the catalogue that gates the run.
func frozen(cat *requirements.Catalogue, f *serverFlags, s subject, b *reports.Baseline) (string, error) {
	if f.changed("catalogue") {
		if err := cat.CheckRevision(f.catalogue); err != nil {
			return "", misuse("--catalogue: %w", err)
		}
		return f.catalogue, nil
	}
	revision := s.target.Catalogue
	if b != nil && b.Catalogue != "" {
		if revision != "" && revision != b.Catalogue {
			return "", misuse("%s is for the revision %s of the catalogue and %s for %s: --catalogue says which counts", s.target.Path, revision, b.File, b.Catalogue)
		}
		revision = b.Catalogue
	}
	return revision, nil
}

// humans is where a person reads: stdout, unless that is for the JSON.
func humans(f *serverFlags) *shown {
	out := os.Stdout
	if f.json {
		out = os.Stderr
	}
	return &shown{out: out, options: reports.ConsoleOptions{Color: reports.Color(out, f.noColor), Verbose: f.verbose}}
}

// header shows what is about to be judged. Errors of the console don't end a run: its results are in the report.
func header(out *shown, r *reports.Run, s subject) {
	_ = reports.ConsoleHeader(out.out, r, out.options)
	for _, file := range []struct{ what, path string }{{"target:  ", r.Subject.Target}, {"baseline:", r.Subject.Baseline}} {
		if file.path != "" {
			fmt.Fprintf(out.out, "  %s %s\n", file.what, reports.Visible(file.path))
		}
	}
	if len(s.further) > 0 {
		names := make([]string, len(s.further))
		for i, p := range s.further {
			names[i] = string(p)
		}
		out.note("the target lists further profiles: --profile judges %s", strings.Join(names, " or "))
	}
}

// conclude writes what a run came to, in every form that was asked for, and gives the exit code.
func conclude(f *serverFlags, keep *keeper, out *shown, run *reports.Run, err error) (int, error) {
	var notRun *server.NotRunError
	var stopped *interrupted
	switch {
	case run == nil:
		return 0, failed("%w", err)
	case errors.As(err, &notRun):
		run.Abort = &reports.Abort{Kind: reports.AbortNotRun, Reason: err.Error()}
	case errors.As(err, &stopped):
		run.Abort = &reports.Abort{Kind: reports.AbortInterrupted, Reason: err.Error()}
	}
	saveErr := keep.finish(run)
	if f.json {
		if err := reports.WriteJSON(os.Stdout, run); err != nil {
			return 0, failed("%w", err)
		}
	}
	switch {
	case notRun != nil:
		fmt.Fprintf(os.Stderr, "dshconform: could not run the subject: %s\n", strings.TrimRight(reports.VisibleLines(err.Error()), "\n"))
	case err != nil && stopped == nil:
		return 0, failed("%w", err)
	default:
		_ = reports.Console(out.out, brief(run), out.options) // see header
	}
	if saveErr != nil {
		return 0, &failure{max(run.Exit, reports.ExitFails), saveErr}
	}
	return run.Exit, nil
}

// brief is what is worth showing of a run: one that was interrupted says in its numbers how much was not reached, and
// need not list it.
func brief(run *reports.Run) *reports.Run {
	if run.Abort == nil {
		return run
	}
	r := *run
	r.Requirements = slices.DeleteFunc(slices.Clone(run.Requirements), func(q reports.Requirement) bool {
		return q.Verdict == reports.NotReached
	})
	return &r
}

// boundMemory keeps the program well below what a CI machine has. Frames of 16 MiB come and go quickly, and the
// collector would otherwise let twice as much lie about as is in use.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(256 << 20)
	}
}
