package snapshot

import (
	"fmt"
	"strings"
)

// around is how many equal lines a diff shows around a change.
const around = 3

// edit is one line of a diff: ' ' in both, '-' in the old, '+' in the new.
type edit struct {
	op   byte
	line string
}

// mostCells bounds the table of the comparison. What differs more than that is shown
// as replaced.
const mostCells = 1 << 24

// unified is a unified diff of two texts, "" where they are equal.
func unified(oldName, newName, before, after string) string {
	if before == after {
		return ""
	}
	edits := compare(lines(before), lines(after))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
	oldLine, newLine := 1, 1
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i++
			oldLine, newLine = oldLine+1, newLine+1
			continue
		}
		from, to := i, hunkEnd(edits, i)
		for from > 0 && i-from < around && edits[from-1].op == ' ' {
			from--
		}
		oldFrom, newFrom := oldLine-(i-from), newLine-(i-from)
		olds, news := 0, 0
		for _, e := range edits[from:to] {
			if e.op != '+' {
				olds++
			}
			if e.op != '-' {
				news++
			}
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", oldFrom, olds, newFrom, news)
		for _, e := range edits[from:to] {
			fmt.Fprintf(&b, "%c%s\n", e.op, e.line)
		}
		oldLine, newLine = oldFrom+olds, newFrom+news
		i = to
	}
	return b.String()
}

// hunkEnd is where the hunk that has a change at i ends: behind the equal lines that
// follow its last change, with no change near enough to belong to it.
func hunkEnd(edits []edit, i int) int {
	equal := 0
	for ; i < len(edits); i++ {
		if edits[i].op != ' ' {
			equal = 0
			continue
		}
		if equal++; equal > 2*around {
			return i + 1 - equal + around
		}
	}
	return i - max(0, equal-around)
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compare gives the edits by the longest common subsequence.
func compare(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	end := 0
	for end < len(a) && end < len(b) && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for _, l := range a[len(a)-end:] {
		tail = append(tail, edit{' ', l})
	}
	a, b = a[:len(a)-end], b[:len(b)-end]
	return append(append(head, middle(a, b)...), tail...)
}

func middle(a, b []string) (out []edit) {
	i, j := 0, 0
	if (len(a)+1)*(len(b)+1) <= mostCells {
		width := len(b) + 1
		common := make([]int32, (len(a)+1)*width) // length of that of a[i:] and b[j:]
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				if a[i] == b[j] {
					common[i*width+j] = common[(i+1)*width+j+1] + 1
				} else {
					common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
				}
			}
		}
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				out = append(out, edit{' ', a[i]})
				i, j = i+1, j+1
			case common[(i+1)*width+j] >= common[i*width+j+1]:
				out = append(out, edit{'-', a[i]})
				i++
			default:
				out = append(out, edit{'+', b[j]})
				j++
			}
		}
	}
	for ; i < len(a); i++ {
		out = append(out, edit{'-', a[i]})
	}
	for ; j < len(b); j++ {
		out = append(out, edit{'+', b[j]})
	}
	return out
}
