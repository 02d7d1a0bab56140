package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of what stands in the table of differences, in characters: two columns of values fit on 160.
const widestValue, widestField = 40, 58

// unknownDifferences are those of a scenario that no baseline knows; an empty id stands for all scenarios.
func (r *Run) unknownDifferences(id string) (list []Difference) {
	for _, d := range r.Differences {
		if d.Known == nil && (id == "" || d.ID == id) {
			list = append(list, d)
		}
	}
	return list
}

// subjectNames are the clients of a parity run, in the order in which they were given.
func (r *Run) subjectNames() []string {
	var names []string
	for _, s := range r.Subjects {
		names = append(names, s.Name)
	}
	for _, d := range r.Differences { // a file that was made by somebody else
		for _, n := range sortedKeys(d.Values) {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// differencesTable shows differences, scenarios and fields down and the clients across, those in one column that show the
// same everywhere; those that a baseline knows are marked. Values are shortened: results.json has them whole.
func differencesTable(list []Difference, names []string) string {
	columns := together(list, names)
	rows := [][]string{{"scenario", "field"}}
	for i, column := range columns {
		for at, name := range column {
			if at == len(rows) {
				rows = append(rows, make([]string, 2+len(columns)))
			}
			if at == 0 {
				rows[0] = append(rows[0], Visible(name))
			} else {
				rows[at][2+i] = Visible(name)
			}
		}
	}
	last := ""
	for _, d := range list {
		row := []string{d.ID, cutField(Visible(d.Field))}
		if d.ID == last {
			row[0] = ""
		}
		if last = d.ID; d.Known != nil {
			row[1] += " (known)"
		}
		var values []string
		for _, column := range columns {
			values = append(values, Visible(oneLine(d.shown(column[0]))))
		}
		rows = append(rows, append(row, cutApart(values)...))
	}
	return aligned(rows)
}

// shown is what a client shows.
func (d Difference) shown(name string) string {
	if value, compared := d.Values[name]; compared {
		return value
	}
	return "-"
}

// together are the clients, those together that show the same in every difference.
func together(list []Difference, names []string) (columns [][]string) {
	for _, name := range names {
		i := slices.IndexFunc(columns, func(column []string) bool {
			return !slices.ContainsFunc(list, func(d Difference) bool { return d.shown(name) != d.shown(column[0]) })
		})
		if i < 0 {
			i, columns = len(columns), append(columns, nil)
		}
		columns[i] = append(columns[i], name)
	}
	return columns
}

// cutField shortens the name of a field in the input that stands in front of it.
func cutField(s string) string {
	if i := strings.LastIndex(s, ": "); i > 0 && len(s)-i < widestField/2 {
		return cut(s[:i], widestField-len([]rune(s[i:]))) + s[i:]
	}
	return cut(s, widestField)
}

// cutApart shortens values so that what differs stays.
func cutApart(values []string) []string {
	common := []rune(values[0])
	for _, v := range values[1:] {
		n := 0
		for _, r := range v {
			if n == len(common) || common[n] != r {
				break
			}
			n++
		}
		common = common[:n]
	}
	out := make([]string, len(values))
	for i, v := range values {
		if skip := len(common) - widestValue/2; len(common) > widestValue-8 {
			v = "…" + string([]rune(v)[skip:])
		}
		out[i] = cut(v, widestValue)
	}
	return out
}

// cut shortens a text to a width in characters.
func cut(s string, width int) string {
	if runes := []rune(s); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return s
}

func visibleAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Visible(s)
	}
	return out
}

// aligned pads the columns of rows, the last one left out.
func aligned(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(pad(cell, widths[i]))
			line.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// compared counts the scenarios of a parity run in words.
func (r *Run) compared() string {
	counts := fmt.Sprintf("%d of %d scenarios compared", r.Summary.Observed, len(r.Requirements))
	reasons := map[string]int{}
	for _, q := range r.Requirements {
		if q.Verdict == NotApplicable {
			reasons[q.Because]++
		}
	}
	if n := r.Summary.NotApplicable; n > 0 {
		counts += fmt.Sprintf(", %d not applicable (%s)", n, because(reasons))
	}
	return counts
}

// parityClosing is the last line of a parity run.
func (t verdictTally) parityClosing(r *Run) string {
	known := len(r.Differences) - t.differences
	counts := r.compared()
	if known > 0 {
		counts = plural(known, "known difference", "known differences") + ", " + counts
	}
	head := "the clients agree"
	switch {
	case r.Abort != nil && r.Abort.Kind == AbortInterrupted:
		head = "interrupted"
	case r.Abort != nil:
		head = "not run: " + Visible(oneLine(r.Abort.Reason))
	case !r.Complete:
		head = "so far"
	case r.Exit != ExitConforms:
		var against []string
		for _, n := range []struct {
			count     int
			one, many string
		}{
			{t.differences, "difference", "differences"}, {t.notReached, "scenario not reached", "scenarios not reached"},
			{t.errors, "scenario could not be judged", "scenarios could not be judged"}, {t.stale, "stale baseline entry", "stale baseline entries"},
		} {
			if n.count > 0 {
				against = append(against, plural(n.count, n.one, n.many))
			}
		}
		head = "the clients differ: " + strings.Join(against, ", ")
	case r.Summary.Observed == 0:
		head = "nothing was compared"
	}
	return head + "; " + counts
}
