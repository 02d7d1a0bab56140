package reports

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/suites/requirements"
)

const baselineHead = "schema: dshconform.baseline/v1\nknown:\n"

func TestBaselineErrorsSayWhere(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"unknown id":           {baselineHead + "  - id: S-NOPE-01\n    reason: r\n", `b.yaml:3:9: requirement "S-NOPE-01" is not in the catalogue`},
		"unknown variant":      {baselineHead + "  - id: S-FRM-13/bom\n    reason: r\n", "b.yaml:3:9: variant"},
		"bare id":              {baselineHead + "  - {id: S-DIR-01, reason: r}\n  - id: S-FRM-13\n    reason: r\n", "b.yaml:4:9: S-FRM-13 has variants, and a baseline names the one that fails: S-FRM-13/nul, S-FRM-13/invalid-utf8"},
		"family":               {baselineHead + "  - id: S-DIR\n    reason: r\n", "b.yaml:3:9: S-DIR is a family"},
		"family in another":    {baselineHead + "  - id: frm\n    reason: r\n", "b.yaml:3:9: frm is a family"},
		"wildcard":             {baselineHead + "  - id: S-FRM-*\n    reason: r\n", "b.yaml:3:9: S-FRM-* is a family"},
		"level":                {baselineHead + "  - id: MUST\n    reason: r\n", "b.yaml:3:9: MUST is a level"},
		"observe":              {baselineHead + "  - id: S-FRM-08\n    reason: r\n", "b.yaml:3:9: S-FRM-08 is an OBSERVE row"},
		"no reason":            {baselineHead + "  - id: S-DIR-01\n", "b.yaml:3:5: S-DIR-01 has no reason"},
		"empty reason":         {baselineHead + "  - id: S-DIR-01\n    reason: \" \"\n", "b.yaml:4:13: S-DIR-01 has no reason"},
		"no id":                {baselineHead + "  - reason: r\n", "b.yaml:3:5: an entry has no id"},
		"unknown key":          {baselineHead + "  - id: S-DIR-01\n    reason: r\n    because: x\n", `b.yaml:5:5: unknown field "because"`},
		"unknown profile":      {baselineHead + "  - id: S-DIR-01\n    reason: r\n    profiles: [receipt, nope]\n", `b.yaml:5:25: there is no profile "nope"`},
		"profile not bound":    {baselineHead + "  - id: S-TRN-01\n    reason: r\n    profiles: [receipt]\n", "b.yaml:5:16: S-TRN-01 does not bind the profile receipt"},
		"twice":                {baselineHead + "  - {id: S-DIR-01, reason: r}\n  - {id: S-DIR-01, reason: r, profiles: [receipt]}\n", "b.yaml:4:10: S-DIR-01 stands here twice (before in line 3)"},
		"another schema":       {"schema: dshconform.target/v1\n", "b.yaml:1:9: the schema is"},
		"no schema":            {"known: []\n", "b.yaml:1:1: the schema is \"\""},
		"unknown revision":     {"schema: dshconform.baseline/v1\ncatalogue: \"1999.01\"\nknown: []\n", "b.yaml:2:12: revision"},
		"a list":               {"- id: S-DIR-01\n", "b.yaml:1:"},
		"empty":                {"", "b.yaml:1:1: the file is empty"},
		"known is no list":     {"schema: dshconform.baseline/v1\nknown: none\n", "b.yaml:2:8:"},
		"flaky is no boolean":  {baselineHead + "  - {id: S-DIR-01, reason: r, flaky: sometimes}\n", "b.yaml:3:"},
		"a line that is wrong": {baselineHead + "  - id: S-DIR-01\n   reason: r\n", "b.yaml:4:"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := ParseBaseline(catalogue(t), "b.yaml", []byte(tc.text))
			g.Expect(err).To(HaveOccurred())
			g.Expect(err.Error()).To(HavePrefix(tc.want))
			g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
		})
	}
}

