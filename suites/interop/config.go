package interop

import (
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

// Client is one of the SDKs.
type Client struct {
	Name string
	// Driver is its driver's program: Argv, Dir, Env.
	Driver process.Command
	// Baseline says which rows on clients it is known to break; nil for none.
	Baseline *reports.Baseline
}

// Server is one of the servers.
type Server struct {
	Name   string
	Target target.Target
	// Baseline says which rows on servers it is known to break; nil for none.
	Baseline *reports.Baseline
}

// Config is one run.
type Config struct {
	Catalogue *requirements.Catalogue
	// Program is the path of dshconform, which runs the supervisor and the tap.
	Program string
	// Profile is what the pairs are held to, "" for that of each driver.
	Profile protocol.Profile

	Clients []Client
	Servers []Server
	// Skip reports whether a pair is left out; nil leaves out none.
	Skip func(client, server string) bool

	// Seed is that of the report: nothing here is left to chance.
	Seed         uint64
	TimeoutScale float64
	// Scratch is the existing directory of the run; Transcripts gets the recordings, ""
	// for none.
	Scratch, Transcripts string

	// Begun is called once, before the first pair, with the run as it will be; Save with
	// the results so far as each pair ends. Started hears of a pair that begins. Nil is
	// allowed.
	Begun, Save func(*reports.Run)
	Started     func(pair string, done, of int)
	// Repeat is the command line that repeats one pair; nil is allowed.
	Repeat func(client, server string) string
	// Log gets remarks for the user, one line each; nil is allowed.
	Log func(format string, args ...any)
}
