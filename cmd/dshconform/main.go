package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	_ "github.com/dshconform/dshconform/cmd/dshconform/internal/relay"     // `dshconform relay`, before main
	_ "github.com/dshconform/dshconform/cmd/dshconform/internal/supervise" // `dshconform supervise`, likewise
	"github.com/dshconform/dshconform/reports"
)

func main() {
	os.Exit(guarded(os.Args[1:]))
}

// guarded runs the program. A mistake of ours ends it with a line that can be reported, and not with a stack trace
// that looks like one of the user's.
func guarded(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "dshconform: a mistake of dshconform itself, please report it: %v (%s, %s)\n", p, panicPlace(), version())
			code = reports.ExitFails
		}
	}()
	return execute(args)
}

// panicPlace finds where the panic came from: the innermost of our frames.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
		case panicked && f.File != "" && !isRuntime(f.Function):
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "at an unknown place"
		}
	}
}

func isRuntime(function string) bool { return len(function) > 8 && function[:8] == "runtime." }
