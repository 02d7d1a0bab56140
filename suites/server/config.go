package server

import (
	"context"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/spec"
	"github.com/dshconform/dshconform/suites/target"
)

// Config is one run of the suite over one subject in one profile.
type Config struct {
	spec.Options
	Target target.Target

	// Predecessors has what was selected judged once more where it holds, behind the
	// specs that come before it in a whole run.
	Predecessors bool

	// OnStart is called with each process of the subject, before anything is sent to
	// it; nil is allowed. Where it gives an error the process serves nothing.
	OnStart func(context.Context, *process.Process) error

	// ModelListen and ModelHost say what the stub of the model binds and what it
	// advertises; empty for loopback.
	ModelListen, ModelHost string

	// Instead is the command line that judges the subject in another profile, which
	// is the hint where it turns out to speak that one; nil is allowed.
	Instead func(protocol.Profile) string
}
