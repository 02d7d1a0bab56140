package requirements

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func load(t *testing.T) *Catalogue {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryRowIsComplete(t *testing.T) {
	c := load(t)
	for _, r := range c.Rows("") {
		t.Run(r.ID, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(r.Sentence).To(MatchRegexp(`^[^a-z].*\.$`), "the sentence is one: it starts with a capital or a code and ends with a full stop")
			g.Expect(len(r.Tested)).To(BeNumerically(">", 60), "tested says how")
			g.Expect(len(r.Breaks)).To(BeNumerically(">", 30), "breaks says what")
			g.Expect(r.Profiles).NotTo(BeEmpty())
			g.Expect(c.SourceText(r)).To(ContainSubstring("("), "the sources are spelled out")
			if slices.Contains(r.Source, "S") {
				g.Expect(r.Why).NotTo(BeEmpty(), "a row of the suite's own says why")
			}
			if r.Level == Should {
				g.Expect(r.Why).NotTo(BeEmpty(), "a SHOULD says why it is no MUST")
			}
			for _, v := range r.Variants {
				g.Expect(v.Sentence).NotTo(BeEmpty(), v.Name)
				g.Expect(r.SentenceOf(v.Name)).To(And(HavePrefix(strings.TrimSuffix(r.Sentence, ".")), HaveSuffix(".")))
			}
			for _, text := range []string{r.Sentence, r.Tested, r.Breaks, r.Departs, r.Why} {
				g.Expect(text).NotTo(MatchRegexp(`\s\s|\n`), "texts are one line with single spaces")
			}
		})
	}
}

// Ids that a text refers to have to exist, or a reader is sent nowhere.
func TestTextsReferToRowsThatExist(t *testing.T) {
	c := load(t)
	ref := regexp.MustCompile(`\b[SCP]-[A-Z]{2,3}-\d{2}\b`)
	for _, r := range c.Rows("") {
		for _, text := range []string{r.Sentence, r.Tested, r.Breaks, r.Departs, r.Why} {
			for _, id := range ref.FindAllString(text, -1) {
				if _, _, ok := c.Find(id); !ok {
					t.Errorf("%s refers to %s, which does not exist", r.ID, id)
				}
			}
		}
	}
}

// The ids that the first revision has. Rows and variants may be added; none may go or lose its level, because
// baselines and CI configurations of other people refer to them.
func TestFirstRevisionStays(t *testing.T) {
	g := NewWithT(t)
	c := load(t)
	list, err := os.ReadFile("testdata/2026.12.txt")
	g.Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		for _, id := range words[1:] {
			row, _, err := c.Lookup(id)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(row.Level)).To(Equal(words[0]), id)
			g.Expect(row.IDs()).To(ContainElement(id), "an id that verdicts are given for")
		}
	}
}

