package reports

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
)

// BaselineSchema is the name and version of the format of a baseline.
const BaselineSchema = "dshconform.baseline/v1"

// Baseline says which requirements are known not to hold for a subject, each with a reason. docs/baseline.md
// documents the file.
type Baseline struct {
	// File is the name that it was read from.
	File string
	// Catalogue is the revision that the file freezes, empty for none.
	Catalogue string
	Known     []BaselineEntry
}

// BaselineEntry is one known failure.
type BaselineEntry struct {
	// ID is that of a row without variants, or of a variant.
	ID     string
	Reason string
	// Profiles are those for which the entry holds; none stands for all.
	Profiles []string
	// Flaky lets both outcomes pass.
	Flaky bool
	// Line is where the entry stands in the file.
	Line int
}

type yamlBaseline struct {
	Schema    string `yaml:"schema"`
	Catalogue string `yaml:"catalogue"`
	Known     []struct {
		ID       string   `yaml:"id"`
		Reason   string   `yaml:"reason"`
		Profiles []string `yaml:"profiles"`
		Flaky    bool     `yaml:"flaky"`
	} `yaml:"known"`
}

// ReadBaseline reads a baseline from a file and checks it against the catalogue, before anything runs.
func ReadBaseline(cat *requirements.Catalogue, file string) (*Baseline, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return ParseBaseline(cat, file, data)
}

// ParseBaseline reads a baseline. Errors name file, line and column: besides what is wrong as YAML, an id that the
// catalogue does not have, a family or a level, the bare id of a row with variants, an OBSERVE row, a
// missing reason, a profile that the row does not bind, and an entry that stands there twice.
func ParseBaseline(cat *requirements.Catalogue, name string, data []byte) (*Baseline, error) {
	var y yamlBaseline
	doc, err := strictyaml.Decode(name, data, &y)
	if err != nil {
		return nil, err
	}
	if y.Schema != BaselineSchema {
		return nil, doc.Errorf("$.schema", "the schema is %q, not %s", y.Schema, BaselineSchema)
	}
	b := &Baseline{File: name, Catalogue: y.Catalogue}
	if y.Catalogue != "" {
		if err := cat.CheckRevision(y.Catalogue); err != nil {
			return nil, doc.Errorf("$.catalogue", "%w", err)
		}
	}
	for i, k := range y.Known {
		at := fmt.Sprintf("$.known[%d]", i)
		e := BaselineEntry{ID: k.ID, Reason: strings.TrimSpace(k.Reason), Profiles: k.Profiles, Flaky: k.Flaky}
		if err := checkEntryID(cat, k.ID); err != nil {
			return nil, doc.Errorf(at+".id", "%w", err)
		}
		if e.Reason == "" {
			return nil, doc.Errorf(at+".reason", "%s has no reason: a baseline says why each failure is there", k.ID)
		}
		row, _, _ := cat.Find(k.ID)
		for j, p := range k.Profiles {
			pat := fmt.Sprintf("%s.profiles[%d]", at, j)
			if !slices.Contains(requirements.Profiles(), p) {
				return nil, doc.Errorf(pat, "there is no profile %q: there are %s", p, strings.Join(requirements.Profiles(), ", "))
			}
			if !row.Binds(p) {
				return nil, doc.Errorf(pat, "%s does not bind the profile %s", row.ID, p)
			}
		}
		for _, other := range b.Known {
			if other.ID == e.ID && overlap(other.Profiles, e.Profiles) {
				return nil, doc.Errorf(at+".id", "%s stands here twice (before in line %d)", e.ID, other.Line)
			}
		}
		e.Line = doc.Line(at + ".id")
		b.Known = append(b.Known, e)
	}
	return b, nil
}

// checkEntryID refuses what can't be excluded: an unknown id, whole families and levels, the bare id of a row with
// variants, and rows that can't fail.
func checkEntryID(cat *requirements.Catalogue, id string) error {
	for _, f := range cat.Families("") {
		for _, prefix := range []string{"S-", "C-", "P-", ""} {
			if strings.EqualFold(strings.TrimRight(id, "-*"), prefix+f.Name) {
				return fmt.Errorf("%s is a family: a baseline names single requirements", id)
			}
		}
	}
	switch strings.ToUpper(id) {
	case "MUST", "SHOULD", "OBSERVE":
		return fmt.Errorf("%s is a level: a baseline names single requirements", id)
	case "":
		return fmt.Errorf("an entry has no id")
	}
	row, variant, err := cat.Lookup(id)
	switch {
	case err != nil:
		return err
	case variant == "" && len(row.Variants) > 0:
		return fmt.Errorf("%s has variants, and a baseline names the one that fails: %s", id, strings.Join(row.IDs(), ", "))
	case row.Level == requirements.Observe:
		return fmt.Errorf("%s is an OBSERVE row and can't fail", id)
	}
	return nil
}

// overlap says whether two lists of profiles have one in common, where an empty one stands for all.
func overlap(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(p string) bool { return slices.Contains(b, p) })
}

// holds says whether the entry is for that profile.
func (e BaselineEntry) holds(profile string) bool {
	return len(e.Profiles) == 0 || slices.Contains(e.Profiles, profile)
}
