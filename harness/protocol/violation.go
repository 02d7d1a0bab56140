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

func (m *Monitor) violate(row, expected, actual string, frames ...wire.Line) {
	m.counts[row]++
	if m.counts[row] > perRow {
		return
	}
	v := Violation{Row: row, Expected: expected, Actual: actual}
	for _, f := range frames {
		if f.Size > 0 || len(f.Raw) > 0 {
			v.Frames = append(v.Frames, Evidence(f))
		}
	}
	m.found = append(m.found, v)
}

// Violations is the number of violations of a requirement so far, told or not.
func (m *Monitor) Violations(row string) int { return m.counts[row] }

// Exercised is how often a rule of the requirement was applied: 0 means that
// nothing provoked it, so that its silence says nothing.
func (m *Monitor) Exercised(row string) int { return m.applied[row] }

func (m *Monitor) apply(row string) { m.applied[row]++ }
