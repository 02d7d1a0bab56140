package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/suites/requirements"
)

// selection is what --id and --label pick. The zero value picks everything.
type selection struct {
	ids    []string // bare ids stand for all variants of their row
	labels func(requirements.Row) bool
}

// choose reads --id and --label for a run on a subject of one role in one profile, and counts what they leave to judge.
// Where that is nothing they are wrong use: a typo must not look like a green run. done are the ids that are implemented.
// The profile is "" where it is not known yet; then whatever binds some profile counts.
func choose(cat *requirements.Catalogue, role requirements.Role, done map[string]bool, profile string, ids []string, label string) (s selection, count int, err error) {
	binds := func(row requirements.Row) bool { return profile == "" || row.Binds(profile) }
	if s.labels, err = labelFilter(cat, role, label); err != nil {
		return s, 0, err
	}
	for _, id := range ids {
		id = strings.TrimSpace(id)
		if id == "" {
			continue
		}
		row, _, err := cat.Lookup(id)
		switch {
		case err != nil:
			return s, 0, misuse("--id: %w", err)
		case row.Role != role:
			return s, 0, misuse("--id: %s is a requirement on a %s, not on a %s", id, row.Role, role)
		case !done[id] && !slices.ContainsFunc(row.IDs(), func(v string) bool { return strings.HasPrefix(v, id) && done[v] }):
			return s, 0, misuse("--id: %s is not judged by this version yet", id)
		case !binds(row):
			return s, 0, misuse("--id: %s does not bind the profile %s: it binds %s", id, profile, strings.Join(row.Profiles, " and "))
		}
		s.ids = append(s.ids, id)
	}
	for _, row := range cat.Rows(role) {
		for _, id := range row.IDs() {
			_, variant := requirements.SplitID(id)
			if done[id] && binds(row) && s.picks(row, variant) {
				count++
			}
		}
	}
	if count > 0 {
		return s, count, nil
	}
	return s, 0, misuse("the selection matches no requirement that binds a %s of the profile %s", role, profile)
}

// picks says whether a spec belongs to the selection.
func (s selection) picks(row requirements.Row, variant string) bool {
	if s.labels != nil && !s.labels(row) {
		return false
	}
	return len(s.ids) == 0 || slices.Contains(s.ids, row.ID) || slices.Contains(s.ids, requirements.JoinID(row.ID, variant))
}

// labelFilter reads a label expression in Ginkgo's grammar. An empty one selects everything. A label that no row of
// the role has is an error, negated ones included: `!TRM` would exclude nothing.
func labelFilter(cat *requirements.Catalogue, role requirements.Role, expression string) (func(requirements.Row) bool, error) {
	filter, err := types.ParseLabelFilter(expression)
	if err != nil {
		return nil, misuse("--label %q: %s", expression, labelError(err))
	}
	known := cat.KnownLabels(role)
	for _, label := range labelsIn(expression) {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, label) }) {
			return nil, misuse("--label %q: no requirement has the label %q%s", expression, label, didYouMean(label, known))
		}
	}
	return func(r requirements.Row) bool { return filter(r.Labels()) }, nil
}

// labelError takes the reason out of Ginkgo's error, which draws the place over several lines.
func labelError(err error) string {
	text := err.Error()
	var drawn types.GinkgoError
	if errors.As(err, &drawn) {
		lines := strings.Split(strings.TrimSpace(drawn.Message), "\n")
		text = lines[len(lines)-1]
	}
	return strings.TrimSpace(text)
}

// labelsIn are the labels that a well-formed expression names, without those that a regular expression stands for.
func labelsIn(expression string) (labels []string) {
	rest := expression
	for rest != "" {
		i := strings.IndexAny(rest, "&|!(),/")
		word := rest
		if i >= 0 {
			word = rest[:i]
		}
		if word = strings.TrimSpace(word); word != "" {
			labels = append(labels, word)
		}
		if i < 0 {
			break
		}
		slash := rest[i] == '/'
		rest = rest[i+1:]
		if slash {
			_, rest, _ = strings.Cut(rest, "/")
		}
	}
	return labels
}

// didYouMean suggests the known word that is nearest to one that is not known, if one is near at all.
func didYouMean(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance counts the letters to insert, to delete, to replace, and the neighbours to swap.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			d[i][j] = min(replaced, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func completeLabels(c *cobra.Command, role requirements.Role) {
	complete(c, "label", func() []string {
		cat, err := requirements.Load()
		if err != nil {
			return nil
		}
		return cat.KnownLabels(role)
	})
}
