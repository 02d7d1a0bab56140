package client

import (
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// suite collects the specs of all families.
type suite = spec.Suite[*T]

// families registers the specs of all families, in the order of the catalogue.
var families = []func(*suite){
	direction, outcomes, notifications, finalResponse, framing, ids, messages, errorResponses, endings, closing,
	concurrency, multibyte,
}

func newSuite(c *requirements.Catalogue) *suite {
	s := spec.New[*T](c, requirements.Client)
	for _, family := range families {
		family(s)
	}
	return s
}

// Implemented tells which ids of the catalogue this suite judges.
func Implemented(c *requirements.Catalogue) map[string]bool { return newSuite(c).Implemented() }
