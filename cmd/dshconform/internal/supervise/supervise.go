// Package supervise makes this program the supervisor of a subject when its first argument says so, before anything
// that the supervisor does not need is initialised.
//
// The supervisor is the same executable as everything else, started once for each process of a run. Most of what its start
// cost was the initialisation of packages that it never uses: a JSON Schema library compiles its metaschemas, for one.
// Go initialises packages in the order of their import paths, as far as their imports allow. This one imports little
// and comes early in that order, so it can take over before the costly ones: 3 ms instead of 9.
package supervise

import (
	"os"

	"github.com/dshconform/dshconform/harness/process"
)

// Command is the hidden subcommand.
const Command = "supervise"

func init() {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(process.Supervise())
	}
}
