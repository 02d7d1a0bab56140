package snapshot

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

// The page for readers lists every situation.
func TestPageListsTheSituations(t *testing.T) {
	page, err := os.ReadFile("../../docs/snapshot.md")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	for _, s := range Scenarios() {
		g.Expect(string(page)).To(ContainSubstring("| `" + s.Name + "` |"))
	}
}
