package spec

import (
	"context"
	"errors"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// Options are what a run of any suite is told.
type Options struct {
	Profile protocol.Profile

	// Program is the path of this program's executable, which runs the supervisor
	// of each process and the relay. A test gives the path of one that it built.
	Program string

	Catalogue *requirements.Catalogue
	// Frozen is the revision of the catalogue that gates, "" for the newest.
	Frozen string

	// Select picks the specs to run; nil runs all.
	Select func(row requirements.Row, variant string) bool

	Seed         uint64
	TimeoutScale float64
	// NoDeadlines makes every wait as long as a session with a debugger.
	NoDeadlines bool

	// Scratch is the directory of the run: every path that the suite makes up lies
	// inside. It exists, and its owner removes it.
	Scratch string

	// Transcripts is the directory that transcripts are written to, "" for none.
	Transcripts string

	// Progress hears of each spec as it starts and ends, from one goroutine; nil is
	// allowed.
	Progress Progress

	// Begun is called once, before the first process is started, with the run as it
	// will be: how the subject is launched, and no results; nil is allowed.
	Begun func(*reports.Run)

	// Save is called with the results so far as each spec ends; nil is allowed.
	Save func(*reports.Run)

	// Repeat is the command line that repeats the run for these ids alone; nil is
	// allowed.
	Repeat func(ids ...string) string

	// RepeatBehind is the same where the process had served other specs before, which
	// the failure may need; nil stands for Repeat.
	RepeatBehind func(ids ...string) string

	// Log gets remarks for the user, one line each; nil is allowed.
	Log func(format string, args ...any)
}

// Progress hears of the specs of a run.
type Progress interface {
	Started(id string, done, of int)
	Ended(id string, o reports.Outcome)
}

// NotRunError says that the subject could not be run: nothing was judged, or
// nothing more.
type NotRunError struct{ Err error }

func (e *NotRunError) Error() string { return e.Err.Error() }
func (e *NotRunError) Unwrap() error { return e.Err }

// Early tells apart why a run ended before its end: the subject could not be run, for
// which unreached stands beside what has no outcome, or somebody stopped it. It gives
// the words for what was not reached, and the error of the run.
func Early(ctx context.Context, err error, unreached string) (string, error) {
	var notRun *NotRunError
	if errors.As(err, &notRun) {
		return unreached, err
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return "the run was interrupted", err
}
