package client

import (
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/spec"
)

// Config is one run of the suite over one SDK. Where its profile is "" it is the one
// that the driver names.
type Config struct {
	spec.Options

	// Driver is the driver's program: Argv, Dir, Env.
	Driver process.Command

	// Greeted is called once when the driver has said what it is, before anything is
	// judged, with the profile of the run: who selects by profile does so here. An
	// error ends the run. Nil is allowed.
	Greeted func(*spec.Options) error

	// Instead is the command line that judges the SDK in another profile, which is the
	// hint where the driver names that one; nil is allowed.
	Instead func(protocol.Profile) string
}
