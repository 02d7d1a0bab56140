package reports

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

// The list of one run ends with what it was made for.
func TestListOfSeveralSubjects(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	g.Expect(Text(&b, []Column{{Name: "x", Run: parityRun(t)}}, false)).To(Succeed())
	g.Expect(b.String()).To(MatchRegexp(`(?m)^scenario  field  +py  +ts$`))

	r := sampleRun()
	r.Kind, r.Requirements, r.Besides = KindInterop, nil, nil
	works := []Conversation{{Name: "a turn", Verdict: TalkWorks}, {Name: "a subagent", Verdict: TalkNotOffered, Why: "it has none"}}
	r.Cells = []Cell{
		{Client: "py", Server: "one", Profile: "receipt", Works: true, Conversations: works},
		{Client: "py", Server: "two", Profile: "receipt", Conversations: append(works, Conversation{Name: "an overlap", Verdict: TalkFails, Why: "it\x1b[0m hangs"}),
			Violations: []CellViolation{{ID: "S-OVL-09", Expected: "e", Actual: "a"}}, Repeat: "dshconform interop"},
		{Client: "ts", Server: "two", Profile: "receipt", Works: true, Conversations: works, Violations: []CellViolation{{ID: "S-OVL-09", Known: &Known{Reason: "r"}}}},
	}
	Judge(r)
	g.Expect(r.Exit).To(Equal(ExitFails))
	g.Expect(r.Closing).To(Equal("1 of 3 pairs do not work; 0 rows judged in what they said"))
	b.Reset()
	g.Expect(Text(&b, []Column{{Name: "x", Run: r}}, false)).To(Succeed())
	g.Expect(b.String()).To(And(MatchRegexp(`(?m)^    one +two$`), MatchRegexp(`(?m)^py  works, 1  1 of 2, 1 violated$`), MatchRegexp(`(?m)^ts  - +works, 1, 1 known$`)))
	b.Reset()
	g.Expect(Console(&b, r, ConsoleOptions{})).To(Succeed())
	g.Expect(b.String()).To(And(ContainSubstring("DOES NOT WORK py × two\n  an overlap: it\\x1b[0m hangs\n  S-OVL-09: expected e; came a\n  repeat: dshconform interop\n"), Not(ContainSubstring("\x1b"))))
	b.Reset()
	g.Expect(JUnit(&b, r)).To(Succeed())
	g.Expect(b.String()).To(And(ContainSubstring(`tests="3" failures="1"`), ContainSubstring(`name="py × two"`)))
}
