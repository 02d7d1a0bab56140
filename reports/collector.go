package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dshconform/dshconform/suites/requirements"
)

// Collector gathers outcomes while a run goes on. It is safe for concurrent use: specs and the monitor record into
// it from different goroutines.
type Collector struct {
	cat     *requirements.Catalogue
	profile string
	frozen  string

	mu       sync.Mutex
	selected map[string]bool // ids of variants, and of rows without any
	rows     []requirements.Row
	outcomes map[string]Outcome
}

// NewCollector makes a collector for the ids that were selected and are implemented: bare ids stand for all
// variants of their row. The profile is that of the run; rows that don't bind it are not applicable by
// themselves. frozen is the revision that gates the run, empty for none. An id that the catalogue does not have is
// an error.
func NewCollector(cat *requirements.Catalogue, profile, frozen string, ids []string) (*Collector, error) {
	c := &Collector{cat: cat, profile: profile, frozen: frozen, selected: map[string]bool{}, outcomes: map[string]Outcome{}}
	for _, id := range ids {
		row, variant, err := cat.Lookup(id)
		if err != nil {
			return nil, fmt.Errorf("selecting requirements: %w", err)
		}
		if variant != "" {
			c.selected[id] = true
		} else {
			for _, full := range row.IDs() {
				c.selected[full] = true
			}
		}
		if !slices.ContainsFunc(c.rows, func(r requirements.Row) bool { return r.ID == row.ID }) {
			c.rows = append(c.rows, row)
		}
	}
	slices.SortFunc(c.rows, func(a, b requirements.Row) int { return cmp.Compare(cat.Position(a.ID), cat.Position(b.ID)) })
	return c, nil
}

// Record adds what was found out about an id, the bare id of a row with variants included (the monitor knows the
// rule that was broken, and not always the situation). The verdict is brought to the level of the row. An id that
// the catalogue does not have is an error of the caller and panics: a test asserts that none can be emitted.
func (c *Collector) Record(id string, o Outcome) {
	row, _, err := c.cat.Lookup(id)
	if err != nil {
		panic(fmt.Sprintf("reports: recording an outcome: %v", err))
	}
	if !o.Verdict.Valid() {
		panic(fmt.Sprintf("reports: recording %s: %q is no verdict", id, o.Verdict))
	}
	o.Verdict = o.Verdict.AtLevel(row.Level)
	if len(o.Frames) > maxFrames {
		o.Frames = o.Frames[len(o.Frames)-maxFrames:] // what shows it is at the end
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.outcomes[id]; ok {
		o = Merge(before, o)
	}
	c.outcomes[id] = o
}

// Attach adds to an outcome what was kept of the spec that it came up in. What is there stays.
func (c *Collector) Attach(id string, e Evidence) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o, ok := c.outcomes[id]; ok {
		o.attach(e)
		c.outcomes[id] = o
	}
}

// Outcome returns what is known about an id so far.
func (c *Collector) Outcome(id string) (Outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.outcomes[id]
	return o, ok
}

// Requirements returns the selected rows with what is known about them. While the run goes on those without an outcome
// are left out; with final set, they get the one that says why: another profile, nothing that provoked them, or
// not reached for the given reason.
func (c *Collector) Requirements(final bool, unreached string) []Requirement {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []Requirement{}
	for _, row := range c.rows {
		if r, ok := c.requirement(row, final, unreached); ok {
			out = append(out, r)
		}
	}
	return out
}

func (c *Collector) requirement(row requirements.Row, final bool, unreached string) (Requirement, bool) {
	r := c.describe(row)
	own, haveOwn := c.outcomes[row.ID]
	var parts []Outcome
	if haveOwn {
		parts = append(parts, own)
		if len(row.Variants) > 0 && (own.Verdict == Fail || own.Verdict == Warn) {
			own.Frames = nonNil(own.Frames)
			r.Bare = &own
		}
	}
	for _, v := range row.Variants {
		id := requirements.JoinID(row.ID, v.Name)
		if !c.selected[id] {
			continue
		}
		o, ok := c.outcomes[id]
		switch {
		case !ok && !final:
			continue
		case !ok:
			o = c.missing(row, unreached)
		}
		o.Frames = nonNil(o.Frames)
		r.Variants = append(r.Variants, Variant{Name: v.Name, Sentence: v.Sentence, New: c.cat.Newer(id, c.frozen), Outcome: o})
		parts = append(parts, o)
	}
	if len(parts) == 0 {
		if !final {
			return Requirement{}, false
		}
		parts = append(parts, c.missing(row, unreached))
	}
	r.Outcome = rowOutcome(parts)
	return r, true
}

