package model_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

// TestScriptsOfThePageAreScripts keeps the page for implementers from teaching what is not so.
func TestScriptsOfThePageAreScripts(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/script.md")
	g.Expect(err).NotTo(HaveOccurred())
	found := 0
	for _, line := range strings.Split(string(page), "\n") {
		if !strings.Contains(line, prefix+"{") {
			continue
		}
		script, err := model.Search([]string{line})
		g.Expect(err).NotTo(HaveOccurred(), line)
		g.Expect(line).To(HaveSuffix(script.Marker()), "the page shows markers as they are written")
		found++
	}
	g.Expect(found).To(BeNumerically(">=", 9))
	for _, kind := range []model.Kind{model.KindText, model.KindEvents, model.KindGate, model.KindFail, model.KindDrop, model.KindFinish, model.KindSubagent} {
		g.Expect(string(page)).To(MatchRegexp(regexp.QuoteMeta(`{"`+string(kind)+`":`)), "the page explains every kind of step")
	}
}
