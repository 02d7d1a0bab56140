package server

import (
	"fmt"

	"github.com/dshconform/dshconform/suites/requirements"
)

// spec is one registered test of a requirement or of one of its variants.
type spec struct {
	id      string // "S-DIR-01" or "S-DIR-02/prompt"
	row     requirements.Row
	variant string
	fresh   int // how many processes of its own it takes from the pool
	body    func(*T)
}

// suite collects the specs of all families.
type suite struct {
	catalogue *requirements.Catalogue
	specs     []spec
	known     map[string]bool
}

// shared is the number of processes of its own that most specs take.
const shared = 0

// It registers a spec. A mistake in the registration is a mistake of the suite
// and panics: a test builds every suite.
func (s *suite) It(id string, fresh int, body func(*T)) {
	row, variant, ok := s.catalogue.Find(id)
	if !ok || row.Role != requirements.Server {
		panic(fmt.Sprintf("spec for %s, which is no server requirement of the catalogue", id))
	}
	if (variant == "") != (len(row.Variants) == 0) {
		panic(fmt.Sprintf("spec for %s: a row with variants has a spec for each", id))
	}
	if s.known[id] {
		panic(fmt.Sprintf("two specs for %s", id))
	}
	s.known[id] = true
	s.specs = append(s.specs, spec{id: id, row: row, variant: variant, fresh: fresh, body: body})
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
	s := &suite{catalogue: c, known: map[string]bool{}}
	for _, family := range families {
		family(s)
	}
	return s
}

// Implemented tells which ids of the catalogue this suite judges: those with a
// spec, and the rows that the monitor alone judges.
func Implemented(c *requirements.Catalogue) map[string]bool {
	s := newSuite(c)
	done := map[string]bool{}
	for id := range s.known {
		done[id] = true
	}
	for _, row := range c.Rows(requirements.Server) {
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
