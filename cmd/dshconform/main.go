// Command dshconform judges implementations of the dsh SDK runtime protocol.
package main

import (
	"os"

	"github.com/dshconform/dshconform/harness/process"
)

func main() {
	// The supervisor of a subject is this same executable, started for each process
	// of a run: it must not pay for anything that the rest of the program needs.
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(process.Supervise())
	}
	os.Exit(run(os.Args[1:]))
}
