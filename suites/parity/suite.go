package parity

import (
	"maps"
	"slices"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// suite collects the scenarios of all families.
type suite struct {
	*spec.Suite[*T]
	catalogue *requirements.Catalogue
}

// families registers the scenarios of all families, in the order of the catalogue.
var families = []func(*suite){
	initialize, direction, outcomes, notifications, finalResponse, framing, ids, errorResponses, endings, closing,
	concurrency, multibyte,
}

func newSuite(c *requirements.Catalogue) *suite {
	s := &suite{spec.New[*T](c, requirements.Parity), c}
	for _, family := range families {
		family(s)
	}
	return s
}

// play registers a scenario.
func (s *suite) play(id string, script func(*Play)) {
	s.It(id, func(t *T) {
		row, _, _ := s.catalogue.Find(id)
		t.compare(row, script)
	})
}

// Implemented tells which ids of the catalogue this suite plays.
func Implemented(c *requirements.Catalogue) map[string]bool { return newSuite(c).Implemented() }

// players are the clients that have what a scenario needs. Where that is fewer than
// two there is nothing to compare.
func (t *T) players(row requirements.Row) (players []*contestant) {
	var lacking requirements.Capability
	var who string
	for _, c := range t.run.clients {
		capability, blocked := t.run.Catalogue.Blocked(row, "", slices.Sorted(maps.Keys(c.lacks)))
		if !blocked {
			players = append(players, c)
			continue
		}
		lacking, who = capability, c.Name
	}
	if len(players) < 2 {
		t.End(reports.Lacking(lacking, who+": "+t.run.lackOf(who, lacking.Name)))
	}
	return players
}

func (r *runner) lackOf(client, capability string) string {
	for _, c := range r.clients {
		if c.Name == client {
			return c.lacks[capability]
		}
	}
	return ""
}