func TestBaselineReads(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "b.yaml")
	g.Expect(os.WriteFile(file, []byte("# why\nschema: dshconform.baseline/v1\ncatalogue: \"2026.12\"\nknown:\n"+
		"  - id: S-FRM-13/nul\n    reason: >-\n      it dies\n      of it\n    profiles: [receipt]\n    flaky: true\n"+
		"  - id: S-FRM-13/nul\n    reason: other\n    profiles: [directional]\n"), 0o644)).To(Succeed())
	b, err := ReadBaseline(catalogue(t), file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Catalogue).To(Equal("2026.12"))
	g.Expect(b.Known[0]).To(Equal(BaselineEntry{ID: "S-FRM-13/nul", Reason: "it dies of it", Profiles: []string{"receipt"}, Flaky: true, Line: 5}))
	_, err = ReadBaseline(catalogue(t), file+".none")
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

func TestBaselineApplies(t *testing.T) {
	entry := func(id string) BaselineEntry { return BaselineEntry{ID: id, Reason: "because", Line: 3} }
	flaky := func(id string) BaselineEntry { return BaselineEntry{ID: id, Reason: "because", Flaky: true} }
	type result struct {
		known, stale, unused []string
		exit                 int
	}
	for name, tc := range map[string]struct {
		selectIDs []string
		record    map[string]Verdict
		entries   []BaselineEntry
		want      result
	}{
		"known": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Fail}, []BaselineEntry{entry("S-DIR-01")},
			result{known: []string{"S-DIR-01"}}},
		"unknown failure beside it": {[]string{"S-DIR-01", "S-MSG-04"}, map[string]Verdict{"S-DIR-01": Fail, "S-MSG-04": Fail}, []BaselineEntry{entry("S-DIR-01")},
			result{known: []string{"S-DIR-01"}, exit: 1}},
		"stale": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Pass}, []BaselineEntry{entry("S-DIR-01")},
			result{stale: []string{"S-DIR-01"}, exit: 1}},
		"not selected is not stale": {[]string{"S-MSG-04"}, map[string]Verdict{"S-MSG-04": Pass, "S-DIR-01": Pass}, []BaselineEntry{entry("S-DIR-01")},
			result{unused: []string{"S-DIR-01"}}},
		"not applicable is not stale": {[]string{"S-SUB-01"}, map[string]Verdict{"S-SUB-01": NotApplicable}, []BaselineEntry{entry("S-SUB-01")},
			result{unused: []string{"S-SUB-01"}}},
		"not reached is not known": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": NotReached}, []BaselineEntry{entry("S-DIR-01")},
			result{unused: []string{"S-DIR-01"}, exit: 1}},
		"an error is not known": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Error}, []BaselineEntry{entry("S-DIR-01")},
			result{unused: []string{"S-DIR-01"}, exit: 1}},
		"a variant": {[]string{"S-FRM-13"}, map[string]Verdict{"S-FRM-13/nul": Fail, "S-FRM-13/invalid-utf8": Pass}, []BaselineEntry{entry("S-FRM-13/nul")},
			result{known: []string{"S-FRM-13/nul"}}},
		"the variant that is stale": {[]string{"S-FRM-13"}, map[string]Verdict{"S-FRM-13/nul": Fail, "S-FRM-13/invalid-utf8": Pass}, []BaselineEntry{entry("S-FRM-13/nul"), entry("S-FRM-13/invalid-utf8")},
			result{known: []string{"S-FRM-13/nul"}, stale: []string{"S-FRM-13/invalid-utf8"}, exit: 1}},
		"flaky and passed": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Pass}, []BaselineEntry{flaky("S-DIR-01")}, result{}},
		"flaky and failed": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Fail}, []BaselineEntry{flaky("S-DIR-01")}, result{known: []string{"S-DIR-01"}}},
		"a warning": {[]string{"S-FRM-22"}, map[string]Verdict{"S-FRM-22": Fail}, []BaselineEntry{entry("S-FRM-22")},
			result{known: []string{"S-FRM-22"}}},
		"besides": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Pass, "S-MSG-01": Fail}, []BaselineEntry{entry("S-MSG-01")},
			result{known: []string{"S-MSG-01"}}},
		"another profile": {[]string{"S-DIR-01"}, map[string]Verdict{"S-DIR-01": Fail}, []BaselineEntry{{ID: "S-DIR-01", Reason: "r", Profiles: []string{"receipt"}}},
			result{exit: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := collect(t, requirements.Directional, tc.selectIDs...)
			for id, v := range tc.record {
				c.Record(id, Outcome{Verdict: v})
			}
			r := finish(c)
			b := &Baseline{File: "b.yaml", Known: tc.entries}
			b.Apply(r)
			Judge(r)
			var stale []string
			for _, s := range r.Baseline.Stale {
				stale = append(stale, s.ID)
			}
			g.Expect(r.Baseline.Known).To(ConsistOf(tc.want.known))
			g.Expect(stale).To(Equal(tc.want.stale))
			g.Expect(r.Baseline.Unused).To(Equal(tc.want.unused))
			g.Expect(r.Exit).To(Equal(tc.want.exit), r.Closing)

			before := r.Baseline
			b.Apply(r)
			Judge(r)
			g.Expect(r.Baseline).To(Equal(before), "applying twice gives the same")
		})
	}
}

