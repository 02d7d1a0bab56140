package requirements

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnknown is wrapped by the errors about ids, variants and revisions that the catalogue does not have.
var ErrUnknown = errors.New("not in the catalogue")

// Catalogue is all requirements with what they refer to. It is immutable and safe for concurrent use.
type Catalogue struct {
	rows         []Row
	index        map[string]int
	families     []Family
	sources      []Source
	capabilities []Capability
	revisions    []Revision
}

// Family is a group of rows of one role about one subject.
type Family struct {
	Role  Role
	Name  string // FRM
	Title string // Framing
	About string
}

// Source is where requirements come from.
type Source struct {
	ID    string // AC1
	Title string // RFC, acceptance criterion 1
	From  string // the document and its part
	Text  string // what it says, in short
}

// Capability is something that a subject, its driver or the platform may lack. The set is closed.
type Capability struct {
	Name string
	Role Role
	// Sentence says what a subject that has it can do.
	Sentence string
	// Lacking is the short reason shown for rows that are not applicable without it, such as "no subagents".
	Lacking string
	// Implies are capabilities without which this one can't be had.
	Implies []string
	// Declared marks a capability that nobody has by itself: a target has to say how it is used.
	Declared bool
}

// Revision is one state of the catalogue.
type Revision struct {
	Name  string // 2026.12
	About string
}

// Rows returns the rows of a role in the order of the catalogue; an empty role stands for all.
func (c *Catalogue) Rows(role Role) []Row {
	if role == "" {
		return slices.Clone(c.rows)
	}
	var rows []Row
	for _, r := range c.rows {
		if r.Role == role {
			rows = append(rows, r)
		}
	}
	return rows
}

// Families returns the families in order; an empty role stands for all.
func (c *Catalogue) Families(role Role) []Family {
	var fs []Family
	for _, f := range c.families {
		if role == "" || f.Role == role {
			fs = append(fs, f)
		}
	}
	return fs
}

// Find returns the row of an id ("S-FRM-13") or of a variant ("S-FRM-13/nul"), and the variant's name, which is
// empty for a bare id. ok is false for anything that the catalogue does not have.
func (c *Catalogue) Find(id string) (row Row, variant string, ok bool) {
	row, variant, err := c.Lookup(id)
	return row, variant, err == nil
}

// Lookup is Find with an error that helps: it names the ids or the variants that there are. The error wraps
// ErrUnknown.
func (c *Catalogue) Lookup(id string) (row Row, variant string, err error) {
	bare, variant := SplitID(id)
	i, ok := c.index[bare]
	if !ok {
		return Row{}, "", fmt.Errorf("requirement %q is %w%s", id, ErrUnknown, c.hint(bare))
	}
	row = c.rows[i]
	if bare == id {
		return row, "", nil
	}
	if _, ok := row.Variant(variant); !ok {
		if len(row.Variants) == 0 {
			return Row{}, "", fmt.Errorf("variant %q is %w: %s has no variants", id, ErrUnknown, bare)
		}
		return Row{}, "", fmt.Errorf("variant %q is %w: the variants of %s are %s", id, ErrUnknown, bare, strings.Join(row.variantNames(), ", "))
	}
	return row, variant, nil
}

// hint says what could have been meant by an id that does not exist.
func (c *Catalogue) hint(id string) string {
	var inFamily []string
	for _, r := range c.rows {
		if strings.EqualFold(r.ID, id) {
			return fmt.Sprintf(" (is it %s?)", r.ID)
		}
		if p := familyPrefix(r.ID); strings.EqualFold(p, id) || strings.HasPrefix(strings.ToUpper(id), p+"-") {
			inFamily = append(inFamily, r.ID)
		}
	}
	if len(inFamily) > 0 {
		return fmt.Sprintf(" (the family has %s to %s)", inFamily[0], inFamily[len(inFamily)-1])
	}
	return " (`dshconform list` prints all)"
}

// Position returns the place of a row in the order of the catalogue, and -1 for an unknown one. Variants have
// the place of their row.
func (c *Catalogue) Position(id string) int {
	bare, _ := SplitID(id)
	if i, ok := c.index[bare]; ok {
		return i
	}
	return -1
}

// KnownLabels returns every label that some row of the role has, sorted; selections are checked against it, so
// that a misspelt label is an error and not an empty run.
func (c *Catalogue) KnownLabels(role Role) []string {
	var labels []string
	for _, r := range c.rows {
		if role == "" || r.Role == role {
			labels = append(labels, r.Labels()...)
		}
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// Sources returns all sources in order.
func (c *Catalogue) Sources() []Source { return slices.Clone(c.sources) }

// Source returns the source of that id.
func (c *Catalogue) Source(id string) (Source, bool) {
	for _, s := range c.sources {
		if s.ID == id {
			return s, true
		}
	}
	return Source{}, false
}

// SourceText spells the row's sources out in one line, as results and failures show them:
// "AC3 (RFC, acceptance criterion 3), IP1 (RFC, implementation plan, step 1)".
func (c *Catalogue) SourceText(r Row) string {
	parts := make([]string, len(r.Source))
	for i, id := range r.Source {
		parts[i] = id
		if s, ok := c.Source(id); ok {
			parts[i] = fmt.Sprintf("%s (%s)", id, s.Title)
		}
	}
	return strings.Join(parts, ", ")
}

func (r Row) variantNames() []string {
	names := make([]string, len(r.Variants))
	for i, v := range r.Variants {
		names[i] = v.Name
	}
	return names
}
