package protocol

import (
	"bytes"

	"github.com/dshconform/dshconform/harness/wire"
)

// Violation is one departure from one requirement.
type Violation struct {
	Row      string // the id of the requirement, with its variant where it has any: "S-IDS-01/empty"
	Expected string // one sentence
	Actual   string // one sentence
	Frames   []wire.Line
}

// evidenceBytes is how much of a line is kept to show what happened.
const evidenceBytes = 2048

// Evidence is a copy of l that is short enough to keep. Its Size still tells the
// length of the original.
func Evidence(l wire.Line) wire.Line {
	if l.Size == 0 {
		l.Size = int64(len(l.Raw))
	}
	raw := l.Raw
	if len(raw) > evidenceBytes {
		raw = raw[:evidenceBytes]
	}
	l.Raw = bytes.Clone(raw)
	return l
}

// perRow bounds how many violations of one requirement are told in full; a
// subject that breaks a rule with every line must not fill the memory.
const perRow = 5

// findings is what a monitor has found, and how often it looked. Both monitors
// keep their books with it.
type findings struct {
	found   []Violation    // not yet handed out
	counts  map[string]int // violations by requirement, told or not
	told    map[string]int // those that were told since the last Retell
	applied map[string]int // how often a rule was applied
}

func newFindings() findings {
	return findings{counts: map[string]int{}, told: map[string]int{}, applied: map[string]int{}}
}

// take hands out what is new.
func (f *findings) take() (fresh []Violation) {
	fresh, f.found = f.found, nil
	return fresh
}

func (f *findings) violate(row, expected, actual string, frames ...wire.Line) {
	f.counts[row]++
	if f.told[row] >= perRow {
		return
	}
	f.told[row]++
	v := Violation{Row: row, Expected: expected, Actual: actual}
	for _, l := range frames {
		if l.Size > 0 || len(l.Raw) > 0 {
			v.Frames = append(v.Frames, Evidence(l))
		}
	}
	f.found = append(f.found, v)
}

// Retell has violations of these requirements told in full again, as if none had been.
// What counts against something else from now on is to be heard of.
func (f *findings) Retell(rows ...string) {
	for _, row := range rows {
		delete(f.told, row)
	}
}

// Violations is the number of violations of a requirement so far, told or not.
func (f *findings) Violations(row string) int { return f.counts[row] }

// Exercised is how often a rule of the requirement was applied: 0 means that
// nothing provoked it, so that its silence says nothing.
func (f *findings) Exercised(row string) int { return f.applied[row] }

func (f *findings) apply(row string) { f.applied[row]++ }
