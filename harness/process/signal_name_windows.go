package process

import (
	"os"
	"syscall"
)

// SignalName is the name of a signal as reports and transcripts have it: "SIGTERM".
func SignalName(sig os.Signal) string {
	switch sig {
	case os.Interrupt:
		return "SIGINT"
	case os.Kill:
		return "SIGKILL"
	case syscall.SIGTERM:
		return "SIGTERM"
	}
	return sig.String()
}
