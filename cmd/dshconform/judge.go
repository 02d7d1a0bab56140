package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// judging is a run of a suite, from the flags to the exit code.
type judging struct {
	spec.Options
	flags *judgingFlags
	role  requirements.Role
	keep  *keeper
	out   *shown
	ids   []string // out of --id, those that concern this run
	count int      // of the requirements and variants to judge
	ended *reports.Run
}

func newJudging(f *judgingFlags, role requirements.Role) (*judging, error) {
	cat, err := requirements.Load()
	if err != nil {
		return nil, failed("%w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, failed("finding the executable of dshconform: %w", err)
	}
	return &judging{Options: spec.Options{Catalogue: cat, Program: program}, flags: f, role: role, ids: f.ids}, nil
}

// pinned is a file that says which revision of the catalogue it is for, "" where it says nothing.
type pinned struct{ file, revision string }

// prepare reads the options of a run. Everything that is wrong in them is found here, before anything is started.
func (j *judging) prepare(target pinned) (err error) {
	f := j.flags
	j.TimeoutScale = f.timeoutScale
	j.keep = &keeper{dir: f.report, strict: f.strict, min: f.minExercised}
	if f.changed("report") && f.report == "" {
		return misuse("--report takes a directory")
	}
	if f.changed("id") && strings.TrimSpace(strings.Join(f.ids, "")) == "" {
		return misuse("--id names no requirement") // as where a variable of a script is empty
	}
	if f.minExercised < 0 {
		return misuse("--min-exercised takes a number of requirements, not %d", f.minExercised)
	}
	if j.Seed, err = seedOf(f.seed); err != nil {
		return err
	}
	if j.role == requirements.Parity {
		j.keep.parity, err = f.knownDifferences(j.Catalogue)
	} else {
		j.keep.baseline, err = f.knownFailures(j.Catalogue)
	}
	if err != nil {
		return err
	}
	j.Frozen, err = j.frozen(target)
	return err
}

// choose reads what is to be judged of a subject of a profile.
func (j *judging) choose(profile protocol.Profile, implemented map[string]bool) error {
	picked, count, err := choose(j.Catalogue, j.role, implemented, string(profile), j.ids, j.flags.label)
	if err != nil {
		return err
	}
	j.Profile, j.Select, j.count = profile, picked.picks, count
	return nil
}

// frozen is the revision of the catalogue that gates the run.
func (j *judging) frozen(target pinned) (string, error) {
	f, b := j.flags, j.keep.baseline
	if f.changed("catalogue") {
		if err := j.Catalogue.CheckRevision(f.catalogue); err != nil {
			return "", misuse("--catalogue: %w", err)
		}
		return f.catalogue, nil
	}
	revision := target.revision
	if b != nil && b.Catalogue != "" {
		if revision != "" && revision != b.Catalogue {
			return "", misuse("%s is for the revision %s of the catalogue and %s for %s: --catalogue says which counts", target.file, revision, b.File, b.Catalogue)
		}
		revision = b.Catalogue
	}
	return revision, nil
}

// run judges, shows and keeps what that came to, and gives the exit code.
func (j *judging) run(ctx context.Context, judge func(context.Context) (*reports.Run, error)) (int, error) {
	if err := j.keep.open(); err != nil {
		return 0, err
	}
	j.Transcripts, j.Save = j.keep.transcripts(), j.keep.save
	var run *reports.Run
	err := j.within(ctx, func(ctx context.Context) (err error) {
		run, err = judge(ctx)
		return err
	})
	return j.conclude(run, err)
}

// within does what needs a scratch tree and signals that are watched.
func (j *judging) within(ctx context.Context, do func(context.Context) error) (err error) {
	if j.Scratch, err = os.MkdirTemp("", "dshconform-"); err != nil {
		return failed("making a scratch directory: %w", err)
	}
	boundMemory()
	ctx, stop := onInterrupt(ctx, func(s os.Signal) {
		j.keep.abandon((&interrupted{s}).Error())
		_ = j.removeScratch() // the supervisors end the subjects when this program has ended
		os.Exit(reports.ExitInterrupted)
	})
	defer stop()
	j.out = humans(j.flags)
	j.Progress, j.Log = j.out, j.out.note
	err = do(ctx)
	j.out.close()
	if j.flags.keep {
		j.out.note("the scratch tree is kept: %s", j.Scratch)
	}
	if cleanErr := j.removeScratch(); cleanErr != nil {
		j.out.note("%v", cleanErr)
	}
	return err
}

func (j *judging) removeScratch() error {
	if j.flags.keep {
		return nil
	}
	return removeTree(j.Scratch)
}

// humans is where a person reads: stdout, unless that is for the JSON.
func humans(f *judgingFlags) *shown {
	out := os.Stdout
	if f.json {
		out = os.Stderr
	}
	return &shown{out: out, options: reports.ConsoleOptions{Color: reports.Color(out, f.noColor), Verbose: f.verbose}}
}

// begun shows and keeps a run that begins.
func (j *judging) begun(r *reports.Run) {
	j.keep.save(r)
	header(j.out, r)
	j.out.wait(j.count)
}

// greeted chooses anew when the subject has said which profile it speaks.
func (j *judging) greeted(o *spec.Options, implemented map[string]bool) error {
	err := j.choose(o.Profile, implemented)
	o.Select = j.Select
	return err
}

// header shows what is about to be judged. Errors of the console don't end a run: its results are in the report.
func header(out *shown, r *reports.Run) {
	_ = reports.ConsoleHeader(out.out, r, out.options)
	for _, file := range []struct{ what, path string }{{"target:  ", r.Subject.Target}, {"baseline:", r.Subject.Baseline}} {
		if file.path != "" {
			fmt.Fprintf(out.out, "  %s %s\n", file.what, reports.Visible(file.path))
		}
	}
}

// conclude writes what a run came to, in every form that was asked for, and gives the exit code.
func (j *judging) conclude(run *reports.Run, err error) (int, error) {
	defer surviveReaders()()
	var notRun *spec.NotRunError
	var stopped *interrupted
	var wrong *failure
	switch {
	case errors.As(err, &wrong):
		return 0, err
	case run == nil:
		return 0, failed("%w", err)
	case errors.As(err, &notRun):
		run.Abort = &reports.Abort{Kind: reports.AbortNotRun, Reason: err.Error()}
	case errors.As(err, &stopped):
		run.Abort = &reports.Abort{Kind: reports.AbortInterrupted, Reason: err.Error()}
	}
	saveErr := j.keep.finish(run)
	j.ended = run
	if j.flags.json {
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
		// A reader that has gone (a pipe into head) knows what it has read; a verdict that could not be written is one that
		// nobody knows.
		if err := reports.Console(j.out.out, brief(run), j.out.options); err != nil && !errors.Is(err, syscall.EPIPE) && saveErr == nil {
			saveErr = err
		}
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
