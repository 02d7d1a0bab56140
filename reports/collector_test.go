package reports

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/suites/requirements"
)

func TestCollectorAggregatesVariants(t *testing.T) {
	for name, tc := range map[string]struct {
		record map[string]Verdict
		want   Verdict
	}{
		"all pass":            {map[string]Verdict{"S-FRM-13/nul": Pass, "S-FRM-13/invalid-utf8": Pass}, Pass},
		"one fails":           {map[string]Verdict{"S-FRM-13/nul": Pass, "S-FRM-13/invalid-utf8": Fail}, Fail},
		"one is missing":      {map[string]Verdict{"S-FRM-13/nul": Pass}, NotReached},
		"one does not apply":  {map[string]Verdict{"S-FRM-13/nul": Pass, "S-FRM-13/invalid-utf8": NotApplicable}, Pass},
		"none was reached":    {nil, NotReached},
		"the bare id is hurt": {map[string]Verdict{"S-FRM-13/nul": Pass, "S-FRM-13/invalid-utf8": Pass, "S-FRM-13": Fail}, Fail},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := collect(t, requirements.Directional, "S-FRM-13")
			for id, v := range tc.record {
				c.Record(id, Outcome{Verdict: v})
			}
			r := finish(c)
			g.Expect(r.Requirements).To(HaveLen(1))
			g.Expect(r.Requirements[0].Verdict).To(Equal(tc.want))
			g.Expect(r.Requirements[0].Variants).To(HaveLen(2))
			g.Expect(r.Besides).To(BeEmpty())
		})
	}
}

func TestCollectorSelection(t *testing.T) {
	g := NewWithT(t)
	_, err := NewCollector(catalogue(t), "", "", []string{"S-NO-99"})
	g.Expect(err).To(MatchError(requirements.ErrUnknown))

	c := collect(t, requirements.Directional, "S-INI-02/string", "S-DIR-01")
	c.Record("S-INI-02/string", passed)
	c.Record("S-INI-02/zero", failed) // not selected: besides
	c.Record("S-MSG-01", failed)
	c.Record("S-ERR-07", failed) // a SHOULD
	c.Record("S-FRM-08", failed) // an OBSERVE row can't be violated
	c.Record("S-FRM-02", passed) // what holds and was not asked for is no news

	g.Expect(c.Requirements(false, "")).To(HaveLen(1), "rows without an outcome are left out while the run goes on")
	r := finish(c)
	g.Expect(ids(r.Requirements)).To(Equal([]string{"S-DIR-01 not_reached", "S-INI-02 pass"}), "the order is that of the catalogue")
	g.Expect(r.Requirements[1].Variants).To(HaveLen(1))
	g.Expect(ids(r.Besides)).To(Equal([]string{"S-MSG-01 fail", "S-INI-02 fail", "S-ERR-07 warn"}))
	g.Expect(r.Besides[1].Variants[0].Name).To(Equal("zero"))
	g.Expect(r.Exit).To(Equal(ExitFails))
}

func ids(list []Requirement) []string {
	var out []string
	for _, q := range list {
		out = append(out, q.ID+" "+string(q.Verdict))
	}
	return out
}

func TestCollectorKnowsWhyNothingWasRecorded(t *testing.T) {
	g := NewWithT(t)
	c := collect(t, requirements.Receipt, "S-TRN-01", "S-ORD-04", "S-DIR-01")
	r := finish(c)
	g.Expect(ids(r.Requirements)).To(Equal([]string{"S-DIR-01 not_reached", "S-TRN-01 not_applicable", "S-ORD-04 not_applicable"}))
	g.Expect(r.Requirements[0].Reason).To(Equal("the run ended before it"))
	g.Expect(r.Requirements[1].Because).To(Equal("another profile"))
	g.Expect(r.Requirements[1].Reason).To(ContainSubstring("directional"))
	g.Expect(r.Requirements[2].Because).To(Equal("not provoked"))
	g.Expect(r.Closing).To(ContainSubstring("0 of 3 MUSTs exercised, 2 not applicable (another profile: 1, not provoked: 1)"))
}

