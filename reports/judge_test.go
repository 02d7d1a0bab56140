package reports

import (
	"testing"

	. "github.com/onsi/gomega"
)

// row makes a requirement with an outcome, without going by the catalogue.
func row(id, level string, v Verdict, change ...func(*Requirement)) Requirement {
	q := Requirement{ID: id, Level: level, Outcome: Outcome{Verdict: v}}
	if v == NotApplicable {
		q.Because = "no subagents"
	}
	for _, f := range change {
		f(&q)
	}
	return q
}

func known(q *Requirement) { q.Known = &Known{Reason: "r"} }
func isNew(q *Requirement) { q.New = true }
func variants(vs ...Variant) func(*Requirement) {
	return func(q *Requirement) { q.Variants = vs }
}

func variant(name string, v Verdict, isKnown bool) Variant {
	x := Variant{Name: name, Outcome: Outcome{Verdict: v}}
	if isKnown {
		x.Known = &Known{Reason: "r"}
	}
	return x
}

func TestJudge(t *testing.T) {
	list := func(qs ...Requirement) func(*Run) { return func(r *Run) { r.Requirements = qs } }
	all := func(fs ...func(*Run)) func(*Run) {
		return func(r *Run) {
			for _, f := range fs {
				f(r)
			}
		}
	}
	strict := func(r *Run) { r.Strict = true }
	besides := func(qs ...Requirement) func(*Run) { return func(r *Run) { r.Besides = qs } }
	ok := row("S-DIR-01", "MUST", Pass)

	for name, tc := range map[string]struct {
		set     func(*Run)
		exit    int
		closing string
	}{
		"all holds": {list(ok, row("S-SUB-01", "MUST", NotApplicable), row("S-FRM-22", "SHOULD", Pass), row("S-FRM-08", "OBSERVE", Observed)), 0,
			"conforms: 1 of 2 MUSTs exercised, 1 not applicable (no subagents: 1)"},
		"reasons by number": {list(ok, row("S-SUB-01", "MUST", NotApplicable), row("S-SUB-02", "MUST", NotApplicable), row("S-TRN-01", "MUST", NotApplicable, func(q *Requirement) { q.Because = "another profile" })), 0,
			"conforms: 1 of 4 MUSTs exercised, 3 not applicable (no subagents: 2, another profile: 1)"},
		"a MUST fails":             {list(ok, row("S-DIR-02", "MUST", Fail)), 1, "does not conform: 1 failed; 2 of 2 MUSTs exercised"},
		"a MUST was not reached":   {list(ok, row("S-DIR-02", "MUST", NotReached)), 1, "does not conform: 1 not reached; 1 of 2 MUSTs exercised"},
		"a MUST can't be judged":   {list(ok, row("S-DIR-02", "MUST", Error)), 1, "does not conform: 1 could not be judged; 1 of 2 MUSTs exercised"},
		"a warning":                {list(ok, row("S-FRM-22", "SHOULD", Warn)), 0, "conforms: 1 of 1 MUSTs exercised, 1 warning"},
		"a warning, strict":        {all(list(ok, row("S-FRM-22", "SHOULD", Warn)), strict), 1, "does not conform: 1 warning (strict); 1 of 1 MUSTs exercised"},
		"a known warning, strict":  {all(list(ok, row("S-FRM-22", "SHOULD", Warn, known)), strict), 0, "conforms: 1 of 1 MUSTs exercised"},
		"a SHOULD not reached":     {list(ok, row("S-FRM-22", "SHOULD", NotReached)), 0, "conforms: 1 of 1 MUSTs exercised"},
		"the same, strict":         {all(list(ok, row("S-FRM-22", "SHOULD", NotReached)), strict), 1, "does not conform: 1 not reached; 1 of 1 MUSTs exercised"},
		"an OBSERVE not reached":   {all(list(ok, row("S-FRM-08", "OBSERVE", NotReached)), strict), 0, "conforms: 1 of 1 MUSTs exercised"},
		"a known failure":          {list(ok, row("S-DIR-02", "MUST", Fail, known)), 0, "conforms: 2 of 2 MUSTs exercised (1 known failure)"},
		"known and not reached":    {list(ok, row("S-DIR-02", "MUST", NotReached, known)), 1, "does not conform: 1 not reached; 1 of 2 MUSTs exercised"},
		"one variant is known":     {list(row("S-FRM-13", "MUST", Fail, variants(variant("nul", Fail, true), variant("invalid-utf8", Pass, false)))), 0, "conforms: 1 of 1 MUSTs exercised (1 known failure)"},
		"the other fails too":      {list(row("S-FRM-13", "MUST", Fail, variants(variant("nul", Fail, true), variant("invalid-utf8", Fail, false)))), 1, "does not conform: 1 failed; 1 of 1 MUSTs exercised"},
		"the other wasn't reached": {list(row("S-FRM-13", "MUST", Fail, variants(variant("nul", Fail, true), variant("invalid-utf8", NotReached, false)))), 1, "does not conform: 1 not reached; 1 of 1 MUSTs exercised (1 known failure)"},
		"a newer row fails":        {list(ok, row("S-DIR-02", "MUST", Fail, isNew)), 0, "conforms: 1 of 1 MUSTs exercised"},
		"besides":                  {all(list(ok), besides(row("S-MSG-01", "MUST", Fail))), 1, "does not conform: 1 violation besides the selection; 1 of 1 MUSTs exercised"},
		"besides, known":           {all(list(ok), besides(row("S-MSG-01", "MUST", Fail, known))), 0, "conforms: 1 of 1 MUSTs exercised"},
		"besides, a warning":       {all(list(ok), besides(row("S-ERR-07", "SHOULD", Warn))), 0, "conforms: 1 of 1 MUSTs exercised"},
		"besides, strict":          {all(list(ok), besides(row("S-ERR-07", "SHOULD", Warn)), strict), 1, "does not conform: 1 violation besides the selection; 1 of 1 MUSTs exercised"},
		"stale":                    {all(list(ok), func(r *Run) { r.Baseline = &BaselineResult{Stale: []StaleEntry{{}, {}}} }), 1, "does not conform: 2 stale baseline entries; 1 of 1 MUSTs exercised"},
		"too few":                  {all(list(ok), func(r *Run) { r.MinExercised = 2 }), 1, "does not conform: 1 exercised, at least 2 asked for; 1 of 1 MUSTs exercised"},
		"just enough":              {all(list(ok), func(r *Run) { r.MinExercised = 1 }), 0, "conforms: 1 of 1 MUSTs exercised"},
		"a difference":             {all(list(ok), func(r *Run) { r.Differences = []Difference{{ID: "P-NTF-02"}, {ID: "P-NTF-03", Known: &Known{}}} }), 1, "does not conform: 1 difference; 1 of 1 MUSTs exercised"},
		"everything n/a":           {list(row("S-SUB-01", "MUST", NotApplicable)), 0, "nothing was exercised: 0 of 1 MUSTs exercised, 1 not applicable (no subagents: 1)"},
		"interrupted":              {all(list(ok, row("S-DIR-02", "MUST", Fail)), func(r *Run) { r.Abort = &Abort{Kind: AbortInterrupted} }), 130, "interrupted, 1 failed so far; 2 of 2 MUSTs exercised"},
		"not run":                  {func(r *Run) { r.Abort = &Abort{Kind: AbortNotRun, Reason: "no such file\nmore"} }, 3, "not run: no such file; 0 of 0 MUSTs exercised"},
		"killed on the way":        {all(list(ok), func(r *Run) { r.Complete = false }), 1, "so far: 1 of 1 MUSTs exercised"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := sampleRun()
			tc.set(r)
			Judge(r)
			g.Expect(r.Closing).To(Equal(tc.closing))
			g.Expect(r.Exit).To(Equal(tc.exit))
			again := *r
			Judge(&again)
			g.Expect(again.Summary).To(Equal(r.Summary), "judging twice gives the same")
			g.Expect(again.Musts).To(Equal(r.Musts))
		})
	}
}

func TestSummaryCountsRequirements(t *testing.T) {
	g := NewWithT(t)
	r := sampleRun()
	for _, v := range Verdicts() {
		r.Requirements = append(r.Requirements, row("S-DIR-01", "MUST", v))
	}
	Judge(r)
	g.Expect(r.Summary).To(Equal(Summary{1, 1, 1, 1, 1, 1, 1}))
	g.Expect(r.Musts.Total).To(Equal(7))
}
