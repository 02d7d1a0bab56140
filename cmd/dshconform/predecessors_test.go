package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
)

// A subject that ends after some lines fails whatever comes then: its failure says how to bring that about, and
// alone it holds.
func TestFailureThatNeedsItsPredecessors(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	judge := func(args ...string) (ran, *reports.Run) {
		args = append([]string{"server", "--report", "out", "--env", diesVariable + "=58"}, args...)
		r := invocation{dir: dir, args: append(args, "--", self)}.run(t)
		return r, results(t, filepath.Join(dir, "out"))
	}
	_, whole := judge("--label", "DIR || FRM")
	at := slices.IndexFunc(whole.Requirements, func(q reports.Requirement) bool { return q.Verdict == reports.Fail })
	g.Expect(at).To(BeNumerically(">", 0), "the subject ends")
	failure := *whole.Requirements[at].Parts()[0].Outcome
	for _, p := range whole.Requirements[at].Parts() {
		if p.Outcome.Verdict == reports.Fail {
			failure = *p.Outcome
			break
		}
	}
	g.Expect(failure.Repeat).To(ContainSubstring(" --predecessors "))
	id := failure.Repeat[strings.Index(failure.Repeat, "--id ")+len("--id "):]
	id = id[:strings.Index(id, " ")]

	r, _ := judge("--id", id)
	g.Expect(r.code).To(BeZero(), "%s alone: %s%s", id, r.out, r.err)
	r, behind := judge("--id", id, "--predecessors")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(MatchRegexp(`S-\S+ holds alone, and not behind the \d+ that come before it in a whole run`))
	g.Expect(behind.Requirements).To(HaveLen(1), "what is judged is what was selected")
	g.Expect(behind.Requirements[0].Repeat).To(ContainSubstring("--id S-DIR-"), "what repeats it names them all")

	r = dshconform(t, "server", "--id", "S-DIR-02,S-FRM-02", "--predecessors")
	g.Expect(r.code).To(BeZero(), "%s%s", r.out, r.err)
	g.Expect(r.out).To(ContainSubstring("holds alone, and behind the"))
	g.Expect(dshconform(t, "server", "--predecessors").code).To(Equal(2))
}
