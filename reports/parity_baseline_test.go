package reports

import (
	"bytes"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// parityRun compares two clients in two scenarios, of which one differs in two fields.
func parityRun(t *testing.T) *Run {
	c := collect(t, "directional", "P-RSP-01", "P-FRM-05", "P-OUT-07")
	for _, id := range []string{"P-RSP-01", "P-FRM-05"} {
		c.Record(id, Outcome{Verdict: Observed, Observed: []Observation{{"call", "succeeds"}}})
	}
	r := sampleRun()
	r.Kind, r.Baseline = KindParity, nil
	r.Subjects = []Subject{{Name: "py", Argv: []string{"python3", "driver.py"}}, {Name: "ts", Argv: []string{"node", "driver.js"}}}
	r.Requirements, r.Besides = c.Requirements(true, "x"), nil
	r.Differences = []Difference{
		{ID: "P-FRM-05", Field: "a byte order mark before it: call", Values: map[string]string{"py": "fails", "ts": "succeeds"}},
		{ID: "P-FRM-05", Field: "NaN as data: call", Values: map[string]string{"py": "fails\x1b[0m", "ts": strings.Repeat("long ", 40)}},
	}
	Judge(r)
	return r
}

func TestParityBaseline(t *testing.T) {
	r := parityRun(t)
	mark := ParityEntry{ID: "P-FRM-05", Field: "a byte order mark before it: call", Values: map[string]string{"py": "fails", "ts": "succeeds"}, Reason: "r", Line: 3}
	with := func(change func(*ParityEntry)) ParityEntry {
		e := mark
		change(&e)
		return e
	}
	for name, tc := range map[string]struct {
		entry                ParityEntry
		known, stale, unused int
	}{
		"the difference":      {mark, 1, 0, 0},
		"other values":        {with(func(e *ParityEntry) { e.Values = map[string]string{"py": "hangs", "ts": "succeeds"} }), 0, 1, 0},
		"another field":       {with(func(e *ParityEntry) { e.Field = "call" }), 0, 1, 0},
		"other clients":       {with(func(e *ParityEntry) { e.Values = map[string]string{"py": "fails", "go": "succeeds"} }), 0, 0, 1},
		"not compared":        {with(func(e *ParityEntry) { e.ID = "P-OUT-07" }), 0, 0, 1},
		"of another profile":  {with(func(e *ParityEntry) { e.Profiles = []string{"receipt"} }), 0, 0, 0},
		"of the same profile": {with(func(e *ParityEntry) { e.Profiles = []string{"directional"} }), 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			(&ParityBaseline{File: "b.yaml", Known: []ParityEntry{tc.entry}}).Apply(r)
			Judge(r)
			g.Expect(r.Baseline.Known).To(HaveLen(tc.known))
			g.Expect(r.Baseline.Stale).To(HaveLen(tc.stale))
			g.Expect(r.Baseline.Unused).To(HaveLen(tc.unused))
			g.Expect(r.unknownDifferences("")).To(HaveLen(2 - tc.known))
			g.Expect(r.Exit).To(Equal(ExitFails), "the other difference is not known")
		})
	}
}

// The draft is read again once it has its reasons, and knows everything that it was made of.
func TestDraftOfAParityBaseline(t *testing.T) {
	g := NewWithT(t)
	r := parityRun(t)
	draft := DraftParityBaseline(r, nil)
	_, err := ParseParityBaseline(catalogue(t), "draft.yaml", draft)
	g.Expect(err).To(MatchError(MatchRegexp(`^draft\.yaml:3:\d+: P-FRM-05 has no reason`)))
	draft = bytes.ReplaceAll(draft, []byte(`reason: ""`), []byte("reason: r"))
	b, err := ParseParityBaseline(catalogue(t), "draft.yaml", draft)
	g.Expect(err).NotTo(HaveOccurred())
	b.Apply(r)
	Judge(r)
	g.Expect(r.Exit).To(Equal(ExitConforms))
	g.Expect(r.Closing).To(Equal("the clients agree; 2 known differences, 2 of 3 scenarios compared, 1 not applicable (another profile: 1)"))

	r.Differences = r.Differences[:1]
	b.Apply(r)
	g.Expect(string(DraftParityBaseline(r, b))).To(And(ContainSubstring("a byte order mark"), Not(ContainSubstring("NaN"))), "what is stale is left out")
}

// Clients stand across, values are short, and nothing hostile comes through.
func TestConsoleOfParity(t *testing.T) {
	g := NewWithT(t)
	r := parityRun(t)
	var b bytes.Buffer
	g.Expect(ConsoleHeader(&b, r, ConsoleOptions{})).To(Succeed())
	g.Expect(Console(&b, r, ConsoleOptions{})).To(Succeed())
	g.Expect(b.String()).To(And(
		ContainSubstring("  py: python3 driver.py\n  ts: node driver.js\n"),
		MatchRegexp(`(?m)^scenario  field  +py  +ts$`),
		MatchRegexp(`(?m)^P-FRM-05  a byte order mark before it: call  fails  +succeeds$`),
		MatchRegexp(`(?m)^          NaN as data: call +fails\\x1b\[0m  long long .*…$`),
	))
	g.Expect(b.String()).NotTo(ContainSubstring("\x1b"))
	g.Expect(strings.TrimSpace(b.String())).To(HaveSuffix("the clients differ: 2 differences; 2 of 3 scenarios compared, 1 not applicable (another profile: 1)"))
}

// The example on the page, and those that the project has, are such that the program and the schema take.
func TestExampleParityBaselineIsValid(t *testing.T) {
	page, err := os.ReadFile("../docs/parity.md")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, ok := strings.Cut(string(page), "```yaml\n")
	g.Expect(ok).To(BeTrue())
	example, _, _ := strings.Cut(rest, "```")
	texts := map[string]string{"docs/parity.md": example}
	for _, name := range []string{"parity-reference.yaml", "parity-sdk-high.yaml", "parity-sdk-low.yaml"} {
		known, err := os.ReadFile("../fixtures/baselines/" + name)
		g.Expect(err).NotTo(HaveOccurred())
		texts[name] = string(known)
	}
	for name, text := range texts {
		_, err := ParseParityBaseline(catalogue(t), name, []byte(text))
		g.Expect(err).NotTo(HaveOccurred())
		var y map[string]any
		g.Expect(yamlToAny(text, &y)).To(Succeed())
		g.Expect(compile(t, unmarshal(t, parityBaselineSchema)).Validate(y)).To(Succeed())
	}
}
