package spec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// Entry is one registered test of a requirement or of one of its variants. B is
// what its body is given: the T of its suite.
type Entry[B any] struct {
	ID      string // "S-DIR-01" or "S-DIR-02/prompt"
	Row     requirements.Row
	Variant string
	Body    func(B)
}

// Suite collects the entries of one role.
type Suite[B any] struct {
	Entries   []Entry[B]
	catalogue *requirements.Catalogue
	role      requirements.Role
	known     map[string]bool
}

// New starts a suite without entries.
func New[B any](c *requirements.Catalogue, role requirements.Role) *Suite[B] {
	return &Suite[B]{catalogue: c, role: role, known: map[string]bool{}}
}

// It registers a spec. A mistake in the registration is a mistake of the suite
// and panics: a test builds every suite.
func (s *Suite[B]) It(id string, body func(B)) {
	row, variant, ok := s.catalogue.Find(id)
	if !ok || row.Role != s.role {
		panic(fmt.Sprintf("spec for %s, which is no %s requirement of the catalogue", id, s.role))
	}
	if (variant == "") != (len(row.Variants) == 0) {
		panic(fmt.Sprintf("spec for %s: a row with variants has a spec for each", id))
	}
	if s.known[id] {
		panic(fmt.Sprintf("two specs for %s", id))
	}
	s.known[id] = true
	s.Entries = append(s.Entries, Entry[B]{ID: id, Row: row, Variant: variant, Body: body})
}

// Implemented tells which ids of the catalogue this suite judges: those with a
// spec, and the rows that the monitor alone judges.
func (s *Suite[B]) Implemented() map[string]bool {
	done := maps.Clone(s.known)
	for _, row := range s.catalogue.Rows(s.role) {
		if row.Monitor {
			done[row.ID] = true
		}
		whole := len(row.Variants) > 0
		for _, id := range row.IDs() {
			whole = whole && done[id]
		}
		if whole {
			done[row.ID] = true
		}
	}
	return done
}

// Choose picks the entries to run, and the ids that the result is about: those of
// the entries and those of the monitor's rows.
func (s *Suite[B]) Choose(o Options) (entries []Entry[B], ids []string) {
	picked := func(row requirements.Row, variant string) bool { return o.Select == nil || o.Select(row, variant) }
	for _, e := range s.Entries {
		if picked(e.Row, e.Variant) {
			ids = append(ids, e.ID)
			if e.Row.Binds(string(o.Profile)) {
				entries = append(entries, e)
			}
		}
	}
	for _, row := range s.catalogue.Rows(s.role) {
		if row.Monitor && !slices.Contains(ids, row.ID) && picked(row, "") {
			ids = append(ids, row.ID)
		}
	}
	return entries, ids
}

// Applicable settles the entries whose rows the subject or the platform leaves
// without anything to judge, and returns the others. lacks are the capabilities
// that are lacking, with the reason.
func Applicable[B any](r *Run, entries []Entry[B], lacks map[string]string) []Entry[B] {
	names := slices.Sorted(maps.Keys(lacks))
	return slices.DeleteFunc(entries, func(e Entry[B]) bool {
		capability, blocked := r.Catalogue.Blocked(e.Row, e.Variant, names)
		if blocked {
			r.Results.Record(e.ID, reports.Lacking(capability, lacks[capability.Name]))
		}
		return blocked
	})
}

// Unreachable settles the entries that need a capability which the subject turned out
// not to have although nobody says so, and returns the others. What was not
// exercised does not pass.
func Unreachable[B any](r *Run, entries []Entry[B], capability, reason string) []Entry[B] {
	return slices.DeleteFunc(entries, func(e Entry[B]) bool {
		_, blocked := r.Catalogue.Blocked(e.Row, e.Variant, []string{capability})
		if blocked {
			r.Results.Record(e.ID, reports.Outcome{Verdict: reports.NotReached, Reason: reason, Repeat: r.repeat(e.ID)})
		}
		return blocked
	})
}
