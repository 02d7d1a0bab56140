package process

import (
	"fmt"
	"time"
)

// Exit is how the launched process ended and what it used, children that it waited for included
// in User, System and MaxRSS as the kernel's wait4 counts them.
type Exit struct {
	// Code is the exit status, or -1 where a signal ended the process or the status is unknown.
	Code int
	// Signal is the name of the signal that ended the process, such as "SIGTERM"; empty if none did.
	Signal string
	// SignalNumber is the number of Signal, 0 if none.
	SignalNumber int
	// Unknown is true where nobody could wait for the process, because its supervisor was killed
	// (which takes the process with it).
	Unknown bool
	// At is when the process was reaped.
	At time.Time
	// MaxRSS is the peak resident memory in bytes. Linux counts in what the supervisor's small process had
	// at the fork, so a subject of a few MiB shows those. Zero where the platform can't tell.
	MaxRSS int64
	// User and System are CPU times.
	User, System time.Duration
}

// Success is whether the process exited with status 0.
func (e Exit) Success() bool { return !e.Unknown && e.Signal == "" && e.Code == 0 }

// Status is the exit status as a shell gives it: 128+n for signal n, 255 where it is unknown.
func (e Exit) Status() int {
	switch {
	case e.Unknown:
		return 255
	case e.SignalNumber != 0:
		return 128 + e.SignalNumber
	}
	return e.Code
}

// String is the outcome as a report shows it: "exit status 3", "killed by SIGTERM".
func (e Exit) String() string {
	switch {
	case e.Unknown:
		return "ended in a way that could not be observed"
	case e.Signal != "":
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
