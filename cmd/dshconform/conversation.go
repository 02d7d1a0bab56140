package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/tap"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// profileAuto stands for the profile that the conversation shows.
const profileAuto = "auto"

// conversation turns what was found in one that the suite did not make into results, for `tap` and `check`.
type conversation struct {
	cat     *requirements.Catalogue
	begun   time.Time
	found   []protocol.Violation
	repeat  string // the command that judges it again
	subject reports.Subject
}

// conversationProfile reads --profile; auto is "", which the judge takes to find out.
func conversationProfile(name string) (protocol.Profile, error) {
	if name == profileAuto {
		return "", nil
	}
	p, err := protocol.ParseProfile(name)
	if err != nil {
		return "", misuse("--profile: %w, or %s", err, profileAuto)
	}
	return p, nil
}

// conversationRules is what a conversation is judged by: the catalogue, the profile, and the baseline, nil where none
// is named.
func conversationRules(profile, baseline string) (*requirements.Catalogue, protocol.Profile, *reports.Baseline, error) {
	cat, err := requirements.Load()
	if err != nil {
		return nil, "", nil, failed("%w", err)
	}
	p, err := conversationProfile(profile)
	if err != nil || baseline == "" {
		return cat, p, nil, err
	}
	known, err := reports.ReadBaseline(cat, baseline)
	if err != nil {
		return nil, "", nil, misuse("%w", err)
	}
	return cat, p, known, nil
}

// results brings what was found to a run, with the rows that the conversation gave occasion to judge.
func (c *conversation) results(r tap.Result, remarks []string) (*reports.Run, error) {
	ids := make([]string, 0, len(r.Rows))
	for id := range r.Rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	collector, err := reports.NewCollector(c.cat, string(r.Profile), "", ids)
	if err != nil {
		return nil, err
	}
	c.record(collector, r)
	for _, id := range ids {
		row, _, _ := c.cat.Find(id)
		for _, one := range row.IDs() {
			if _, known := collector.Outcome(one); !known {
				collector.Record(one, reports.NotProvoked())
			}
		}
	}
	run := &reports.Run{
		Kind: reports.KindCheck, Version: version(), Platform: platform(), Catalogue: c.cat.Revision(),
		Started: c.begun, Seconds: time.Since(c.begun).Seconds(), Complete: true,
		Subject: c.subject, Profile: string(r.Profile), Seed: defaultSeed,
		Requirements: collector.Requirements(true, "its situation never arose"), Besides: collector.Besides(),
		Remarks: append(remarksOf(r), remarks...),
	}
	if r.How != "" {
		run.Remarks = append([]string{fmt.Sprintf("profile %s: %s", r.Profile, r.How)}, run.Remarks...)
	}
	if r.Spoken != "" && r.Spoken != r.Profile {
		run.ProfileNote = fmt.Sprintf("the first prompt was answered in the form of the %s profile, not of %s", r.Spoken, r.Profile)
	}
	reports.Judge(run)
	return run, nil
}

// record gives each row its outcome.
func (c *conversation) record(collector *reports.Collector, r tap.Result) {
	told := map[string]int{}
	for _, v := range c.found {
		o := reports.Outcome{Verdict: reports.Fail, Expected: v.Expected, Actual: v.Actual, Frames: c.frames(v.Frames), Repeat: c.repeat}
		if told[v.Row]++; told[v.Row] == 1 {
			n := r.Rows[v.Row]
			o.Failed = max(1, n.Violated-min(n.Violated, 5)+1) // those that are not told, and this one
			o.Passed = max(0, n.Applied-n.Violated)
		}
		collector.Record(v.Row, o)
	}
	for id, n := range r.Rows {
		if told[id] == 0 && n.Applied > 0 {
			collector.Record(id, reports.Outcome{Verdict: reports.Pass, Passed: n.Applied, Frames: []reports.Frame{}})
		}
	}
}

func (c *conversation) frames(lines []wire.Line) []reports.Frame {
	out := []reports.Frame{}
	for _, l := range lines {
		f := reports.NewFrame(l.At.Sub(c.begun).Seconds(), string(l.Dir), l.Raw)
		if l.Cut() {
			f.Bytes = int(l.Size)
		}
		out = append(out, f)
	}
	return out
}

// remarksOf says what was not judged, and what the protocol does not know.
func remarksOf(r tap.Result) []string {
	var remarks []string
	for _, what := range r.NotJudged {
		remarks = append(remarks, "not judged: "+what)
	}
	return append(remarks, reports.Beyond(r.Extras)...)
}

// excuse marks what a baseline knows. A conversation is not the suite: that a requirement held in it does not make an
// entry stale.
func excuse(run *reports.Run, b *reports.Baseline) {
	if b == nil {
		return
	}
	run.Subject.Baseline = b.File
	b.Apply(run)
	run.Baseline.Stale = []reports.StaleEntry{}
	reports.Judge(run)
}

// keepConversation writes the results to the folder of a report.
func keepConversation(dir string, run *reports.Run) error {
	if dir == "" {
		return nil
	}
	if err := reports.SaveFinal(dir, run); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	var junit bytes.Buffer
	if err := reports.JUnit(&junit, run); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	if err := reports.WriteFile(filepath.Join(dir, reports.JUnitName), junit.Bytes(), true); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// reportFolder makes the folder of a report before anything is started.
func reportFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return misuse("--report: %w", err)
	}
	return nil
}

// violationLines shows a violation as it happens: one line, and the frames that show it shortened below.
func violationLines(v protocol.Violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dshconform: %s: expected %s; actual: %s\n", v.Row, reports.Shorten(reports.Visible(v.Expected), 300, 0), reports.Shorten(reports.Visible(v.Actual), 300, 0))
	for _, l := range v.Frames {
		arrow := "<--"
		if l.Dir == wire.ClientToServer {
			arrow = "-->"
		}
		fmt.Fprintf(&b, "    %s %s\n", arrow, reports.Shorten(reports.Visible(strings.TrimSuffix(string(l.Raw), "\n")), 200, int(l.Size)))
	}
	return b.String()
}
