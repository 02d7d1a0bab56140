package reports

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/suites/requirements"
)

func consoleRun(t *testing.T) *Run {
	c := collect(t, requirements.Directional, "S-DIR-01", "S-FRM-13", "S-FRM-22", "S-FRM-08", "S-TRN-16", "S-MSG-04", "S-IDS-07", "S-SUB-01", "S-OVL-02")
	c.Record("S-DIR-01", failed)
	c.Record("S-DIR-01", Outcome{Verdict: Fail, Expected: "no request", Actual: "a request\nof two lines\x1b[0m"})
	c.Record("S-FRM-13/nul", Outcome{Verdict: Fail, Expected: "an answer", Actual: "EOF on stdout", Repeat: "dshconform server --id S-FRM-13/nul -- x", Evidence: Evidence{Transcript: "transcripts/S-FRM-13.nul.jsonl"},
		Frames: []Frame{NewFrame(1, "c2s", []byte("\x00\n")), NewFrame(1.5, "note", []byte("exited with code 1"))}})
	c.Record("S-FRM-13/invalid-utf8", passed)
	c.Record("S-FRM-22", Outcome{Verdict: Fail, Expected: "an answer", Actual: "no answer within 10s"})
	c.Record("S-FRM-08", Outcome{Verdict: Observed, Observed: []Observation{{"reply", "nothing"}}})
	c.Record("S-MSG-04", failed)
	c.Record("S-IDS-07", passed)
	k, _ := catalogue(t).Capability("subagents")
	c.Record("S-SUB-01", Lacking(k, "the sdk composition has no such tool"))
	c.Record("S-OVL-02", Outcome{Verdict: Error, Reason: "the model stub was not called"})
	c.Record("S-MSG-01", Outcome{Verdict: Fail, Expected: "a result or an error", Actual: "both"})
	r := sampleRun()
	r.Requirements, r.Besides = c.Requirements(true, "x"), c.Besides()
	(&Baseline{File: "known.yaml", Known: []BaselineEntry{
		{ID: "S-MSG-04", Reason: "answers twice: the error path falls through", Line: 4}, {ID: "S-IDS-07", Reason: "old", Line: 7},
	}}).Apply(r)
	r.Subject.Lacks = []Lack{{Capability: "subagents", Reason: "x", Stale: "its model is offered the tool subagent"}}
	r.ProfileNote, r.Hint = "this server speaks the receipt profile", "dshconform server --profile receipt -- node lib/bin.js"
	code := 1
	r.Diagnosis = &Diagnosis{Exit: &code, Stderr: "Error: boom\n\tat x\x1b[31m\n", StderrBytes: 24, StartupSeconds: 0.31, PeakBytes: 160 << 20, Processes: 9}
	Judge(r)
	return r
}

func TestConsole(t *testing.T) {
	g := NewWithT(t)
	r := consoleRun(t)
	for name, o := range map[string]ConsoleOptions{"console.txt": {}, "console-verbose.txt": {Verbose: true}} {
		var b bytes.Buffer
		g.Expect(ConsoleHeader(&b, r, o)).To(Succeed())
		g.Expect(Console(&b, r, o)).To(Succeed())
		golden(t, name, b.Bytes())
		g.Expect(b.String()).NotTo(MatchRegexp(`[\x00-\x09\x0b-\x1f\x7f]`), "hostile bytes never come through raw")
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		g.Expect(lines[len(lines)-1]).To(Equal(r.Closing))
	}
}

// Colours change nothing but colours.
func TestConsoleInColour(t *testing.T) {
	g := NewWithT(t)
	r := consoleRun(t)
	var plain, coloured bytes.Buffer
	g.Expect(Console(&plain, r, ConsoleOptions{Verbose: true})).To(Succeed())
	g.Expect(Console(&coloured, r, ConsoleOptions{Verbose: true, Color: true})).To(Succeed())
	g.Expect(coloured.String()).To(ContainSubstring("\x1b["))
	g.Expect(regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(coloured.String(), "")).To(Equal(plain.String()))
}

func TestConsoleOfACleanRunIsShort(t *testing.T) {
	g := NewWithT(t)
	c := collect(t, requirements.Directional, "S-DIR-01")
	c.Record("S-DIR-01", passed)
	var b bytes.Buffer
	g.Expect(Console(&b, finish(c), ConsoleOptions{})).To(Succeed())
	g.Expect(b.String()).To(Equal("1 pass in 2.2s\nconforms: 1 of 1 MUSTs exercised\n"))
}

func TestConsoleOfASubjectThatCouldNotBeRun(t *testing.T) {
	g := NewWithT(t)
	r := sampleRun()
	r.Abort = &Abort{Kind: AbortNotRun, Reason: "exited with status 5 before it answered initialize"}
	r.Diagnosis = &Diagnosis{Stderr: "reason-why\n", StderrBytes: 11}
	Judge(r)
	var b bytes.Buffer
	g.Expect(Console(&b, r, ConsoleOptions{})).To(Succeed())
	g.Expect(b.String()).To(And(ContainSubstring("reason-why"), ContainSubstring("status 5")))
	g.Expect(r.Exit).To(Equal(ExitNotRun))
}

func TestConsoleReportsABrokenPipe(t *testing.T) {
	err := Console(brokenWriter{}, sampleRun(), ConsoleOptions{})
	NewWithT(t).Expect(err).To(MatchError(errBroken))
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }
