package client

import (
	"strings"

	"github.com/dshconform/dshconform/reports"
)

// mostTail is how much of a driver's stderr a failure shows, in bytes.
const mostTail = 2000

// diagnose says what had become of the driver when the spec turned out not to hold, nil
// where that is nothing worth knowing.
func (t *T) diagnose() *reports.Diagnosis {
	driver := t.visit.Driver()
	if driver == nil {
		return nil
	}
	stderr := driver.Stderr()
	exit, ended := driver.Process().Exit()
	if !ended && stderr.Total == 0 {
		return nil
	}
	tail := stderr.Tail[max(0, len(stderr.Tail)-mostTail):]
	d := &reports.Diagnosis{Stderr: strings.ToValidUTF8(string(tail), "\ufffd"), StderrBytes: stderr.Total}
	if ended {
		if d.Signal = exit.Signal; exit.Signal == "" && !exit.Unknown {
			d.Exit = &exit.Code
		}
	}
	return d
}
