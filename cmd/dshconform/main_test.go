package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/fixtures/refserver"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// binary is the program, built once and without the race detector: it is a subject and a supervisor as well, and those
// are to be what users run.
var binary string

func TestMain(m *testing.M) {
	if stuck := os.Getenv(stuckVariable); stuck != "" {
		os.Exit(serveAndGetStuck(stuck))
	}
	if os.Getenv(hybridVariable) != "" {
		os.Exit(serveAsHybrid())
	}
	if os.Getenv(titleVariable) != "" {
		os.Exit(serveWithTitles())
	}
	if after := os.Getenv(diesVariable); after != "" {
		os.Exit(serveAndDie(after))
	}
	if trouble := os.Getenv(troubleVariable); trouble != "" {
		os.Exit(driveWithTrouble(trouble))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "dshconform-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "dshconform")
		if runtime.GOOS == "windows" {
			binary += ".exe"
		}
		if out, err := exec.Command("go", "build", "-race=false", "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building dshconform: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// stuckVariable makes the test's own executable a subject: the reference server, which stops reading after some lines
// and makes the file that the variable names when it does.
const stuckVariable = "DSHCONFORM_TEST_STUCK"

// hybridVariable does so too, with one whose receipts have the form of a settled prompt besides.
const hybridVariable = "DSHCONFORM_TEST_HYBRID"

func serveAsHybrid() int {
	return refserver.Run(context.Background(), refserver.Options{Profile: refserver.Receipt, Stdin: os.Stdin, Stdout: hybridWriter{}, Stderr: os.Stderr})
}

type hybridWriter struct{}

func (hybridWriter) Write(p []byte) (int, error) {
	_, err := os.Stdout.Write(bytes.ReplaceAll(p, []byte(`"result":{"messageId":`), []byte(`"result":{"status":"ok","reason":{"kind":"completed"},"messageId":`)))
	return len(p), err
}

// diesVariable does so too, with one that ends after as many lines as the variable says.
const diesVariable = "DSHCONFORM_TEST_DIES"

// stuckAfter is how many lines the subject serves before it gets stuck: the handshake and a few specs.
const stuckAfter = 30

func serveAndGetStuck(file string) int {
	return serveAndThen(stuckAfter, func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	})
}

func serveAndDie(after string) int {
	n, err := strconv.Atoi(after)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return serveAndThen(n, func() { os.Exit(7) })
}

func serveAndThen(after int, trouble func()) int {
	r := &countingReader{after: after, trouble: trouble}
	return refserver.Run(context.Background(), refserver.Options{Stdin: r, Stdout: os.Stdout, Stderr: os.Stderr})
}

// countingReader reads stdin up to some line, and then has its trouble brought about.
type countingReader struct {
	lines, after int
	trouble      func()
}

// What it has read in the end is not served: else it is a race whether its answer comes before the trouble.
func (r *countingReader) Read(p []byte) (int, error) {
	n, err := os.Stdin.Read(p)
	if r.lines += bytes.Count(p[:n], []byte{'\n'}); r.lines > r.after {
		r.trouble()
	}
	return n, err
}

// hang bounds a program that should have ended long ago. It is no expectation about speed.
const hang = 5 * time.Minute

// invocation is one run of the program.
type invocation struct {
	dir  string   // working directory, "" for an empty one
	env  []string // besides that of the test
	args []string
	in   string // on stdin
}

// ran is what came of it.
type ran struct {
	code     int
	out, err string
}

func dshconform(t *testing.T, args ...string) ran {
	t.Helper()
	return invocation{args: args}.run(t)
}

func (i invocation) command(ctx context.Context, t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(ctx, binary, i.args...)
	c.Dir = i.dir
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	c.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "NO_COLOR=")
	c.Env = append(c.Env, i.env...)
	return c
}

func (i invocation) run(t *testing.T) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := i.command(ctx, t)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(i.in), &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %v: %v", i.args, err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v did not end", i.args)
	}
	r := ran{code: c.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
	for _, text := range []string{r.out, r.err} {
		if strings.Contains(text, "goroutine ") || strings.Contains(text, "panic: ") {
			t.Errorf("%v printed a stack trace:\n%s", i.args, text)
		}
	}
	return r
}

// results reads the results that a run left in a folder.
func results(t *testing.T, dir string) *reports.Run {
	t.Helper()
	r, err := reports.Read(filepath.Join(dir, reports.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verdicts are those of a run by id, of variants where a row has some.
func verdicts(r *reports.Run) map[string]reports.Verdict {
	v := map[string]reports.Verdict{}
	for i := range r.Requirements {
		for _, p := range r.Requirements[i].Parts() {
			v[p.ID] = p.Outcome.Verdict
		}
	}
	return v
}

// fault picks a fault of the reference server that breaks one requirement in the directional profile.
func fault(t *testing.T) refserver.Fault {
	t.Helper()
	done := map[string]bool{}
	var rows []listedRow
	if err := json.Unmarshal([]byte(dshconform(t, "list", "--json").out), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		done[r.ID] = r.Implemented && r.Level == "MUST"
	}
	for _, f := range refserver.Faults() {
		if len(f.Breaks) == 1 && done[f.Breaks[0]] && f.Profiles[0] == refserver.Directional {
			return f
		}
	}
	t.Fatal("no fault breaks one MUST")
	return refserver.Fault{}
}

func TestVersion(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "version")
	g.Expect(r.code).To(Equal(0))
	g.Expect(r.out).To(MatchRegexp(`^dshconform \S+, catalogue \d{4}\.\d\d\S*, go1\S+, %s/%s\n$`, runtime.GOOS, runtime.GOARCH))
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"help"}, {"server", "--help"}, {"help", "list"}} {
		g := NewWithT(t)
		r := dshconform(t, args...)
		g.Expect(r.code).To(Equal(0), "%v", args)
		g.Expect(r.out).To(ContainSubstring("Usage:"), "%v", args)
		g.Expect(r.err).To(BeEmpty(), "%v", args)
		g.Expect(r.out).NotTo(ContainSubstring("supervise"), "the supervisor is nothing that a user runs")
	}
}

