package reports

import (
	"fmt"
	"strings"
)

// Diagnosis is what became of the subject's processes: of all in a run, or of the one that a failure was seen on.
type Diagnosis struct {
	// Exit is the exit code, nil while the process runs or if a signal ended it; Signal is the name of that.
	Exit   *int   `json:"exit,omitempty"`
	Signal string `json:"signal,omitempty"`
	// Stderr is the tail of what the process wrote there, StderrBytes how much it was in all.
	Stderr      string `json:"stderr,omitempty"`
	StderrBytes int64  `json:"stderr_bytes,omitempty"`
	// StartupSeconds is the time to the first response of the process, in a run of the first one.
	StartupSeconds float64 `json:"startup_seconds,omitempty"`
	// PeakBytes is the highest resident memory of a subject's process.
	PeakBytes int64 `json:"peak_bytes,omitempty"`
	// Processes is how many subjects were started; Left are processes that were still running when they should not.
	Processes int      `json:"processes,omitempty"`
	Left      []string `json:"left,omitempty"`
}

// lines say it to a human, with so many lines of stderr at most.
func (d *Diagnosis) lines(most int) (out []string) {
	var parts []string
	if d.Exit != nil {
		parts = append(parts, fmt.Sprintf("exit status %d", *d.Exit))
	}
	if d.Signal != "" {
		parts = append(parts, "ended by "+Visible(d.Signal))
	}
	if d.Processes > 0 {
		parts = append(parts, plural(d.Processes, "process", "processes")+" started")
	}
	if d.StartupSeconds > 0 {
		parts = append(parts, fmt.Sprintf("first answer after %.3fs", d.StartupSeconds))
	}
	if d.PeakBytes > 0 {
		parts = append(parts, fmt.Sprintf("peak memory %d MiB", d.PeakBytes>>20))
	}
	if d.StderrBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes on stderr", d.StderrBytes))
	}
	if len(parts) > 0 {
		out = append(out, "subject: "+strings.Join(parts, ", "))
	}
	for _, l := range d.Left {
		out = append(out, "  still running: "+Visible(l))
	}
	if tail := strings.TrimSpace(d.Stderr); tail != "" {
		out = append(out, "  stderr, its end:")
		lines := strings.Split(VisibleLines(tail), "\n")
		for _, l := range lines[max(0, len(lines)-most):] {
			out = append(out, "    "+Shorten(l, 200, 0))
		}
	}
	return out
}
