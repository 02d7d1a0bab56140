//go:build !unix

package tap

import (
	"os"

	"github.com/dshconform/dshconform/harness/process"
)

// forwarded are the signals that are passed on to the server: here the console sends
// its own to both.
var forwarded = []os.Signal{os.Interrupt}

var brokenPipe os.Signal

func fromTerminal(os.Signal) bool { return true }

// status is how the server ended, as a shell tells it and in words.
func status(state *os.ProcessState, err error) (int, string) {
	if state == nil {
		return 255, "ended in a way that could not be observed: " + err.Error()
	}
	return state.ExitCode(), process.Exit{Code: state.ExitCode()}.String()
}