func TestCompletion(t *testing.T) {
	g := NewWithT(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := dshconform(t, "completion", shell)
		g.Expect(r.code).To(Equal(0))
		g.Expect(r.out).To(ContainSubstring("dshconform"))
	}
	// What the scripts ask the program for.
	g.Expect(dshconform(t, "__complete", "explain", "S-DIR-0").out).To(ContainSubstring("S-DIR-01"))
	g.Expect(dshconform(t, "__complete", "server", "--profile", "").out).To(ContainSubstring("receipt"))
	g.Expect(dshconform(t, "__complete", "server", "--label", "").out).To(ContainSubstring("FRM"))
}

func TestList(t *testing.T) {
	g := NewWithT(t)
	var rows []listedRow
	r := dshconform(t, "list", "--json")
	g.Expect(r.code).To(Equal(0))
	g.Expect(json.Unmarshal([]byte(r.out), &rows)).To(Succeed())
	g.Expect(len(rows)).To(BeNumerically(">", 100))
	text := dshconform(t, "list").out
	for _, row := range rows {
		g.Expect(row.Role).To(BeElementOf("server", "client", "parity"))
		g.Expect(row.Faults).NotTo(BeNil(), row.ID)
		g.Expect(text).To(MatchRegexp(`(?m)^%s +%s .*%s$`, row.ID, row.Level, regexp.QuoteMeta(row.Sentence)))
	}

	r = dshconform(t, "list", "--label", "S-DIR && MUST")
	g.Expect(r.code).To(Equal(0))
	g.Expect(r.out).To(And(ContainSubstring("S-DIR-01"), Not(ContainSubstring("S-FRM-01 "))))

	var capabilities []listedCapability
	r = dshconform(t, "list", "--capabilities", "--json")
	g.Expect(json.Unmarshal([]byte(r.out), &capabilities)).To(Succeed())
	g.Expect(capabilities).NotTo(BeEmpty())
	for _, k := range capabilities {
		g.Expect(k.Rows).NotTo(BeEmpty(), k.Name)
	}
	g.Expect(dshconform(t, "list", "--capabilities").out).To(MatchRegexp(`(?m)^subagents \(server\): .*\n  controls: .*S-SUB-01`))
}

func TestExplain(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "explain", "S-OVL-02", "S-FRM-13/nul")
	g.Expect(r.code).To(Equal(0))
	g.Expect(r.out).To(And(ContainSubstring("S-OVL-02"), ContainSubstring("S-FRM-13/nul"), ContainSubstring("How it is tested")))
	for _, args := range [][]string{{"explain"}, {"explain", "S-NO-1"}, {"explain", "S-OVL-02", "S-OVL-99"}} {
		r := dshconform(t, args...)
		g.Expect(r.code).To(Equal(2), "%v", args)
		g.Expect(r.out).To(BeEmpty(), "%v", args)
		g.Expect(r.err).To(HavePrefix("dshconform: "), "%v", args)
	}
}

func TestRefserverListsItsFaults(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "refserver", "--list-faults")
	g.Expect(r.code).To(Equal(0))
	var faults []map[string]any
	g.Expect(json.Unmarshal([]byte(r.out), &faults)).To(Succeed())
	for _, f := range faults {
		g.Expect(f).To(And(HaveKey("name"), HaveKey("sentence"), HaveKey("fuzzable")))
		g.Expect(f["breaks"]).NotTo(BeNil(), "%v", f["name"])
		g.Expect(f["profiles"]).NotTo(BeEmpty(), "%v", f["name"])
	}
	g.Expect(dshconform(t, "refserver", "--fault", "no-such-fault").code).To(Equal(2))
}

func TestWrongUseOfTheProgram(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"unknown command":     {[]string{"sever"}, "did you mean server?"},
		"unknown flag":        {[]string{"list", "--nope"}, "unknown flag: --nope"},
		"argument of list":    {[]string{"list", "S-DIR-01"}, "takes no argument"},
		"argument of version": {[]string{"version", "x"}, "takes no argument"},
		"list: label":         {[]string{"list", "--label", "(("}, "--label"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := dshconform(t, tc.args...)
			g.Expect(r.code).To(Equal(2))
			g.Expect(r.out).To(BeEmpty())
			g.Expect(r.err).To(And(HavePrefix("dshconform: "), ContainSubstring(tc.says)))
			g.Expect(strings.Count(r.err, "\n")).To(Equal(1), "one line: %s", r.err)
		})
	}
}

// eachProfile runs a test in all profiles at the same time.
func eachProfile(t *testing.T, test func(t *testing.T, profile string)) {
	for _, profile := range requirements.Profiles() {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			test(t, profile)
		})
	}
}

// misused is a wrong use of a command, and what its error has to say.
type misused struct {
	args []string
	says string
}

// refusesMisuse tests that each of them exits with 2 and says what is wrong.
func refusesMisuse(t *testing.T, command string, cases map[string]misused) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := dshconform(t, append([]string{command}, tc.args...)...)
			g.Expect(r.code).To(Equal(2), "%s%s", r.out, r.err)
			g.Expect(r.err).To(And(HavePrefix("dshconform: "), ContainSubstring(tc.says)))
		})
	}
}