func TestCollectorRefusesWhatNobodyMayRecord(t *testing.T) {
	g := NewWithT(t)
	c := collect(t, "", "S-DIR-01")
	g.Expect(func() { c.Record("S-NO-99", passed) }).To(PanicWith(ContainSubstring("S-NO-99")))
	g.Expect(func() { c.Record("S-DIR-01", Outcome{Verdict: "ok"}) }).To(PanicWith(ContainSubstring("no verdict")))
}

func TestCollectorKeepsEveryMismatchOnce(t *testing.T) {
	g := NewWithT(t)
	c := collect(t, "", "S-FRM-01")
	c.Record("S-FRM-01", passed)
	for i := range 50 {
		c.Record("S-FRM-01", Outcome{Verdict: Fail, Expected: "an object", Actual: fmt.Sprintf("junk %d", i%30), Frames: make([]Frame, 100)})
	}
	o, ok := c.Outcome("S-FRM-01")
	g.Expect(ok).To(BeTrue())
	g.Expect(o.Verdict).To(Equal(Fail))
	g.Expect(o.Actual).To(Equal("junk 0"), "the first stays the first")
	g.Expect(o.More).To(HaveLen(maxMore), "a flood does not fill the report")
	g.Expect(o.Frames).To(HaveLen(maxFrames))
	g.Expect([]int{o.Passed, o.Failed}).To(Equal([]int{1, 50}))
}

func TestCollectorIsSafeForConcurrentUse(t *testing.T) {
	c := collect(t, requirements.Directional, "S-FRM-01", "S-IDS-06")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				c.Record("S-IDS-06/integral", passed)
				c.Record("S-FRM-01", failed)
				c.Requirements(false, "")
				c.Besides()
			}
		})
	}
	wg.Wait()
	o, _ := c.Outcome("S-IDS-06/integral")
	NewWithT(t).Expect(o.Passed).To(Equal(800))
}

// Whatever order outcomes come in, the verdict and the counts are the same.
func TestMergeOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vs := rapid.SliceOfN(rapid.SampledFrom(Verdicts()), 1, 6).Draw(rt, "verdicts")
		merge := func(vs []Verdict) Outcome {
			o := Outcome{Verdict: vs[0]}
			for _, v := range vs[1:] {
				o = Merge(o, Outcome{Verdict: v})
			}
			return o
		}
		a, b := merge(vs), merge(rapid.Permutation(vs).Draw(rt, "shuffled"))
		pa, fa := tries(a)
		pb, fb := tries(b)
		if a.Verdict != b.Verdict || pa != pb || fa != fb || a.Verdict != Worst(vs...) {
			rt.Fatalf("%v: %+v and %+v", vs, a, b)
		}
	})
}

func TestFramesKeepTheirBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(rt, "raw")
		f := NewFrame(1, "s2c", raw)
		if !bytes.Equal(f.Data(), raw) || f.Bytes != 0 {
			rt.Fatalf("%q came back as %q", raw, f.Data())
		}
	})
}

func TestLongFramesAreCutAtACharacter(t *testing.T) {
	g := NewWithT(t)
	for shift := range 4 {
		raw := append(bytes.Repeat([]byte("x"), shift), bytes.Repeat([]byte("😀"), 1<<20)...)
		f := NewFrame(0, "s2c", raw)
		g.Expect(f.Bytes).To(Equal(len(raw)))
		g.Expect(f.B64).To(BeEmpty(), "it is still text")
		g.Expect(utf8.ValidString(f.Raw)).To(BeTrue())
		g.Expect(len(f.Raw)).To(And(BeNumerically("<=", frameKeep), BeNumerically(">", frameKeep-4)))
	}
}
