package reports

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
)

// ParityBaselineSchema is the name and version of the format of a parity baseline.
const ParityBaselineSchema = "dshconform.parity-baseline/v1"

// ParityBaseline says which differences between clients are known, each with a reason. docs/parity.md documents the
// file.
type ParityBaseline struct {
	// File is the name that it was read from.
	File  string
	Known []ParityEntry
}

// ParityEntry is one known difference. It is known as long as these clients show these values.
type ParityEntry struct {
	ID, Field string
	Values    map[string]string // by client
	Reason    string
	// Profiles are those for which the entry holds; none stands for all.
	Profiles []string
	// Line is where the entry stands in the file.
	Line int
}

type yamlParityBaseline struct {
	Schema string `yaml:"schema"`
	Known  []struct {
		ID       string            `yaml:"id"`
		Field    string            `yaml:"field"`
		Values   map[string]string `yaml:"values"`
		Reason   string            `yaml:"reason"`
		Profiles []string          `yaml:"profiles"`
	} `yaml:"known"`
}

// ReadParityBaseline reads a parity baseline from a file and checks it against the catalogue, before anything runs.
func ReadParityBaseline(cat *requirements.Catalogue, file string) (*ParityBaseline, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return ParseParityBaseline(cat, file, data)
}

// ParseParityBaseline reads a parity baseline. Errors name file, line and column: besides what is wrong as YAML, an id
// that is no scenario, a missing field or reason, values of fewer than two clients or that are all the same, a profile
// that the scenario does not have, and an entry that stands there twice.
func ParseParityBaseline(cat *requirements.Catalogue, name string, data []byte) (*ParityBaseline, error) {
	var y yamlParityBaseline
	doc, err := strictyaml.Decode(name, data, &y)
	if err != nil {
		return nil, err
	}
	if y.Schema != ParityBaselineSchema {
		return nil, doc.Errorf("$.schema", "the schema is %q, not %s", y.Schema, ParityBaselineSchema)
	}
	b := &ParityBaseline{File: name}
	for i, k := range y.Known {
		at := fmt.Sprintf("$.known[%d]", i)
		e := ParityEntry{ID: k.ID, Field: k.Field, Values: k.Values, Reason: strings.TrimSpace(k.Reason), Profiles: k.Profiles}
		row, _, err := cat.Lookup(k.ID)
		switch {
		case err != nil:
			return nil, doc.Errorf(at+".id", "%w", err)
		case row.Role != requirements.Parity:
			return nil, doc.Errorf(at+".id", "%s is a requirement on a %s, and no scenario of parity", k.ID, row.Role)
		case e.Field == "":
			return nil, doc.Errorf(at+".id", "%s has no field: a baseline names the one that differs", k.ID)
		case e.Reason == "":
			return nil, doc.Errorf(at+".id", "%s has no reason: a baseline says why each difference is there", k.ID)
		case len(slices.Compact(slices.Sorted(maps.Values(e.Values)))) < 2:
			return nil, doc.Errorf(at+".id", "%s has no values that differ: a baseline names the clients with what each shows", k.ID)
		}
		for j, p := range k.Profiles {
			if !row.Binds(p) {
				return nil, doc.Errorf(fmt.Sprintf("%s.profiles[%d]", at, j), "%s is not played in a profile %q: it is in %s", k.ID, p, strings.Join(row.Profiles, ", "))
			}
		}
		for _, other := range b.Known {
			if other.about(e.ID, e.Field, e.Values) && overlap(other.Profiles, e.Profiles) {
				return nil, doc.Errorf(at+".id", "%s %s of these clients stands here twice (before in line %d)", e.ID, e.Field, other.Line)
			}
		}
		e.Line = doc.Line(at + ".id")
		b.Known = append(b.Known, e)
	}
	return b, nil
}

// about says whether the entry is about this field of these clients, whatever they show.
func (e ParityEntry) about(id, field string, values map[string]string) bool {
	return e.ID == id && e.Field == field && slices.Equal(sortedKeys(e.Values), sortedKeys(values))
}

func (e ParityEntry) holds(profile string) bool {
	return len(e.Profiles) == 0 || slices.Contains(e.Profiles, profile)
}

// Apply marks what the baseline knows among the differences of a run, and fills in Run.Baseline. A nil baseline changes
// nothing. Judge has to be called afterwards.
//
// Known is a difference that the same clients show with the same values. Stale is an entry whose scenario was compared
// with all of its clients, and that is no such difference. An entry about a scenario that was not compared, or about
// clients that the run does not have, is neither.
func (b *ParityBaseline) Apply(r *Run) {
	if b == nil {
		return
	}
	res := &BaselineResult{File: b.File, Known: []string{}, Stale: []StaleEntry{}}
	for i := range r.Differences {
		r.Differences[i].Known = nil
	}
	for _, e := range b.Known {
		if !e.holds(r.Profile) {
			continue
		}
		res.Entries++
		i := slices.IndexFunc(r.Differences, func(d Difference) bool {
			return e.about(d.ID, d.Field, d.Values) && maps.Equal(e.Values, d.Values)
		})
		switch {
		case i >= 0:
			r.Differences[i].Known = &Known{Reason: e.Reason}
			res.Known = append(res.Known, e.ID+" "+e.Field)
		case e.compared(r):
			res.Stale = append(res.Stale, StaleEntry{ID: e.ID, Field: e.Field, Reason: e.Reason, Line: e.Line})
		default:
			res.Unused = append(res.Unused, e.ID+" "+e.Field)
		}
	}
	r.Baseline = res
}

// compared says whether the run compared the entry's clients in its scenario.
func (e ParityEntry) compared(r *Run) bool {
	names := r.subjectNames()
	for client := range e.Values {
		if !slices.Contains(names, client) {
			return false
		}
	}
	return slices.ContainsFunc(r.Requirements, func(q Requirement) bool { return q.ID == e.ID && q.Verdict == Observed })
}

// DraftParityBaseline writes a parity baseline out of a run: every entry of the old one (nil for none) but for those that
// are stale, then an entry for each difference that is not known yet. The reasons of the new ones are empty, so that the
// file is refused until somebody has filled them in.
func DraftParityBaseline(r *Run, old *ParityBaseline) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "schema: %s\n", ParityBaselineSchema)
	var entries []ParityEntry
	if old != nil {
		entries = slices.DeleteFunc(slices.Clone(old.Known), func(e ParityEntry) bool {
			return r.Baseline != nil && slices.ContainsFunc(r.Baseline.Stale, func(s StaleEntry) bool { return s.Line == e.Line })
		})
	}
	for _, d := range r.unknownDifferences("") {
		entries = append(entries, ParityEntry{ID: d.ID, Field: d.Field, Values: d.Values, Profiles: []string{r.Profile}})
	}
	if len(entries) == 0 {
		b.WriteString("known: []\n")
		return b.Bytes()
	}
	b.WriteString("known:\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "  - id: %s\n    field: %s\n    values:\n", e.ID, yamlString(e.Field))
		for _, client := range sortedKeys(e.Values) {
			fmt.Fprintf(&b, "      %s: %s\n", yamlString(client), yamlString(e.Values[client]))
		}
		fmt.Fprintf(&b, "    reason: %s\n", yamlString(e.Reason))
		if len(e.Profiles) > 0 {
			fmt.Fprintf(&b, "    profiles: [%s]\n", strings.Join(e.Profiles, ", "))
		}
	}
	return b.Bytes()
}
