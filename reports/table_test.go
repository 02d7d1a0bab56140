package reports

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/suites/requirements"
)

func tableRuns(t *testing.T) []*Run {
	ids := []string{"S-DIR-01", "S-FRM-08", "S-FRM-13", "S-SUB-01", "S-TRN-10"}
	make := func(name string, more []string, record map[string]Outcome) *Run {
		c := collect(t, requirements.Receipt, append(append([]string{}, ids...), more...)...)
		for id, o := range record {
			c.Record(id, o)
		}
		r := finish(c)
		r.Subject.Name = name
		return r
	}
	k, _ := catalogue(t).Capability("subagents")
	batch := func(v string) Outcome {
		return Outcome{Verdict: Observed, Observed: []Observation{{"reply", v}}}
	}
	old := make("0.1.1rc1", nil, map[string]Outcome{
		"S-DIR-01": passed, "S-FRM-08": batch("nothing"), "S-FRM-13/nul": passed, "S-FRM-13/invalid-utf8": failed,
		"S-SUB-01": Lacking(k, ""), "S-TRN-10": passed,
	})
	(&Baseline{Known: []BaselineEntry{{ID: "S-FRM-13/invalid-utf8", Reason: "dies"}}}).Apply(old)
	Judge(old)
	return []*Run{old,
		make("0.1.5rc1", []string{"S-PRC-01"}, map[string]Outcome{
			"S-DIR-01": passed, "S-FRM-08": batch("one error"), "S-FRM-13/nul": passed, "S-FRM-13/invalid-utf8": passed, "S-SUB-01": passed, "S-TRN-10": passed, "S-PRC-01": failed,
		}),
		make("0.2.1rc2", nil, map[string]Outcome{
			"S-DIR-01": passed, "S-FRM-08": batch("nothing"), "S-FRM-13/nul": passed, "S-FRM-13/invalid-utf8": passed, "S-SUB-01": passed,
			"S-TRN-10": {Verdict: Error, Reason: "x"},
		}),
	}
}

func TestTextTable(t *testing.T) {
	g := NewWithT(t)
	runs := tableRuns(t)
	var b bytes.Buffer
	g.Expect(Text(&b, Columns([]string{"a", "b", "c"}, runs), false)).To(Succeed())
	golden(t, "table.txt", b.Bytes())
	b.Reset()
	g.Expect(Text(&b, Columns([]string{"a"}, runs[:1]), false)).To(Succeed())
	golden(t, "list.txt", b.Bytes())
}

func TestColumnNames(t *testing.T) {
	named := func(name, profile string) *Run {
		r := sampleRun()
		r.Subject.Name, r.Profile = name, profile
		return r
	}
	for name, tc := range map[string]struct {
		files []string
		runs  []*Run
		want  []string
	}{
		"subjects":   {[]string{"a", "b"}, []*Run{named("x", "receipt"), named("y", "receipt")}, []string{"x", "y"}},
		"profiles":   {[]string{"a", "b"}, []*Run{named("x", "receipt"), named("x", "accepted")}, []string{"x receipt", "x accepted"}},
		"folders":    {[]string{"old/results.json", "new/results.json"}, []*Run{named("x", "receipt"), named("x", "receipt")}, []string{"old", "new"}},
		"files":      {[]string{"r/old.json", "r/new.json"}, []*Run{named("x", "receipt"), named("x", "receipt")}, []string{"old", "new"}},
		"nothing":    {[]string{"a/results.json", "a/results.json"}, []*Run{named("x", "receipt"), named("x", "receipt")}, []string{"1", "2"}},
		"no name":    {[]string{"old.json", "new.json"}, []*Run{named("", ""), named("", "")}, []string{"old", "new"}},
		"a bad name": {[]string{"a", "b"}, []*Run{named("\x1b[2J", ""), named("y", "")}, []string{`\x1b[2J`, "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range Columns(tc.files, tc.runs) {
				got = append(got, c.Name)
			}
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}