func TestFind(t *testing.T) {
	c := load(t)
	for _, tc := range []struct {
		id, row, variant, err string
	}{
		{id: "S-DIR-01", row: "S-DIR-01"},
		{id: "S-FRM-13/nul", row: "S-FRM-13", variant: "nul"},
		{id: "C-FRM-02/bom", row: "C-FRM-02", variant: "bom"},
		{id: "S-FRM-99", err: "the family has S-FRM-01 to S-FRM-22"},
		{id: "s-frm-13", err: "is it S-FRM-13?"},
		{id: "S-FRM", err: "the family has"},
		{id: "S-FRM-13/no", err: "the variants of S-FRM-13 are nul, invalid-utf8"},
		{id: "S-FRM-13/", err: "the variants of S-FRM-13 are"},
		{id: "S-DIR-01/x", err: "S-DIR-01 has no variants"},
		{id: "MUST", err: "dshconform list"},
		{id: "", err: "not in the catalogue"},
	} {
		t.Run(tc.id, func(t *testing.T) {
			g := NewWithT(t)
			row, variant, err := c.Lookup(tc.id)
			_, _, ok := c.Find(tc.id)
			g.Expect(ok).To(Equal(tc.err == ""))
			if tc.err != "" {
				g.Expect(err).To(MatchError(ErrUnknown))
				g.Expect(err.Error()).To(ContainSubstring(tc.err))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(row.ID).To(Equal(tc.row))
			g.Expect(variant).To(Equal(tc.variant))
		})
	}
}

func TestProfilesBind(t *testing.T) {
	g := NewWithT(t)
	c := load(t)
	row, _, _ := c.Find("S-TRN-16")
	g.Expect(row.Profiles).To(Equal([]string{Accepted, Receipt}))
	g.Expect(row.Binds(Receipt)).To(BeTrue())
	g.Expect(row.Binds(Directional)).To(BeFalse())
	g.Expect(row.Binds("")).To(BeFalse())
}

func TestLabels(t *testing.T) {
	g := NewWithT(t)
	c := load(t)
	row, _, _ := c.Find("S-TRN-14")
	g.Expect(row.Labels()).To(Equal([]string{"S-TRN-14", "TRN", "S-TRN", "MUST", "server", Directional, Accepted, Receipt, "model", "token-limit"}))
	row, _, _ = c.Find("S-SEC-03")
	g.Expect(row.Labels()).To(ContainElement("property"))
	for _, l := range c.KnownLabels("") {
		g.Expect(l).NotTo(MatchRegexp(`[&|!,()/{}:\s]`), "a label that means something in a label expression")
	}
	g.Expect(c.KnownLabels(Client)).NotTo(ContainElement("PRC"))
	g.Expect(c.KnownLabels(Server)).To(ContainElements("PRC", "S-PRC-01", "SHOULD"))
}

func TestCapabilities(t *testing.T) {
	g := NewWithT(t)
	c := load(t)
	g.Expect(c.Controls("nested-subagents")).To(Equal([]string{"S-SUB-04"}))
	g.Expect(c.Controls("subagents")).To(ContainElements("S-SUB-01", "S-SUB-04"), "what implies it counts")
	g.Expect(c.Controls("chunks")).To(Equal([]string{"S-ORD-08/many-events"}), "a variant alone")
	for _, k := range c.Capabilities("") {
		g.Expect(c.Controls(k.Name)).NotTo(BeEmpty(), "%s controls nothing", k.Name)
	}

	nested, _, _ := c.Find("S-SUB-04")
	k, blocked := c.Blocked(nested, "", []string{"subagents"})
	g.Expect(blocked).To(BeTrue())
	g.Expect(k.Lacking).To(Equal("no subagents"))
	load8, _, _ := c.Find("S-ORD-08")
	_, blocked = c.Blocked(load8, "many-sessions", []string{"chunks"})
	g.Expect(blocked).To(BeFalse())
	_, blocked = c.Blocked(load8, "many-events", []string{"chunks"})
	g.Expect(blocked).To(BeTrue())

	g.Expect(c.CheckCapability(Server, "subagents")).To(Succeed())
	err := c.CheckCapability(Server, "driver-close")
	g.Expect(errors.Is(err, ErrUnknown)).To(BeTrue(), "a server's target can't lack what a driver offers")
	g.Expect(err.Error()).To(ContainSubstring("stderr-flood"))
}

func TestExplain(t *testing.T) {
	g := NewWithT(t)
	c := load(t)
	for _, r := range c.Rows("") {
		for _, id := range append([]string{r.ID}, r.IDs()...) {
			var b bytes.Buffer
			g.Expect(c.Explain(&b, id)).To(Succeed())
			g.Expect(b.String()).To(HavePrefix(id + "  " + string(r.Level)))
			g.Expect(b.Len()).To(BeNumerically(">", 400), id)
			for line := range strings.Lines(b.String()) {
				g.Expect(len([]rune(line))).To(BeNumerically("<=", explainWidth+1), "%s: %q", id, line)
			}
		}
	}
	g.Expect(c.Explain(&bytes.Buffer{}, "S-NO-1")).To(MatchError(ErrUnknown))
}

func TestExplainReadsWell(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	g.Expect(load(t).Explain(&b, "S-FRM-06")).To(Succeed())
	want, err := os.ReadFile("testdata/explain-S-FRM-06.txt")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.String()).To(Equal(string(want)))
}

func TestPageOfRequirementsIsNotStale(t *testing.T) {
	g := NewWithT(t)
	var page bytes.Buffer
	g.Expect(load(t).Markdown(&page)).To(Succeed())
	got, err := os.ReadFile("../../docs/requirements.md")
	g.Expect(err).NotTo(HaveOccurred())
	got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
	g.Expect(string(got) == page.String()).To(BeTrue(), "docs/requirements.md is stale: run `go generate ./suites/requirements`")
}
