package server

import (
	"slices"

	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// entry is one registered test of a requirement or of one of its variants.
type entry = spec.Entry[*T]

// suite collects the specs of all families.
type suite struct {
	*spec.Suite[*T]
	fresh map[string]int // how many processes of its own a spec takes from the pool
}

// shared is the number of processes of its own that most specs take.
const shared = 0

// It registers a spec.
func (s *suite) It(id string, fresh int, body func(*T)) {
	s.Suite.It(id, body)
	s.fresh[id] = fresh
}

// each registers a spec for each variant of a row from a table.
func each[V any](s *suite, id string, fresh int, variants []named[V], body func(*T, V)) {
	for _, v := range variants {
		s.It(requirements.JoinID(id, v.name), fresh, func(t *T) { body(t, v.value) })
	}
}

// named is a variant and what its spec needs to know.
type named[V any] struct {
	name  string
	value V
}

// families registers the specs of all families, in the order of the catalogue.
var families = []func(*suite){
	direction, framing, encoding, ids, messages, initialize, turns, ordering, overlaps, subagents,
	refusals, isolation,
	shutdown, flush, processRows,
}

func newSuite(c *requirements.Catalogue) *suite {
	s := &suite{Suite: spec.New[*T](c, requirements.Server), fresh: map[string]int{}}
	for _, family := range families {
		family(s)
	}
	return s
}

// inOrder puts the specs that share a process before those that take their own, and
// counts what those take.
func (s *suite) inOrder(entries []entry) (fresh int) {
	slices.SortStableFunc(entries, func(a, b entry) int { return min(s.fresh[a.ID], 1) - min(s.fresh[b.ID], 1) })
	for _, e := range entries {
		fresh += s.fresh[e.ID]
	}
	return fresh
}

// Implemented tells which ids of the catalogue this suite judges.
func Implemented(c *requirements.Catalogue) map[string]bool { return newSuite(c).Implemented() }
