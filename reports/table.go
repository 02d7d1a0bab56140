package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Column is a run in a table, with the name that its column gets.
type Column struct {
	Name string
	Run  *Run
}

// Columns names runs for a table: by their subjects where these differ, else by subject and profile, else by the folder
// or file that they were read from.
func Columns(files []string, runs []*Run) []Column {
	candidates := []func(i int) string{
		func(i int) string { return runs[i].Subject.Name },
		func(i int) string { return strings.Join(nonEmpty(runs[i].Subject.Name, runs[i].Profile), " ") },
		func(i int) string { return fileStem(files[i]) },
		func(i int) string { return fmt.Sprintf("%d", i+1) },
	}
	for _, name := range candidates {
		cols, seen := make([]Column, len(runs)), map[string]bool{}
		for i := range runs {
			n := Visible(name(i))
			cols[i] = Column{Name: n, Run: runs[i]}
			seen[n] = n != ""
		}
		if len(seen) == len(runs) && !seen[""] && !slices.ContainsFunc(cols, func(c Column) bool { return c.Name == "" }) {
			return cols
		}
	}
	return nil // not reached: numbers always differ
}

// fileStem is what tells a results file from another: its folder for results.json, its own name otherwise.
func fileStem(file string) string {
	if filepath.Base(file) == FileName {
		return filepath.Base(filepath.Dir(file))
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// Text writes the table of several runs: requirements down, runs across, rows that differ marked with an asterisk, then
// what OBSERVE rows saw where that differs, a legend and the summaries. A single run is a plain list with
// sentences.
func Text(w io.Writer, cols []Column, color bool) error {
	t := table{cols: cols, color: color}
	if len(cols) == 1 {
		t.list()
	} else {
		t.grid()
	}
	if _, err := w.Write(t.b.Bytes()); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

type table struct {
	b     bytes.Buffer
	cols  []Column
	color bool
}

// tableRow is one line: a row of the catalogue, or a variant of one.
type tableRow struct {
	id, level string
	outcomes  []*Outcome // nil where a run has nothing about it
}

func (t *table) list() {
	r := t.cols[0].Run
	fmt.Fprintf(&t.b, "%s, %s, catalogue %s, seed %d\n", t.cols[0].Name, cmp.Or(r.Profile, r.Kind), r.Catalogue, r.Seed)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		fmt.Fprintf(&t.b, "%s  %-10s %-7s  %s%s\n", paint(t.color, q.Verdict, pad(mark(&q.Outcome), 6)), q.ID, q.Level, q.Sentence, detail(q))
		for _, v := range q.Variants {
			if v.Verdict != q.Verdict || broken(v.Verdict) {
				fmt.Fprintf(&t.b, "  %s  %s: %s\n", paint(t.color, v.Verdict, pad(mark(&v.Outcome), 6)), q.ID+"/"+v.Name, v.Sentence)
			}
		}
	}
	for i := range r.Besides {
		fmt.Fprintf(&t.b, "besides: %s  %s %s\n", mark(&r.Besides[i].Outcome), r.Besides[i].ID, r.Besides[i].Sentence)
	}
	switch {
	case len(r.Cells) > 0:
		t.b.WriteString("\n" + matrix(r.Cells))
	case len(r.Differences) > 0:
		t.b.WriteString("\n" + differencesTable(r.Differences, r.subjectNames()))
	}
	t.b.WriteString("\n" + t.legend() + "\n" + r.Closing + "\n")
}

func (t *table) grid() {
	rows := t.rows()
	idWidth := 12
	for _, r := range rows {
		idWidth = max(idWidth, len(r.id)+2)
	}
	widths := make([]int, len(t.cols))
	t.b.WriteString(pad("", idWidth+10))
	for i, c := range t.cols {
		widths[i] = max(utf8.RuneCountInString(c.Name), 6) + 2
		t.b.WriteString(pad(c.Name, widths[i]))
	}
	t.endLine()
	differing := 0
	for _, r := range rows {
		star := " "
		if r.differs() {
			star, differing = "*", differing+1
		}
		t.b.WriteString(star + " " + pad(r.id, idWidth) + pad(r.level, 8))
		for i, o := range r.outcomes {
			if o == nil {
				t.b.WriteString(pad("", widths[i]))
				continue
			}
			word := mark(o)
			t.b.WriteString(paint(t.color, o.Verdict, word) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(word)))
		}
		t.endLine()
	}
	for _, v := range Verdicts() {
		t.b.WriteString("  " + pad(strings.ReplaceAll(string(v), "_", " "), idWidth+8))
		for i, c := range t.cols {
			t.b.WriteString(pad(fmt.Sprint(c.Run.Summary.Of(v)), widths[i]))
		}
		t.endLine()
	}
	t.b.WriteByte('\n')
	t.observed(rows)
	t.b.WriteString(t.legend() + "\n* differs between the runs: " + fmt.Sprint(differing) + "\n")
	for _, c := range t.cols {
		fmt.Fprintf(&t.b, "%s: %s\n", c.Name, c.Run.Closing)
	}
}

// endLine ends a line of the table without the blanks of its last column.
func (t *table) endLine() {
	t.b.Truncate(len(bytes.TrimRight(t.b.Bytes(), " ")))
	t.b.WriteByte('\n')
}

// rows are the union of the runs' rows, in the order in which the runs have them. A row whose variants have different
// verdicts, among themselves or between the runs, is followed by its variants, since that is where a regression hides.
func (t *table) rows() []tableRow {
	var ids []string
	for _, c := range t.cols {
		at := 0
		for i := range c.Run.Requirements {
			id := c.Run.Requirements[i].ID
			if k := slices.Index(ids, id); k >= 0 {
				at = k + 1
				continue
			}
			ids = slices.Insert(ids, at, id)
			at++
		}
	}
	var rows []tableRow
	for _, id := range ids {
		row := tableRow{id: id, outcomes: make([]*Outcome, len(t.cols))}
		variants := map[string][]*Outcome{}
		var names []string
		for i, c := range t.cols {
			k := slices.IndexFunc(c.Run.Requirements, func(q Requirement) bool { return q.ID == id })
			if k < 0 {
				continue
			}
			q := &c.Run.Requirements[k]
			row.level, row.outcomes[i] = q.Level, &q.Outcome
			for j := range q.Variants {
				v := &q.Variants[j]
				if variants[v.Name] == nil {
					variants[v.Name] = make([]*Outcome, len(t.cols))
					names = append(names, v.Name)
				}
				variants[v.Name][i] = &v.Outcome
			}
		}
		rows = append(rows, row)
		if !worthSplitting(row, variants) {
			continue
		}
		for _, n := range names {
			rows = append(rows, tableRow{id: "  /" + n, outcomes: variants[n]})
		}
	}
	return rows
}

func worthSplitting(row tableRow, variants map[string][]*Outcome) bool {
	for _, outcomes := range variants {
		for i, o := range outcomes {
			if o != nil && row.outcomes[i] != nil && o.Verdict != row.outcomes[i].Verdict {
				return true
			}
		}
	}
	return false
}

// differs says whether two runs that have something about the row disagree, also about what was observed.
func (r tableRow) differs() bool {
	var first *Outcome
	for _, o := range r.outcomes {
		switch {
		case o == nil:
		case first == nil:
			first = o
		case o.Verdict != first.Verdict || observedLine(o.Observed) != observedLine(first.Observed):
			return true
		}
	}
	return false
}

// observed lists what OBSERVE rows saw where the runs differ in it.
func (t *table) observed(rows []tableRow) {
	for _, r := range rows {
		if strings.HasPrefix(r.id, " ") || !r.differs() || !slices.ContainsFunc(r.outcomes, func(o *Outcome) bool { return o != nil && len(o.Observed) > 0 }) {
			continue
		}
		fmt.Fprintf(&t.b, "%s observed\n", r.id)
		for i, o := range r.outcomes {
			if o != nil {
				fmt.Fprintf(&t.b, "  %s: %s\n", t.cols[i].Name, Shorten(cmp.Or(observedLine(o.Observed), "nothing"), 300, 0))
			}
		}
	}
}

func (t *table) legend() string {
	return "pass: held   FAIL: a MUST did not   known: it did not, as the baseline says   warn: a SHOULD did not\n" +
		"seen: observed, no right answer   n/a: does not apply   not-r: not reached   ERROR: could not be judged"
}

// mark is a verdict as a short word for a table.
func mark(o *Outcome) string {
	if broken(o.Verdict) && o.Known != nil {
		return "known"
	}
	switch o.Verdict {
	case Fail:
		return "FAIL"
	case Observed:
		return "seen"
	case NotApplicable:
		return "n/a"
	case NotReached:
		return "not-r"
	case Error:
		return "ERROR"
	}
	return string(o.Verdict)
}

// markWord is a verdict in words, for a list.
func markWord(q *Requirement) string {
	if broken(q.Verdict) && q.Known != nil {
		return "known"
	}
	return strings.ReplaceAll(string(q.Verdict), "_", " ")
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
