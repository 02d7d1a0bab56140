package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/wire"
)

// Deadlines bound every wait; they are those of a server under test, with the driver and its SDK in the place of the
// subject.
type Deadlines = deadline.Deadlines

// Class is what kind of error the SDK raised, as its driver tells.
type Class string

const (
	ClassRemote   Class = "remote"   // an error response of the runtime
	ClassClosed   Class = "closed"   // the runtime has ended, was never started, or the client is closed
	ClassTimeout  Class = "timeout"  // a time-out of the SDK's own
	ClassProtocol Class = "protocol" // the runtime said what the SDK can't accept
	ClassUsage    Class = "usage"    // the caller used it wrongly
	ClassOther    Class = "other"
	classDriver   Class = "driver" // not the SDK: becomes a DriverError
)

// SDKError is an error that the SDK under test raised.
type SDKError struct {
	Class   Class
	Message string         // all the text that the SDK gives
	Code    jsontext.Value // of the error response, as the SDK gives it; empty where it gives none
	Data    jsontext.Value // likewise
	Type    string         // the name of the exception, "" where the driver does not tell
}

func (e *SDKError) Error() string {
	text := fmt.Sprintf("the SDK failed the call (%s): %s", e.Class, short(e.Message))
	if len(e.Code) > 0 {
		text += fmt.Sprintf(" (code %s)", short(string(e.Code)))
	}
	return text
}

// Fault is what is wrong with a driver.
type Fault string

const (
	FaultDied      Fault = "it ended"                                  // before it was greeted
	FaultSilent    Fault = "it does not answer"                        // to its greeting
	FaultDeaf      Fault = "it does not read its commands"             //
	FaultEchoes    Fault = "it echoes its commands"                    // as cat does
	FaultJunk      Fault = "it writes what is no message"              //
	FaultMalformed Fault = "it writes a message of another form"       // than the schema's
	FaultUnasked   Fault = "it answers what was not asked"             // an unknown id, a second reply
	FaultVersion   Fault = "it speaks another version of the protocol" //
	FaultRefused   Fault = "it could not carry out a command"          // an error of class driver
	FaultFloods    Fault = "it writes more than anybody waits for"     //
)

// DriverError says that the driver, and not the SDK that it drives, is at fault. It ends the run: exit code 3.
type DriverError struct {
	Fault  Fault
	Detail string        // in words; "" where the fault says it all
	Said   string        // its own words: the line that is wrong
	Exit   *process.Exit // where it ended
	Stderr string        // the tail
}

func (e *DriverError) Error() string {
	text := "the driver is at fault: " + string(e.Fault)
	if e.Exit != nil {
		text += " (" + e.Exit.String() + ")"
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Said != "" {
		text += ": " + short(e.Said)
	}
	return text
}

// SilentError says that a deadline passed while the driver, or the runtime's connection, lived.
type SilentError = deadline.SilentError

// EndedError says that the driver's process ended while something was awaited of the SDK in it. A crash of the SDK
// that takes its caller along looks like this, and so does a driver that gives up.
type EndedError struct {
	Awaited string
	Exited  bool // false: its stdout ended while it lives
	Exit    process.Exit
	Stderr  string // its tail
}

func (e *EndedError) Error() string {
	how := "the driver's stdout ended"
	if e.Exited {
		how = "the driver's process ended (" + e.Exit.String() + ")"
	}
	return fmt.Sprintf("%s before %s", how, e.Awaited)
}

// GoneError says that the process that the SDK launched is gone, so that nothing comes from it or goes to it.
type GoneError struct {
	Awaited string
	How     string // how it ended, in words
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the launched process is gone (%s): no %s", e.How, e.Awaited)
}

// WriteError says that the SDK did not take what the runtime wrote.
type WriteError struct {
	Stream      string
	Written, Of int           // bytes
	After       time.Duration // without a byte taken; 0 where that is not what went wrong
	Err         error
}

func (e *WriteError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("the client does not read the runtime's %s: it took %d of %d bytes and nothing more within %s", e.Stream, e.Written, e.Of, deadline.Span(e.After))
	}
	return fmt.Sprintf("wrote %d of %d bytes to %s: %v", e.Written, e.Of, e.Stream, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }

// DriverFault finds out whether an error is the driver's and not the SDK's: one that can't be started counts.
func DriverFault(err error) bool {
	var own *DriverError
	var start *process.StartError
	return errors.As(err, &own) || errors.As(err, &start)
}

// Raised gives the SDK's own error in err, nil where there is none.
func Raised(err error) *SDKError {
	var e *SDKError
	errors.As(err, &e)
	return e
}

const shortBytes = 300

// short is text as an error shows it.
func short(s string) string {
	if len(s) > shortBytes {
		return s[:shortBytes] + "…"
	}
	return s
}

func shortLine(l wire.Line) string { return short(strings.TrimRight(string(l.Raw), "\r\n")) }
