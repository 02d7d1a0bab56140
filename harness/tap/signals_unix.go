//go:build unix

package tap

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dshconform/dshconform/harness/process"
)

// forwarded are the signals that are passed on to the server.
var forwarded = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

var brokenPipe os.Signal = syscall.SIGPIPE

// fromTerminal reports whether a signal is one that a key sends to all processes of
// the terminal's foreground group, the server among them.
func fromTerminal(sig os.Signal) bool {
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group := -1
	err = onFd(tty, func(fd int) { group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP) })
	return err == nil && group == unix.Getpgrp()
}

// status is how the server ended, as a shell tells it and in words.
func status(state *os.ProcessState, err error) (int, string) {
	if state == nil {
		return 255, "ended in a way that could not be observed: " + err.Error()
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), process.Exit{Signal: process.SignalName(w.Signal())}.String()
	}
	return state.ExitCode(), process.Exit{Code: state.ExitCode()}.String()
}
