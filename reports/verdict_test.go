package reports

import (
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/suites/requirements"
)

func TestWorst(t *testing.T) {
	for name, tc := range map[string]struct {
		in   []Verdict
		want Verdict
	}{
		"none":                          {nil, NotReached},
		"pass alone":                    {[]Verdict{Pass}, Pass},
		"one variant does not apply":    {[]Verdict{NotApplicable, Pass}, Pass},
		"no variant applies":            {[]Verdict{NotApplicable, NotApplicable}, NotApplicable},
		"one fails":                     {[]Verdict{Pass, Fail, NotReached}, Fail},
		"a failure outranks an error":   {[]Verdict{Error, Fail}, Fail},
		"an error outranks not reached": {[]Verdict{NotReached, Error, Pass}, Error},
		"not reached hides no pass":     {[]Verdict{Pass, NotReached}, NotReached},
		"a warning":                     {[]Verdict{Pass, Warn}, Warn},
		"observed and n/a":              {[]Verdict{NotApplicable, Observed}, Observed},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(Worst(tc.in...)).To(Equal(tc.want)) })
	}
}

// Merging must not depend on the order in which specs happen to end.
func TestWorstIsTheSameInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vs := rapid.SliceOfN(rapid.SampledFrom(Verdicts()), 1, 6).Draw(rt, "verdicts")
		shuffled := rapid.Permutation(vs).Draw(rt, "shuffled")
		if Worst(vs...) != Worst(shuffled...) {
			rt.Fatalf("%v and %v differ", vs, shuffled)
		}
	})
}

func TestAtLevel(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Fail.AtLevel(requirements.Must)).To(Equal(Fail))
	g.Expect(Warn.AtLevel(requirements.Must)).To(Equal(Fail), "nothing about a MUST is a mere warning")
	g.Expect(Fail.AtLevel(requirements.Should)).To(Equal(Warn))
	g.Expect(Fail.AtLevel(requirements.Observe)).To(Equal(Observed))
	g.Expect(Pass.AtLevel(requirements.Observe)).To(Equal(Observed))
	g.Expect(Observed.AtLevel(requirements.Must)).To(Equal(Pass))
	for _, l := range []requirements.Level{requirements.Must, requirements.Should, requirements.Observe} {
		for _, v := range []Verdict{NotApplicable, NotReached, Error} {
			g.Expect(v.AtLevel(l)).To(Equal(v))
		}
	}
}

func TestVerdictNames(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Verdicts()).To(Equal([]Verdict{"pass", "fail", "warn", "observed", "not_applicable", "not_reached", "error"}))
	g.Expect(Verdict("passed").Valid()).To(BeFalse())
	var s Summary
	for i, v := range Verdicts() {
		g.Expect(v.Valid()).To(BeTrue())
		*s.at(v) = i + 1
		g.Expect(s.Of(v)).To(Equal(i + 1))
	}
	g.Expect(s.Of("passed")).To(BeZero())
}
