package server

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
)

// DiedError says that the process ended, or closed its stdout, while something
// was awaited of it.
type DiedError struct {
	Awaited string
	Exited  bool // false: stdout ended while the process lives
	Exit    process.Exit
	Stderr  string // its tail
}

func (e *DiedError) Error() string {
	how := "stdout ended"
	if e.Exited {
		how = "the process ended (" + e.Exit.String() + ")"
	}
	return fmt.Sprintf("%s before %s", how, e.Awaited)
}

// SilentError says that a deadline passed while the process lived.
type SilentError = deadline.SilentError

// WriteError says that the subject did not take what was written to it, although
// it lives. Where it has ended, a write gives a *DiedError.
type WriteError struct {
	Written, Of int           // bytes
	After       time.Duration // without a byte taken; 0 where that is not what went wrong
	Err         error
}

func (e *WriteError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("the server does not read its stdin: it took %d of %d bytes and nothing more within %s", e.Written, e.Of, deadline.Span(e.After))
	}
	return fmt.Sprintf("wrote %d of %d bytes to stdin: %v", e.Written, e.Of, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }

// RefusedError is an error response where a result was needed.
type RefusedError struct {
	Method string
	Error_ string // the error member as it stood on the wire
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s was answered with an error: %s", orNone(e.Method), protocol.Short(e.Error_))
}

// FloodError says that the subject wrote more than anybody waits for.
type FloodError struct {
	Bytes int64 // how much was read of it, the cost of keeping its lines included
	What  string
}

func (e *FloodError) Error() string {
	return fmt.Sprintf("stdout holds more than %d MiB of %s; the rest was not read", (e.Bytes-1)>>20, e.What)
}

func orNone(s string) string {
	if s == "" {
		return "the request"
	}
	return s
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
