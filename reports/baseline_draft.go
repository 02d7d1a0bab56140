package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// DraftBaseline writes a baseline out of the runs of one subject, one for each profile that was judged: every entry of
// the old one (nil for none) but for the profiles in which it is stale, then an entry for each failure that is not
// known yet. The reasons of the new ones are empty, so that the file is refused until somebody has filled
// them in; what was expected and what came stands beside them as a comment.
func DraftBaseline(runs []*Run, old *Baseline) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "schema: %s\n", BaselineSchema)
	var entries []draftEntry
	if old != nil {
		if old.Catalogue != "" {
			fmt.Fprintf(&b, "catalogue: %q\n", old.Catalogue)
		}
		for _, e := range old.Known {
			if e, holds := e.remaining(runs); holds {
				entries = append(entries, draftEntry{BaselineEntry: e})
			}
		}
	}
	entries = append(entries, unknownFailures(runs)...)
	if len(entries) == 0 {
		b.WriteString("known: []\n")
		return b.Bytes()
	}
	b.WriteString("known:\n")
	for _, e := range entries {
		b.WriteString(e.yaml(e.comment))
	}
	return b.Bytes()
}

// draftEntry is an entry with what its failure looked like.
type draftEntry struct {
	BaselineEntry
	comment string
}

// remaining is the entry without the profiles in which it is stale, false where nothing is left of it.
func (e BaselineEntry) remaining(runs []*Run) (BaselineEntry, bool) {
	var stale, sound []string
	for _, r := range runs {
		switch {
		case !e.holds(r.Profile):
		case r.Baseline != nil && slices.ContainsFunc(r.Baseline.Stale, func(s StaleEntry) bool { return s.ID == e.ID && s.Line == e.Line }):
			stale = append(stale, r.Profile)
		default:
			sound = append(sound, r.Profile)
		}
	}
	if len(stale) == 0 {
		return e, true
	}
	if len(e.Profiles) > 0 {
		sound = slices.DeleteFunc(slices.Clone(e.Profiles), func(p string) bool { return slices.Contains(stale, p) })
	}
	e.Profiles = sound
	return e, len(sound) > 0
}

// unknownFailures are entries for what failed in the runs and no baseline knows, one for each id.
func unknownFailures(runs []*Run) (entries []draftEntry) {
	at := map[string]int{}
	for _, r := range runs {
		for _, list := range [][]Requirement{r.Requirements, r.Besides} {
			for i := range list {
				for _, p := range list[i].Parts() {
					if !broken(p.Outcome.Verdict) || p.Outcome.Known != nil {
						continue
					}
					n, there := at[p.ID]
					if !there {
						n, at[p.ID] = len(entries), len(entries)
						entries = append(entries, draftEntry{
							BaselineEntry{ID: p.ID}, fmt.Sprintf("expected: %s; came: %s", oneLine(p.Outcome.Expected), oneLine(p.Outcome.Actual)),
						})
					}
					if e := &entries[n]; r.Profile != "" && !slices.Contains(e.Profiles, r.Profile) {
						e.Profiles = append(e.Profiles, r.Profile)
					}
				}
			}
		}
	}
	return entries
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
