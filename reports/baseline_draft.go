package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// DraftBaseline writes a baseline out of a run: every entry of the old one (nil for none) that is not stale, then an
// entry for each failure that is not known yet. The reasons of the new ones are empty, so that the file is
// refused until somebody has filled them in; what was expected and what came stands beside them as a comment.
func DraftBaseline(r *Run, old *Baseline) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "schema: %s\n", BaselineSchema)
	if old != nil && old.Catalogue != "" {
		fmt.Fprintf(&b, "catalogue: %q\n", old.Catalogue)
	}
	type entry struct{ text string }
	var entries []entry
	if old != nil {
		for _, e := range old.Known {
			if r.Baseline != nil && e.holds(r.Profile) &&
				slices.ContainsFunc(r.Baseline.Stale, func(s StaleEntry) bool { return s.ID == e.ID && s.Line == e.Line }) {
				continue
			}
			entries = append(entries, entry{e.yaml("")})
		}
	}
	for _, list := range [][]Requirement{r.Requirements, r.Besides} {
		for i := range list {
			for _, p := range list[i].Parts() {
				if !broken(p.Outcome.Verdict) || p.Outcome.Known != nil {
					continue
				}
				comment := fmt.Sprintf("expected: %s; came: %s", oneLine(p.Outcome.Expected), oneLine(p.Outcome.Actual))
				e := BaselineEntry{ID: p.ID, Profiles: []string{r.Profile}}
				if r.Profile == "" {
					e.Profiles = nil
				}
				entries = append(entries, entry{e.yaml(comment)})
			}
		}
	}
	if len(entries) == 0 {
		b.WriteString("known: []\n")
		return b.Bytes()
	}
	b.WriteString("known:\n")
	for _, e := range entries {
		b.WriteString(e.text)
	}
	return b.Bytes()
}

func (e BaselineEntry) yaml(comment string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - id: %s\n", e.ID)
	if comment != "" {
		fmt.Fprintf(&b, "    # %s\n", Shorten(Visible(comment), 200, 0))
	}
	fmt.Fprintf(&b, "    reason: %s\n", yamlString(e.Reason))
	if len(e.Profiles) > 0 {
		fmt.Fprintf(&b, "    profiles: [%s]\n", strings.Join(e.Profiles, ", "))
	}
	if e.Flaky {
		b.WriteString("    flaky: true\n")
	}
	return b.String()
}

// yamlString writes a text as a double-quoted YAML scalar, which may hold anything.
func yamlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < 0x20 || r == 0x7f || hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