// rowOutcome is that of a row out of its parts: its own (of the monitor) and those of its variants.
func rowOutcome(parts []Outcome) Outcome {
	o := parts[0]
	for _, p := range parts[1:] {
		o = Merge(o, p)
	}
	o.Frames = nonNil(o.Frames)
	return o
}

// missing is the outcome of an id about which nothing was recorded by the end.
func (c *Collector) missing(row requirements.Row, unreached string) Outcome {
	switch {
	case c.profile != "" && !row.Binds(c.profile):
		return NotBinding(row)
	case row.Monitor:
		return NotProvoked()
	default:
		return Outcome{Verdict: NotReached, Reason: unreached, Frames: []Frame{}}
	}
}

// Besides returns the violations of ids that were not selected. Observations are no violations.
func (c *Collector) Besides() []Requirement {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []Requirement{}
	byRow := map[string]int{}
	ids := make([]string, 0, len(c.outcomes))
	for id := range c.outcomes {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.cat.Position(a), c.cat.Position(b)), cmp.Compare(a, b))
	})
	for _, id := range ids {
		o := c.outcomes[id]
		if (o.Verdict != Fail && o.Verdict != Warn) || c.isSelected(id) {
			continue
		}
		row, variant, _ := c.cat.Find(id)
		o.Frames = nonNil(o.Frames)
		i, ok := byRow[row.ID]
		if !ok {
			i = len(out)
			byRow[row.ID] = i
			r := c.describe(row)
			r.Outcome = o
			out = append(out, r)
		} else {
			out[i].Outcome = Merge(out[i].Outcome, o)
		}
		if v, ok := row.Variant(variant); !ok && len(row.Variants) > 0 {
			out[i].Bare = &o
		} else if ok {
			out[i].Variants = append(out[i].Variants, Variant{Name: v.Name, Sentence: v.Sentence, New: c.cat.Newer(id, c.frozen), Outcome: o})
		}
	}
	return out
}

// isSelected says whether an id has its place among the requirements: a variant that was selected, or a row of
// which any variant was, since a verdict of the monitor about the row has no other place.
func (c *Collector) isSelected(id string) bool {
	if strings.Contains(id, "/") {
		return c.selected[id]
	}
	return slices.ContainsFunc(c.rows, func(r requirements.Row) bool { return r.ID == id })
}

func (c *Collector) describe(row requirements.Row) Requirement {
	return Requirement{
		ID: row.ID, Level: string(row.Level), Sentence: row.Sentence, Source: c.cat.SourceText(row),
		New: c.cat.Newer(row.ID, c.frozen),
	}
}

// NotBinding is the outcome of a row that does not bind the profile of the run.
func NotBinding(row requirements.Row) Outcome {
	return Outcome{
		Verdict: NotApplicable, Because: "another profile", Frames: []Frame{},
		Reason: "it binds " + strings.Join(row.Profiles, " and ") + " alone",
	}
}

// NotProvoked is the outcome of a monitor row whose situation never arose.
func NotProvoked() Outcome {
	return Outcome{Verdict: NotApplicable, Because: "not provoked", Reason: "its situation never arose", Frames: []Frame{}}
}

// Lacking is the outcome of a row that needs a capability which the subject (or its driver, or the platform) lacks;
// the reason is that of who said so, and may be empty.
func Lacking(k requirements.Capability, reason string) Outcome {
	o := Outcome{Verdict: NotApplicable, Because: k.Lacking, Reason: "it needs " + k.Name, Frames: []Frame{}}
	if reason != "" {
		o.Reason += ": " + reason
	}
	return o
}

func nonNil(f []Frame) []Frame {
	if f == nil {
		return []Frame{}
	}
	return f
}
