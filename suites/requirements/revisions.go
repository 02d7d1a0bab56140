package requirements

import (
	"fmt"
	"slices"
	"strings"
)

// Change is what one revision of the catalogue changed.
type Change struct {
	Revision Revision
	// Added are the ids of new rows, and of variants that were added to older rows.
	Added []string
	// Revised are the rows that were tightened or corrected.
	Revised []RevisedRow
}

// RevisedRow is a row that a revision changed, and how.
type RevisedRow struct {
	ID   string
	What string
}

// Revision returns the newest revision, which is the one that the catalogue is in.
func (c *Catalogue) Revision() string { return c.revisions[len(c.revisions)-1].Name }

// Revisions returns all revisions, oldest first.
func (c *Catalogue) Revisions() []Revision { return slices.Clone(c.revisions) }

// CheckRevision returns an error that names the revisions that there are, if the given one is none of them. The
// error wraps ErrUnknown.
func (c *Catalogue) CheckRevision(name string) error {
	if c.revisionIndex(name) >= 0 {
		return nil
	}
	names := make([]string, len(c.revisions))
	for i, r := range c.revisions {
		names[i] = r.Name
	}
	return fmt.Errorf("revision %q is %w: there are %s", name, ErrUnknown, strings.Join(names, ", "))
}

// Newer says whether an id (of a row or of a variant) is newer than the revision, or was revised after it: such
// rows run and are shown, and don't decide about the exit code of a run that is frozen at that revision. An
// empty revision freezes nothing.
func (c *Catalogue) Newer(id, revision string) bool {
	at := c.revisionIndex(revision)
	if revision == "" || at < 0 {
		return false
	}
	row, variant, ok := c.Find(id)
	if !ok {
		return false
	}
	after := func(name string) bool { return name != "" && c.revisionIndex(name) > at }
	if after(row.Since) || slices.ContainsFunc(row.Revised, func(r Revised) bool { return after(r.In) }) {
		return true
	}
	v, _ := row.Variant(variant)
	return after(v.Since)
}

// Changelog returns what each revision changed, newest first.
func (c *Catalogue) Changelog() []Change {
	changes := make([]Change, len(c.revisions))
	for i, rev := range c.revisions {
		ch := Change{Revision: rev}
		for _, r := range c.rows {
			if r.Since == rev.Name {
				ch.Added = append(ch.Added, r.ID)
			}
			for _, v := range r.Variants {
				if v.Since == rev.Name {
					ch.Added = append(ch.Added, JoinID(r.ID, v.Name))
				}
			}
			for _, re := range r.Revised {
				if re.In == rev.Name {
					ch.Revised = append(ch.Revised, RevisedRow{ID: r.ID, What: re.What})
				}
			}
		}
		changes[len(changes)-1-i] = ch
	}
	return changes
}

func (c *Catalogue) revisionIndex(name string) int {
	return slices.IndexFunc(c.revisions, func(r Revision) bool { return r.Name == name })
}
