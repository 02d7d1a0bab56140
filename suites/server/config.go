package server

import (
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

// Config is one run of the suite over one subject in one profile.
type Config struct {
	Target  target.Target
	Profile protocol.Profile

	// Program is the path of this program's executable, which runs the supervisor
	// of each process. A test gives the path of one that it built.
	Program string

	Catalogue *requirements.Catalogue
	// Frozen is the revision of the catalogue that gates, "" for the newest.
	Frozen string

	// Select picks the specs to run; nil runs all.
	Select func(row requirements.Row, variant string) bool

	Seed         uint64
	TimeoutScale float64
	NoDeadlines  bool

	// ModelListen and ModelHost say what the stub of the model binds and what it
	// advertises; empty for loopback.
	ModelListen, ModelHost string

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

	// Repeat is the command line that repeats the run, to which `--id ID` is added.
	Repeat func(ids ...string) string

	// Instead is the command line that judges the subject in another profile, which
	// is the hint where it turns out to speak that one; nil is allowed.
	Instead func(protocol.Profile) string

	// Log gets remarks for the user, one line each; nil is allowed.
	Log func(format string, args ...any)
}

// Progress hears of the specs of a run.
type Progress interface {
	Started(id string, done, of int)
	Ended(id string, o reports.Outcome)
}
