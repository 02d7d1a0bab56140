package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/suites/requirements"
)

// Exit codes of the program, as far as results decide about them.
const (
	ExitConforms    = 0
	ExitFails       = 1
	ExitUsage       = 2
	ExitNotRun      = 3
	ExitInterrupted = 130
)

// Judge works out summary, counts, closing line and exit code of a run, out of its requirements, its baseline result
// and its options alone. It may be called again after any of them has changed.
func Judge(r *Run) {
	r.Summary, r.Musts = Summary{}, Musts{}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		if p := r.Summary.at(q.Verdict); p != nil {
			*p++
		}
		// A row that is newer than what gates the run must not move the numbers of --min-exercised either.
		if q.Level == string(requirements.Must) && !q.New {
			r.Musts.count(q)
		}
	}
	t := tally(r)
	r.Exit = t.exit(r)
	r.Closing = t.closing(r)
}

func (m *Musts) count(q *Requirement) {
	m.Total++
	switch {
	case q.Verdict == NotApplicable:
		m.NotApplicable++
		if m.Because == nil {
			m.Because = map[string]int{}
		}
		m.Because[cmp.Or(q.Because, "other reasons")]++
	case q.Verdict.Exercised():
		m.Exercised++
		if q.Verdict == Fail && allKnown(q) {
			m.Known++
		}
	}
}

// allKnown says whether everything about the row that does not hold is in the baseline.
func allKnown(q *Requirement) bool {
	for _, p := range q.Parts() {
		if broken(p.Outcome.Verdict) && p.Outcome.Known == nil {
			return false
		}
	}
	return true
}

func broken(v Verdict) bool { return v == Fail || v == Warn }

// verdictTally counts the rows that decide about the exit code.
type verdictTally struct {
	failed, notReached, errors int // rows at a level that gates
	warned                     int // SHOULD rows that do not hold, gating under --strict
	besides                    int
	stale                      int
	differences                int
	pairs                      int // that do not work
}

func tally(r *Run) verdictTally {
	var t verdictTally
	for i := range r.Requirements {
		q := &r.Requirements[i]
		must := q.Level == string(requirements.Must)
		gates := must || r.Kind == KindParity || (r.Strict && q.Level == string(requirements.Should))
		switch worstGating(q) {
		case Fail:
			t.failed++
		case Warn:
			t.warned++
		case NotReached:
			if gates {
				t.notReached++
			}
		case Error:
			if gates {
				t.errors++
			}
		}
	}
	for i := range r.Besides {
		if w := worstGating(&r.Besides[i]); w == Fail || (w == Warn && r.Strict) {
			t.besides++
		}
	}
	if r.Baseline != nil {
		t.stale = len(r.Baseline.Stale)
	}
	if r.Kind != KindInterop {
		t.differences = len(r.unknownDifferences(""))
	}
	for _, c := range r.Cells {
		if !c.Works {
			t.pairs++
		}
	}
	return t
}

// worstGating is the worst verdict of a row's parts, but for those that the baseline knows and those that are newer
// than the revision that gates.
func worstGating(q *Requirement) Verdict {
	worst := NotApplicable
	for _, p := range q.Parts() {
		if p.New || (broken(p.Outcome.Verdict) && p.Outcome.Known != nil) {
			continue
		}
		worst = Worst(worst, p.Outcome.Verdict)
	}
	return worst
}

func (t verdictTally) exit(r *Run) int {
	switch {
	case r.Abort != nil && r.Abort.Kind == AbortInterrupted:
		return ExitInterrupted
	case r.Abort != nil:
		return ExitNotRun
	case t.failed+t.notReached+t.errors+t.besides+t.stale+t.differences+t.pairs > 0,
		r.Strict && t.warned > 0,
		!r.Complete, // what is left in a file when the suite itself was killed says nothing good
		r.Musts.Exercised < r.MinExercised:
		return ExitFails
	}
	return ExitConforms
}

// closing is the last line of the console. It always says how much was exercised, because "nothing failed" means
// little on a subject for which half of the catalogue is not applicable.
func (t verdictTally) closing(r *Run) string {
	switch r.Kind {
	case KindParity:
		return t.parityClosing(r)
	case KindInterop:
		return t.interopClosing(r)
	}
	counts := fmt.Sprintf("%d of %d MUSTs exercised", r.Musts.Exercised, r.Musts.Total)
	if r.Musts.Known > 0 {
		counts += fmt.Sprintf(" (%s)", plural(r.Musts.Known, "known failure", "known failures"))
	}
	if r.Musts.NotApplicable > 0 {
		counts += fmt.Sprintf(", %d not applicable (%s)", r.Musts.NotApplicable, because(r.Musts.Because))
	}
	if r.Abort != nil {
		head := "interrupted"
		if r.Abort.Kind != AbortInterrupted {
			head = "not run: " + Visible(oneLine(r.Abort.Reason))
		}
		if t.failed > 0 {
			head += fmt.Sprintf(", %d failed so far", t.failed)
		}
		return head + "; " + counts
	}
	var against []string
	add := func(n int, one, many string) {
		if n > 0 {
			against = append(against, plural(n, one, many))
		}
	}
	add(t.failed, "failed", "failed")
	add(t.notReached, "not reached", "not reached")
	add(t.errors, "could not be judged", "could not be judged")
	add(t.besides, "violation besides the selection", "violations besides the selection")
	add(t.differences, "difference", "differences")
	if r.Strict {
		add(t.warned, "warning (strict)", "warnings (strict)")
	}
	add(t.stale, "stale baseline entry", "stale baseline entries")
	if r.Musts.Exercised < r.MinExercised {
		against = append(against, fmt.Sprintf("%d exercised, at least %d asked for", r.Musts.Exercised, r.MinExercised))
	}
	switch {
	case len(against) > 0:
		return "does not conform: " + strings.Join(against, ", ") + "; " + counts
	case !r.Complete:
		return "so far: " + counts
	case r.exercisedAny():
		if t.warned > 0 {
			counts += ", " + plural(t.warned, "warning", "warnings")
		}
		return "conforms: " + counts
	default:
		return "nothing was exercised: " + counts
	}
}

// exercisedAny says whether anything at all was put to the test; a run of OBSERVE rows alone conforms too.
func (r *Run) exercisedAny() bool {
	return r.Summary.Pass+r.Summary.Fail+r.Summary.Warn+r.Summary.Observed > 0
}

// because lists reasons by how often they apply, then by name.
func because(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s: %d", n, counts[n])
	}
	return strings.Join(names, ", ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
