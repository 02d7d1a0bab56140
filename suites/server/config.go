package server

import (
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/spec"
	"github.com/dshconform/dshconform/suites/target"
)

// Config is one run of the suite over one subject in one profile.
type Config struct {
	spec.Options
	Target target.Target

	NoDeadlines bool

	// ModelListen and ModelHost say what the stub of the model binds and what it
	// advertises; empty for loopback.
	ModelListen, ModelHost string

	// Instead is the command line that judges the subject in another profile, which
	// is the hint where it turns out to speak that one; nil is allowed.
	Instead func(protocol.Profile) string
}
