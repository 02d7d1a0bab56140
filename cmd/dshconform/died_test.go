package main

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

// A gate is no place to wait at for a model call of a process that has ended.
func TestProcessThatDiesAtAHeldPrompt(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	r := dshconform(t, "server", "--env", diesVariable+"=1", "--id", "S-TRN-07", "--", self)
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(MatchRegexp(`not reached: the turn calls the model: .*: the process ended \(exit status 7\)`))
}
