package spec

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/requirements"
)

// A finding of a monitor costs the spec of its own requirement its process, and no other.
func TestASpecIsSoundWhereItsOwnRequirementHolds(t *testing.T) {
	g := NewWithT(t)
	catalogue, err := requirements.Load()
	g.Expect(err).NotTo(HaveOccurred())
	ids := []string{"S-DIR-01", "S-FRM-01"}
	r, err := NewRun(Options{Catalogue: catalogue, Profile: protocol.Directional}, ids)
	g.Expect(err).NotTo(HaveOccurred())
	spec := &T{ID: "S-FRM-01", run: r}
	spec.perform(func() {})
	g.Expect(spec.Sound()).To(BeTrue())
	r.Violated(protocol.Violation{Row: "S-DIR-01"})
	g.Expect(spec.Sound()).To(BeTrue())
	r.Violated(protocol.Violation{Row: "S-FRM-01"})
	g.Expect(spec.Sound()).To(BeFalse())
	g.Expect(r.takeBroken()).To(Equal(ids))
}
