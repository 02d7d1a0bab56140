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
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/tap"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// session is a short conversation of a client that does not wait.
const session = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"cwd":"/","provider":"deepseek-official","model":"m"}}
{"jsonrpc":"2.0","id":"号","method":"no/such"}
{"jsonrpc":"2.0","id":2,"method":"shutdown"}
`

// withInput runs the program with bytes on its stdin.
func withInput(t *testing.T, stdin []byte, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := invocation{args: args}.command(ctx, t)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(stdin), &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %v: %v", args, err)
	}
	return ran{code: c.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
}

// recorded taps the session on a reference server.
func recorded(t *testing.T, server ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	args := append([]string{"tap", "--quiet", "--record", file, "--", binary, "refserver"}, server...)
	if r := withInput(t, []byte(session), args...); r.code != 0 || strings.Count(r.out, "\n") != 3 {
		t.Fatalf("tap: exit %d: %s%s", r.code, r.out, r.err)
	}
	return file
}

func TestTapRecordsAndCheckJudges(t *testing.T) {
	g := NewWithT(t)
	file := recorded(t)
	dir := t.TempDir()
	r := dshconform(t, "check", "--report", dir, file)
	g.Expect(r.code).To(Equal(0), r.out+r.err)
	g.Expect(r.out).To(ContainSubstring("conforms: "))
	res := results(t, dir)
	g.Expect(res.Kind).To(Equal(reports.KindCheck))
	g.Expect(res.Profile).To(Equal("directional"))
	g.Expect(verdicts(res)).To(And(HaveKeyWithValue("S-DIR-01", reports.Pass), HaveKeyWithValue("S-SHD-01", reports.Pass)))
	g.Expect(filepath.Join(dir, reports.JUnitName)).To(BeAnExistingFile())

	// the same with a request of the server in its midst
	data, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	at := bytes.Index(data, []byte(`{"t"`))
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	extra := `{"t":1,"dir":"s2c","raw":"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"permission/ask\",\"params\":{}}\n"}` + "\n"
	g.Expect(os.WriteFile(bad, []byte(string(data[:at])+extra+string(data[at:])), 0o600)).To(Succeed())
	r = dshconform(t, "check", bad)
	g.Expect(r.code).To(Equal(1))
	g.Expect(r.out).To(And(ContainSubstring("S-DIR-01"), ContainSubstring("permission/ask"), ContainSubstring("does not conform: 1 failed")))

	r = dshconform(t, "check", "--json", bad)
	g.Expect(r.code).To(Equal(1))
	var run reports.Run
	g.Expect(json.Unmarshal([]byte(r.out), &run)).To(Succeed())
	g.Expect(run.Exit).To(Equal(1))

	known := filepath.Join(t.TempDir(), "known.yaml")
	g.Expect(os.WriteFile(known, []byte("schema: dshconform.baseline/v1\nknown:\n  - {id: S-DIR-01, reason: it asks for permission}\n  - {id: S-SHD-01, reason: now and then}\n"), 0o600)).To(Succeed())
	g.Expect(dshconform(t, "check", "--baseline", known, bad).code).To(Equal(0), "known, and what held here is not stale")
	g.Expect(dshconform(t, "check", "--baseline", known, file).code).To(Equal(0))
}

func TestWrongUseOfCheck(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "no.jsonl")
	NewWithT(t).Expect(os.WriteFile(junk, []byte("hello\n"), 0o600)).To(Succeed())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check"}, "one recording"},
		{[]string{"check", junk}, "line 1"},
		{[]string{"check", "/no/such/file"}, "no such file"},
		{[]string{"check", "--profile", "x", junk}, "unknown profile"},
		{[]string{"tap"}, "tap what?"},
		{[]string{"tap", "cat"}, "behind --"},
		{[]string{"tap", "--profile", "x", "--", "cat"}, "unknown profile"},
		{[]string{"tap", "--record", "/no/such/folder/x", "--", "cat"}, "--record"},
		{[]string{"tap", "--record-limit", "-1", "--", "cat"}, "--record-limit"},
	} {
		g := NewWithT(t)
		r := dshconform(t, c.args...)
		g.Expect(r.code).To(Equal(2), "%v", c.args)
		g.Expect(r.err).To(ContainSubstring(c.want), "%v", c.args)
		g.Expect(strings.Count(r.err, "\n")).To(Equal(1), "%v: one line", c.args)
	}
}

func TestTapTellsViolationsAsTheyHappen(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	input := strings.Repeat("\x1b[2Jjunk\n", 50)
	r := withInput(t, []byte(input), "tap", "--report", dir, "--", binary, "relay-of-nothing")
	g.Expect(r.code).To(Equal(2), "the status of the server, which is this program and wrong use")

	if _, err := exec.LookPath("cat"); err != nil {
		t.Skip("there is no cat here")
	}
	r = withInput(t, []byte(input), "tap", "--report", dir, "--", "cat")
	g.Expect(r.code).To(Equal(0), "whatever was found")
	g.Expect(r.out).To(Equal(input))
	g.Expect(r.err).NotTo(ContainSubstring("\x1b"), "hostile bytes are made visible")
	g.Expect(strings.Count(r.err, "S-FRM-01: expected")).To(Equal(5), "capped")
	g.Expect(r.err).To(ContainSubstring("fail S-FRM-01: 50 times"))
	res := results(t, dir)
	g.Expect(res.Kind).To(Equal(reports.KindCheck))
	g.Expect(res.Exit).To(Equal(1), "the results say what was found")
	g.Expect(verdicts(res)).To(HaveKeyWithValue("S-FRM-01", reports.Fail))

	r = withInput(t, []byte(input), "tap", "--quiet", "--", "cat")
	g.Expect(r.err).To(BeEmpty())
}

// A stderr that nobody reads, or that is gone, costs neither bytes nor the exit code.
func TestTapWithoutAReaderOfStderr(t *testing.T) {
	if _, err := exec.LookPath("cat"); err != nil {
		t.Skip("there is no cat here")
	}
	for name, gone := range map[string]bool{"that stops": false, "that is gone": true} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			r, w, err := os.Pipe()
			g.Expect(err).NotTo(HaveOccurred())
			defer r.Close()
			defer w.Close()
			if gone {
				r.Close()
			} else { // full, so that nothing more goes in
				g.Expect(w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))).To(Succeed())
				_, _ = w.Write(make([]byte, 1<<20))
			}
			c := invocation{args: []string{"tap", "--", "cat"}}.command(ctx, t)
			input := strings.Repeat("junk\n", 100_000)
			var out bytes.Buffer
			c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, w
			g.Expect(c.Run()).To(Succeed())
			g.Expect(out.Len()).To(Equal(len(input)))
		})
	}
}

// The whole suite sees through the tap what it sees without: signals, EOF, EPIPE, slow readers, everything.
func TestSuiteThroughTheTap(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	r := dshconform(t, "server", "--", binary, "tap", "--quiet", "--", binary, "refserver")
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
}

func TestTapOfWhatIsNotThere(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "tap", "--", "/no/such/server")
	g.Expect(r.code).To(Equal(127))
	g.Expect(r.err).To(Equal("dshconform: tap: /no/such/server: no such file or directory\n"))
}

func TestTapFindsTheProfile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	input := strings.Replace(session, `{"jsonrpc":"2.0","id":2`, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","contentBlocks":[{"type":"text","text":"hi"}]}}
{"jsonrpc":"2.0","id":2`, 1)
	// Without a model's endpoint the turn fails, which is an answer too.
	server := []string{"--", binary, "refserver", "--profile", "accepted"}
	r := withInput(t, []byte(input), append([]string{"tap", "--profile", "auto", "--report", dir}, server...)...)
	g.Expect(r.code).To(Equal(0))
	g.Expect(results(t, dir).Profile).To(Equal("accepted"), r.err)
	g.Expect(results(t, dir).Exit).To(Equal(0), r.err)

	r = withInput(t, []byte(input), append([]string{"tap", "--report", dir}, server...)...)
	g.Expect(r.err).To(ContainSubstring("run instead: dshconform tap --profile accepted"))
}

