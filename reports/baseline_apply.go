package reports

import (
	"fmt"

	"github.com/dshconform/dshconform/suites/requirements"
)

// BaselineResult is what became of a baseline in a run.
type BaselineResult struct {
	File string `json:"file"`
	// Entries is how many of its entries are for the run's profile.
	Entries int `json:"entries"`
	// Known are the ids that failed as the baseline says.
	Known []string `json:"known"`
	// Stale are the entries that were exercised and passed: they have to be taken out.
	Stale []StaleEntry `json:"stale"`
	// Flaky are the flaky entries that were exercised, with their ratio.
	Flaky []FlakyEntry `json:"flaky,omitempty"`
	// Unused are entries about which the run says nothing: not selected, not applicable, not reached, not judged.
	Unused []string `json:"unused,omitempty"`
}

// StaleEntry is an entry that the subject has outgrown.
type StaleEntry struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Line   int    `json:"line"`
	// Field is that of a difference, in a parity run.
	Field string `json:"field,omitempty"`
}

// FlakyEntry is how often a flaky requirement failed.
type FlakyEntry struct {
	ID     string `json:"id"`
	Failed int    `json:"failed"`
	Tries  int    `json:"tries"`
}

// Ratio says it in words.
func (f FlakyEntry) Ratio() string { return fmt.Sprintf("failed %d of %d", f.Failed, f.Tries) }

// Apply marks what the baseline knows in the run's requirements and besides, and fills in Run.Baseline. A nil baseline
// changes nothing. Judge has to be called afterwards.
//
// Known is what failed (or, for a SHOULD, warned) and has an entry. Stale is an entry that was exercised and passed
// and is not flaky. An entry about a requirement that was not selected, is not applicable, was not reached or
// could not be judged is neither: the run says nothing about it. And it excuses nothing but a failure: a
// requirement that was not reached fails the run with an entry too, because nobody knows whether the known
// failure is still the one that is there.
func (b *Baseline) Apply(r *Run) {
	if b == nil {
		return
	}
	res := &BaselineResult{File: b.File, Known: []string{}, Stale: []StaleEntry{}}
	parts := map[string][]Part{}
	for _, list := range [][]Requirement{r.Requirements, r.Besides} {
		for i := range list {
			for _, p := range list[i].Parts() {
				p.Outcome.Known = nil
				parts[p.ID] = append(parts[p.ID], p)
			}
			list[i].Known = nil
		}
	}
	for _, e := range b.Known {
		if !e.holds(r.Profile) {
			continue
		}
		res.Entries++
		e.apply(parts[e.ID], res)
	}
	for _, list := range [][]Requirement{r.Requirements, r.Besides} {
		for i := range list {
			list[i].markKnown()
		}
	}
	r.Baseline = res
}

func (e BaselineEntry) apply(parts []Part, res *BaselineResult) {
	used := false
	for _, p := range parts {
		v := p.Outcome.Verdict
		if broken(v) || v == Pass {
			used = true
			if passed, failed := tries(*p.Outcome); e.Flaky {
				res.Flaky = append(res.Flaky, FlakyEntry{ID: e.ID, Failed: failed, Tries: passed + failed})
			}
		}
		switch {
		case broken(v):
			p.Outcome.Known = &Known{Reason: e.Reason, Flaky: e.Flaky}
			res.Known = append(res.Known, e.ID)
		case v == Pass && !e.Flaky:
			res.Stale = append(res.Stale, StaleEntry{ID: e.ID, Reason: e.Reason, Line: e.Line})
		}
	}
	if !used {
		res.Unused = append(res.Unused, e.ID)
	}
}

// Knows gives what the baseline says about an id in a profile, nil where it says nothing. A nil baseline knows nothing.
func (b *Baseline) Knows(id, profile string) *Known {
	if b == nil {
		return nil
	}
	for _, e := range b.Known {
		if row, _ := requirements.SplitID(e.ID); (e.ID == id || row == id) && e.holds(profile) {
			return &Known{Reason: e.Reason, Flaky: e.Flaky}
		}
	}
	return nil
}

// markKnown marks a row with variants as known if everything about it that does not hold is known. Its reason is that
// of the first one.
func (r *Requirement) markKnown() {
	if !broken(r.Verdict) || !allKnown(r) {
		return
	}
	for _, p := range r.Parts() {
		if p.Outcome.Known != nil {
			known := *p.Outcome.Known
			r.Known = &known
			return
		}
	}
}