func TestFlakyRatio(t *testing.T) {
	g := NewWithT(t)
	c := collect(t, "", "S-SHD-01")
	for i := range 10 {
		o := Outcome{Verdict: Pass}
		if i < 3 {
			o.Verdict = Fail
		}
		c.Record("S-SHD-01", o)
	}
	r := finish(c)
	(&Baseline{Known: []BaselineEntry{{ID: "S-SHD-01", Reason: "races", Flaky: true}}}).Apply(r)
	Judge(r)
	g.Expect(r.Baseline.Flaky[0].Ratio()).To(Equal("failed 3 of 10"))
	g.Expect(r.Exit).To(BeZero())
}

func TestDraftKeepsOldEntriesAndAsksForReasons(t *testing.T) {
	g := NewWithT(t)
	c := collect(t, requirements.Directional, "S-DIR-01", "S-MSG-04", "S-FRM-13")
	c.Record("S-DIR-01", passed)
	c.Record("S-MSG-04", failed)
	c.Record("S-FRM-13/nul", failed)
	c.Record("S-FRM-13/invalid-utf8", failed)
	r := finish(c)
	old := &Baseline{Known: []BaselineEntry{
		{ID: "S-DIR-01", Reason: "gone", Line: 3},
		{ID: "S-FRM-13/nul", Reason: "says \"no\"\nand \x1b dies", Line: 5},
	}}
	old.Apply(r)
	draft := DraftBaseline([]*Run{r}, old)
	golden(t, "draft.yaml", draft)

	_, err := ParseBaseline(catalogue(t), "b.yaml", draft)
	g.Expect(err).To(MatchError(ContainSubstring("has no reason")), "a draft is refused until its reasons are there")

	only := &Run{Profile: "receipt"}
	b, err := ParseBaseline(catalogue(t), "b.yaml", DraftBaseline([]*Run{only}, old))
	g.Expect(err).NotTo(HaveOccurred(), "what was there is written so that it reads back")
	g.Expect(b.Known[1].Reason).To(Equal(old.Known[1].Reason))
	b, err = ParseBaseline(catalogue(t), "b.yaml", DraftBaseline([]*Run{only}, nil))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Known).To(BeEmpty())
}

func TestDraftOfSeveralProfilesHasAnEntryForEachFailure(t *testing.T) {
	g := NewWithT(t)
	old := &Baseline{Known: []BaselineEntry{{ID: "S-DIR-01", Reason: "asks", Line: 3}, {ID: "S-MSG-02", Reason: "gone", Line: 4}}}
	var runs []*Run
	for profile, verdict := range map[string]Outcome{requirements.Accepted: failed, requirements.Receipt: passed} {
		c := collect(t, profile, "S-DIR-01", "S-MSG-02", "S-MSG-04")
		c.Record("S-DIR-01", verdict)
		c.Record("S-MSG-02", passed)
		c.Record("S-MSG-04", failed)
		r := finish(c)
		old.Apply(r)
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *Run) int { return strings.Compare(a.Profile, b.Profile) })
	g.Expect(string(DraftBaseline(runs, old))).To(Equal(`schema: dshconform.baseline/v1
known:
  - id: S-DIR-01
    reason: "asks"
    profiles: [accepted]
  - id: S-MSG-04
    # expected: an error response; came: no response within 2s
    reason: ""
    profiles: [accepted, receipt]
`), "what holds in one profile stays known in the other, and a failure in two is one entry")
}
