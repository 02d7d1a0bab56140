// Package relay makes this program the relay that an SDK under test launches, when its first argument or its name says
// so, before anything that the relay does not need is initialised: see package supervise, which does the same for the
// same reason.
package relay

import (
	"os"

	"github.com/dshconform/dshconform/harness/client/relay"
)

func init() {
	if relay.Wanted(os.Args) {
		os.Exit(relay.Run(os.Args))
	}
}