// Every transcript of a run in which everything held is clean on its own too, from wherever it is joined.
func TestTranscriptsOfACleanRunAreClean(t *testing.T) {
	for _, profile := range requirements.Profiles() {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := dshconform(t, "server", "--profile", profile, "--report", dir)
			if r.code != 0 {
				t.Fatalf("the run itself: exit %d:\n%s%s", r.code, r.out, r.err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "transcripts", "*.jsonl"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no transcripts: %v", err)
			}
			for _, file := range files {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				cleanTranscript(t, file, data)
				joinedTranscripts(t, file, data)
			}
			NewWithT(t).Expect(dshconform(t, "check", files[0]).code).To(Equal(0))
		})
	}
}

// cleanTranscript judges a transcript, by all rows but these.
func cleanTranscript(t *testing.T, name string, data []byte, but ...string) {
	t.Helper()
	told := false
	_, err := tap.Check(bytes.NewReader(data), tap.JudgeOptions{OnViolation: func(v protocol.Violation) {
		if slices.Contains(but, v.Row) {
			return
		}
		if !told {
			t.Errorf("%s: %s: expected %s; actual %s", name, v.Row, v.Expected, v.Actual)
		}
		told = true
	}})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// joinedTranscripts judges what is left of a transcript when its beginning is cut off, at some places.
func joinedTranscripts(t *testing.T, name string, data []byte) {
	t.Helper()
	const places, most = 2, 64 << 10
	if len(data) > most {
		return
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	header := lines[0]
	if !bytes.Contains(header, []byte(`"joined":true`)) {
		header = append(bytes.TrimSuffix(bytes.TrimSpace(header), []byte("}")), []byte(`,"joined":true}`+"\n")...)
	}
	step := max(1, len(lines)/places)
	for at := 1; at < len(lines); at += step {
		cleanTranscript(t, name+", joined", append(bytes.Clone(header), bytes.Join(lines[at:], nil)...))
		cleanTranscript(t, name+", with a gap", withGap(lines, at, min(at+2*step, len(lines))))
		cleanTranscript(t, name+", with a cut frame", withCutFrame(lines, at))
	}
}

// withGap leaves lines out of a transcript, notes excepted: they are never lost.
func withGap(lines [][]byte, from, to int) []byte {
	out := bytes.Join(lines[:from], nil)
	out = append(out, `{"t":0,"dir":"note","raw":"gap: some lines\n"}`+"\n"...)
	for i, l := range lines[from:] {
		if from+i >= to || bytes.Contains(l, []byte(`"dir":"note"`)) {
			out = append(out, l...)
		}
	}
	return out
}

// withCutFrame shortens the first frame from a place on, as a recorder with a bound does.
func withCutFrame(lines [][]byte, from int) []byte {
	out := bytes.Join(lines[:from], nil)
	cut := false
	for _, l := range lines[from:] {
		var e struct {
			Dir string `json:"dir"`
			Raw string `json:"raw"`
		}
		if !cut && json.Unmarshal(l, &e) == nil && len(e.Raw) > 40 && e.Dir != "note" {
			cut = true
			raw, err := json.Marshal(e.Raw[:30])
			if err != nil {
				panic(err)
			}
			l = fmt.Appendf(nil, `{"t":0,"dir":%q,"raw":%s,"size":%d}`+"\n", e.Dir, raw, len(e.Raw))
		}
		out = append(out, l...)
	}
	return out
}

func TestSnapshots(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "snapshots")
	for _, profile := range requirements.Profiles() {
		server := []string{"--", binary, "refserver", "--profile", profile}
		r := dshconform(t, append([]string{"snapshot", "record", dir, "--profile", profile}, server...)...)
		g.Expect(r.code).To(Equal(0), r.err)
		for range 3 {
			r = dshconform(t, append([]string{"snapshot", "verify", dir}, server...)...)
			g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
		}
	}
	r := dshconform(t, "snapshot", "verify", dir, "--", binary, "refserver", "--profile", "accepted")
	g.Expect(r.code).To(Equal(1))
	g.Expect(r.out).To(And(ContainSubstring("--- recorded/one-turn.snapshot"), ContainSubstring("+"), ContainSubstring("the wire has changed in")))

	g.Expect(dshconform(t, "snapshot", "verify", t.TempDir(), "--", binary, "refserver").code).To(Equal(2), "no snapshots")
	g.Expect(dshconform(t, "snapshot", "record", dir, "--", "/no/such/server").code).To(Equal(3))
	g.Expect(dshconform(t, "snapshot", "record").code).To(Equal(2))
}

func TestModelAlone(t *testing.T) {
	g := NewWithT(t)
	r := withInput(t, []byte("gates\nopen g\ngates\ncalls\nhello\nquit\n"), "model", "--key", "sk-test", "--host", "stub.example")
	g.Expect(r.code).To(Equal(0), r.err)
	g.Expect(r.out).To(MatchRegexp(`^export DEEPSEEK_BASE_URL=http://stub\.example:\d+\nexport DEEPSEEK_API_KEY=sk-test\nexport DSHCONFORM_CONTROL=http://\S+\n`))
	g.Expect(r.out).To(And(ContainSubstring("no gates\n"), ContainSubstring("gate g open, 0 waited\n"), ContainSubstring("gate g open, 0 wait\n"), ContainSubstring("no calls\n"), ContainSubstring("what? There are: ")))
	r = dshconform(t, "model", "--listen", "999.0.0.1:1")
	g.Expect(r.code).To(Equal(2))
	g.Expect(strings.Count(r.err, "\n")).To(Equal(1))
}
