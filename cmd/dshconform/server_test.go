package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// The reference server is what the suite can find nothing wrong with.
func TestReferenceServerConforms(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile string) {
		g := NewWithT(t)
		dir := filepath.Join(t.TempDir(), "out")
		r := dshconform(t, "server", "--profile", profile, "--report", dir)
		g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
		g.Expect(r.err).To(BeEmpty())
		g.Expect(r.out).To(HavePrefix("dshconform "))
		g.Expect(firstLine(r.out)).To(And(ContainSubstring("profile "+profile), ContainSubstring("seed 1")))
		g.Expect(lastLine(r.out)).To(MatchRegexp(`^conforms: \d+ of \d+ MUSTs exercised`))

		res := results(t, dir)
		g.Expect(res.Profile).To(Equal(profile))
		g.Expect(res.Exit).To(Equal(0))
		g.Expect(res.Complete).To(BeTrue())
		g.Expect(res.Summary.Fail + res.Summary.Warn + res.Summary.Error + res.Summary.NotReached).To(BeZero())
		g.Expect(res.Closing).To(Equal(lastLine(r.out)))
		g.Expect(res.Subject.Name).To(Equal("reference server"))
		g.Expect(res.Subject.Argv[1:]).To(Equal([]string{"refserver", "--profile", profile}))
		g.Expect(res.Subject.Dir).NotTo(BeEmpty())
		g.Expect(res.Subject.Env).To(ContainElements("PATH", "HOME", "DEEPSEEK_API_KEY"))

		var junit struct {
			Tests []struct{} `xml:"testsuite>testcase"`
		}
		data, err := os.ReadFile(filepath.Join(dir, reports.JUnitName))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(xml.Unmarshal(data, &junit)).To(Succeed())
		g.Expect(junit.Tests).To(HaveLen(len(res.Requirements)))

		transcripts, err := filepath.Glob(filepath.Join(dir, transcriptsName, "*.jsonl"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(transcripts).NotTo(BeEmpty())
		for _, q := range res.Requirements {
			if q.Transcript != "" {
				g.Expect(filepath.Join(dir, filepath.FromSlash(q.Transcript))).To(BeARegularFile(), q.ID)
			}
		}
	})
}

func TestSelection(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		ids  []string
	}{
		"a row":                {[]string{"--id", "S-DIR-03"}, []string{"S-DIR-03/unknown-id", "S-DIR-03/id-in-flight"}},
		"a variant":            {[]string{"--id", "S-DIR-03/unknown-id"}, []string{"S-DIR-03/unknown-id"}},
		"several":              {[]string{"--id", "S-DIR-03/unknown-id,S-DIR-01", "--id", "S-FRM-01"}, []string{"S-DIR-01", "S-DIR-03/unknown-id", "S-FRM-01"}},
		"a label":              {[]string{"--label", "S-DIR && !(S-DIR-02 || S-DIR-04)"}, []string{"S-DIR-01", "S-DIR-03/unknown-id", "S-DIR-03/id-in-flight"}},
		"both":                 {[]string{"--label", "DIR", "--id", "S-DIR-01"}, []string{"S-DIR-01"}},
		"a regular expression": {[]string{"--label", "/^S-DIR-0[13]$/"}, []string{"S-DIR-01", "S-DIR-03/unknown-id", "S-DIR-03/id-in-flight"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			r := dshconform(t, append([]string{"server", "--report", dir}, tc.args...)...)
			g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
			var got []string
			for id, v := range verdicts(results(t, dir)) {
				g.Expect(v).To(Equal(reports.Pass), id)
				got = append(got, id)
			}
			g.Expect(got).To(ConsistOf(tc.ids))
		})
	}
}

func TestWrongUseOfServer(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		args []string
		says string
	}{
		"flag":                    {[]string{"--nope"}, "unknown flag: --nope"},
		"flag without its value":  {[]string{"--profile"}, "--profile"},
		"profile":                 {[]string{"--profile", "nope"}, "directional, accepted, receipt"},
		"id":                      {[]string{"--id", "S-XXX-99"}, `"S-XXX-99" is not in the catalogue`},
		"one id of several":       {[]string{"--id", "S-DIR-01,S-DIR-99"}, "the family has S-DIR-01 to"},
		"id in lower case":        {[]string{"--id", "s-dir-01"}, "is it S-DIR-01?"},
		"variant":                 {[]string{"--id", "S-DIR-03/nope"}, "the variants of S-DIR-03 are"},
		"id of a client":          {[]string{"--id", "C-DIR-01"}, "on a client"},
		"id of another profile":   {[]string{"--id", "S-DIR-01,S-TRN-16", "--profile", "directional"}, "profile"},
		"label expression":        {[]string{"--label", "(("}, "--label"},
		"unknown label":           {[]string{"--label", "no-such-label"}, "no requirement has the label"},
		"misspelt label":          {[]string{"--label", "DIR || FMR"}, "did you mean FRM?"},
		"negated misspelt label":  {[]string{"--label", "!FMR"}, "did you mean FRM?"},
		"nothing matches":         {[]string{"--label", "DIR && FRM"}, "matches no requirement"},
		"id and label disagree":   {[]string{"--label", "FRM", "--id", "S-DIR-01"}, "matches no requirement"},
		"command without --":      {[]string{"node", "x.js"}, "behind --"},
		"no command behind --":    {[]string{"--"}, "no command behind --"},
		"empty command":           {[]string{"--", ""}, "is empty"},
		"env":                     {[]string{"--env", "NAME"}, "NAME=VALUE"},
		"env without a name":      {[]string{"--env", "=x"}, "NAME=VALUE"},
		"inherit-env":             {[]string{"--inherit-env", "A=b"}, "name of a variable"},
		"seed":                    {[]string{"--seed", "dice"}, "--seed"},
		"seed too large":          {[]string{"--seed", "9007199254740992"}, "2^53"},
		"time-out scale":          {[]string{"--timeout-scale", "0"}, "--timeout-scale"},
		"time-out scale in words": {[]string{"--timeout-scale", "slow"}, "--timeout-scale"},
		"min-exercised":           {[]string{"--min-exercised", "-1"}, "--min-exercised"},
		"process-cwd":             {[]string{"--process-cwd", filepath.Join(dir, "no")}, "is not a directory"},
		"report":                  {[]string{"--report", filepath.Join(file("plain", ""), "x")}, "--report"},
		"report without a name":   {[]string{"--report", ""}, "--report"},
		"revision":                {[]string{"--catalogue", "1999.01"}, "1999.01"},
		"no target file":          {[]string{"--target", filepath.Join(dir, "no.yaml")}, "no.yaml"},
		"target: YAML":            {[]string{"--target", file("yaml.yaml", "schema: dshconform.target/v1\ncommand: [\n")}, "yaml.yaml:2:"},
		"target: unknown key":     {[]string{"--target", file("key.yaml", "schema: dshconform.target/v1\ncommand: [x]\nnonsense: 1\n")}, `key.yaml:3:1: unknown key "nonsense"`},
		"target: wrong type":      {[]string{"--target", file("type.yaml", "schema: dshconform.target/v1\ncommand: x\n")}, "type.yaml:2:10: "},
		"target: no command":      {[]string{"--target", file("none.yaml", "schema: dshconform.target/v1\n")}, "names no command"},
		"target is no target":     {[]string{"--target", file("base.yaml", "schema: dshconform.baseline/v1\nknown: []\n")}, "base.yaml:"},
		"no baseline file":        {[]string{"--baseline", filepath.Join(dir, "no.yaml")}, "no.yaml"},
		"baseline: YAML":          {[]string{"--baseline", file("b1.yaml", "schema: dshconform.baseline/v1\nknown: [\n")}, "b1.yaml:2:"},
		"baseline: unknown id":    {[]string{"--baseline", file("b2.yaml", "schema: dshconform.baseline/v1\nknown:\n  - id: S-NOPE-01\n    reason: x\n")}, "b2.yaml:3:"},
		"baseline: family":        {[]string{"--baseline", file("b3.yaml", "schema: dshconform.baseline/v1\nknown:\n  - id: S-DIR\n    reason: x\n")}, "is a family"},
		"baseline: no reason":     {[]string{"--baseline", file("b4.yaml", "schema: dshconform.baseline/v1\nknown:\n  - id: S-DIR-01\n")}, "b4.yaml:3:"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := dshconform(t, append([]string{"server"}, tc.args...)...)
			g.Expect(r.code).To(Equal(2), "%s%s", r.out, r.err)
			g.Expect(r.out).To(BeEmpty(), "errors of use go to stderr, before anything is run")
			g.Expect(r.err).To(And(HavePrefix("dshconform: "), ContainSubstring(tc.says)))
			g.Expect(strings.Count(r.err, "\n")).To(Equal(1), "one line: %s", r.err)
		})
	}
}

func TestBrokenDefaultTarget(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "dshconform.yaml"), []byte("profile: directional\n  label: [\n"), 0o600)).To(Succeed())
	r := invocation{dir: dir, args: []string{"server"}}.run(t)
	g.Expect(r.code).To(Equal(2))
	g.Expect(r.err).To(MatchRegexp(`dshconform\.yaml:\d+:\d+: `))
}

func TestTargetFile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	command, err := json.Marshal([]string{binary, "refserver"})
	g.Expect(err).NotTo(HaveOccurred())
	write := func(text string) {
		g.Expect(os.WriteFile(filepath.Join(dir, "dshconform.yaml"), []byte("schema: dshconform.target/v1\n"+text), 0o600)).To(Succeed())
	}
	judge := func(args ...string) *reports.Run {
		out := t.TempDir()
		r := invocation{dir: dir, args: append([]string{"server", "--id", "S-DIR-01", "--report", out}, args...)}.run(t)
		g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
		if first := filepath.Join(out, "accepted"); len(args) == 0 {
			out = first // of the two that are judged
		}
		return results(t, out)
	}

	// The file in the directory is taken by itself, and the profiles that it lists are judged.
	write("command: " + string(command) + `
name: mine
env: {FROM_FILE: x, BOTH: file}
cwd: sub
model: of-the-file
profiles:
  - {name: accepted, args: [--profile, accepted]}
  - {name: receipt, args: [--profile, receipt], env: {BOTH: profile}}
lacks:
  - {capability: subagents, reason: because}
`)
	res := judge()
	g.Expect(res.Profile).To(Equal("accepted"))
	g.Expect(res.Subject.Name).To(Equal("mine"))
	g.Expect(res.Subject.Target).To(Equal("dshconform.yaml"))
	g.Expect(res.Subject.Argv).To(Equal([]string{binary, "refserver", "--profile", "accepted"}))
	g.Expect(res.Subject.Env).To(ContainElements("FROM_FILE", "BOTH"))
	g.Expect(res.Subject.Cwd).To(HaveSuffix(string(filepath.Separator)+"sub"), "what is sent is absolute")
	g.Expect(filepath.IsAbs(res.Subject.Cwd)).To(BeTrue())
	g.Expect(res.Subject.Model).To(Equal("of-the-file"))
	g.Expect(res.Subject.Lacks).To(ConsistOf(reports.Lack{Capability: "subagents", Reason: "because"}))

	// Flags win over it.
	res = judge("--profile", "receipt", "--model", "of-the-flag", "--env", "NEW=1")
	g.Expect(res.Profile).To(Equal("receipt"))
	g.Expect(res.Subject.Argv).To(Equal([]string{binary, "refserver", "--profile", "receipt"}))
	g.Expect(res.Subject.Model).To(Equal("of-the-flag"))
	g.Expect(res.Subject.Env).To(ContainElements("FROM_FILE", "NEW"))

	// A command behind -- wins over its command, with what a profile adds to it.
	res = judge("--", binary, "refserver", "--profile", "accepted")
	g.Expect(res.Subject.Argv).To(Equal([]string{binary, "refserver", "--profile", "accepted"}))
	g.Expect(res.Subject.Model).To(Equal("of-the-file"))

	// --target names another one.
	other := filepath.Join(t.TempDir(), "other.yaml")
	g.Expect(os.WriteFile(other, []byte("schema: dshconform.target/v1\ncommand: "+string(command)+"\n"), 0o600)).To(Succeed())
	res = judge("--target", other)
	g.Expect(res.Subject.Name).To(Equal("other"))
	g.Expect(res.Subject.Target).To(Equal(other))
	g.Expect(res.Profile).To(Equal("directional"))
}

func TestFailureReadsWell(t *testing.T) {
	g := NewWithT(t)
	f := fault(t)
	dir := t.TempDir()
	row, _ := requirements.SplitID(f.Breaks[0])
	subject := []string{"--", binary, "refserver", "--fault", f.Name}
	r := dshconform(t, append([]string{"server", "--report", dir, "--label", "DIR || " + row, "--env", "SPACED=a b"}, subject...)...)
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(And(ContainSubstring(f.Breaks[0]), ContainSubstring("expected: "), ContainSubstring("actual: "), ContainSubstring("source: ")))
	g.Expect(r.out).NotTo(ContainSubstring("\x1b"), "no colours in a pipe")
	g.Expect(lastLine(r.out)).To(MatchRegexp(`^does not conform: 1 failed; \d+ of \d+ MUSTs exercised`))

	res := results(t, dir)
	g.Expect(res.Exit).To(Equal(1))
	var repeat string
	for _, q := range res.Requirements {
		if q.Verdict == reports.Fail {
			g.Expect(q.ID).To(Equal(f.Breaks[0]))
			repeat = q.Repeat
		}
	}
	g.Expect(repeat).To(Equal(strings.Join([]string{
		binary, "server --profile directional --id", f.Breaks[0], "--env 'SPACED=a b' --", binary, "refserver --fault", f.Name,
	}, " ")))
	g.Expect(r.out).To(ContainSubstring(repeat))
}

func TestBaseline(t *testing.T) {
	g := NewWithT(t)
	f := fault(t)
	broken := f.Breaks[0]
	sound := "S-DIR-01"
	if broken == sound {
		sound = "S-FRM-01"
	}
	judge := func(ids ...string) ran {
		text := "schema: dshconform.baseline/v1\nknown:\n"
		for _, id := range ids {
			text += "  - {id: " + id + ", reason: it is like that}\n"
		}
		path := filepath.Join(t.TempDir(), "b.yaml")
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return dshconform(t, "server", "--id", broken+","+sound, "--baseline", path, "--", binary, "refserver", "--fault", f.Name)
	}
	r := judge(broken)
	g.Expect(r.code).To(Equal(0), "a known failure: %s%s", r.out, r.err)
	g.Expect(r.out).To(ContainSubstring("it is like that"))
	r = judge(broken, sound)
	g.Expect(r.code).To(Equal(1), "a stale entry")
	g.Expect(r.out).To(MatchRegexp(`STALE %s .*line 4`, sound))
	g.Expect(judge(sound).code).To(Equal(1), "an unknown failure")
}

func TestMinExercised(t *testing.T) {
	g := NewWithT(t)
	g.Expect(dshconform(t, "server", "--id", "S-DIR-01", "--min-exercised", "1").code).To(Equal(0))
	r := dshconform(t, "server", "--id", "S-DIR-01", "--min-exercised", "2")
	g.Expect(r.code).To(Equal(1))
	g.Expect(lastLine(r.out)).To(ContainSubstring("1 exercised, at least 2 asked for"))
}

func TestAnotherProfileIsNamed(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "server", "--id", "S-DIR-01", "--", binary, "refserver", "--profile", "accepted")
	verdict := strings.SplitN(r.out, "\n", 5)[3]
	g.Expect(verdict).To(ContainSubstring("accepted profile"), "the first line of the verdict says so: %s", r.out)
	g.Expect(r.out).To(ContainSubstring("run instead: " + binary + " server --profile accepted -- " + binary + " refserver --profile accepted\n"))
}

func TestJSONIsPure(t *testing.T) {
	g := NewWithT(t)
	for _, args := range [][]string{
		{"server", "--json", "--id", "S-DIR-01"},
		{"server", "--json", "--verbose", "--id", "S-DIR-01"},
		{"server", "--json", "--id", "S-DIR-01", "--", filepath.Join(t.TempDir(), "no-such-server")},
	} {
		r := dshconform(t, args...)
		res, err := reports.Parse("stdout", []byte(r.out))
		g.Expect(err).NotTo(HaveOccurred(), "%v", args)
		g.Expect(res.Exit).To(Equal(r.code))
		d := json.NewDecoder(strings.NewReader(r.out))
		var one, more any
		g.Expect(d.Decode(&one)).To(Succeed())
		g.Expect(d.Decode(&more)).To(MatchError("EOF"), "one document and nothing else")
	}
}

func TestSeed(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "server", "--id", "S-DIR-01", "--seed", "77")
	g.Expect(firstLine(r.out)).To(ContainSubstring("seed 77,"))
	seen := regexp.MustCompile(`seed (\d+),`)
	dir := t.TempDir()
	a := seen.FindStringSubmatch(firstLine(dshconform(t, "server", "--id", "S-DIR-01", "--seed", "random", "--report", dir).out))
	b := seen.FindStringSubmatch(firstLine(dshconform(t, "server", "--id", "S-DIR-01", "--seed", "random").out))
	g.Expect(a[1]).NotTo(Equal(b[1]))
	data, err := os.ReadFile(filepath.Join(dir, reports.FileName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(data).To(ContainSubstring(`"seed": ` + a[1] + ","))
}

// A report takes the place of an earlier one, and of nothing else.
func TestReportReplacesAnEarlierOne(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	old := filepath.Join(dir, transcriptsName, "S-OLD-01.1.jsonl")
	foreign := filepath.Join(dir, "notes.txt")
	g.Expect(os.MkdirAll(filepath.Dir(old), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(old, nil, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(foreign, nil, 0o600)).To(Succeed())
	g.Expect(dshconform(t, "server", "--id", "S-DIR-01", "--report", dir).code).To(Equal(0))
	g.Expect(old).NotTo(BeAnExistingFile())
	g.Expect(foreign).To(BeAnExistingFile())
}

func TestReportOfSeveral(t *testing.T) {
	g := NewWithT(t)
	f := fault(t)
	good, bad := t.TempDir(), t.TempDir()
	id := f.Breaks[0]
	g.Expect(dshconform(t, "server", "--id", id, "--report", good).code).To(Equal(0))
	g.Expect(dshconform(t, "server", "--id", id, "--report", bad, "--", binary, "refserver", "--fault", f.Name).code).To(Equal(1))
	r := dshconform(t, "report", "--format", "text", good, filepath.Join(bad, reports.FileName))
	g.Expect(r.code).To(Equal(0), r.err)
	row, _ := requirements.SplitID(id)
	g.Expect(r.out).To(MatchRegexp(`(?m)^\* %s +MUST +pass +FAIL$`, row))

	broken := filepath.Join(t.TempDir(), "r.json")
	g.Expect(os.WriteFile(broken, []byte("{\n  \"schema\": 1}"), 0o600)).To(Succeed())
	for _, args := range [][]string{{}, {"--format", "png", good}, {filepath.Join(good, "no.json")}, {t.TempDir()}, {broken}} {
		r := dshconform(t, append([]string{"report"}, args...)...)
		g.Expect(r.code).To(Equal(2), "%v", args)
		g.Expect(r.out).To(BeEmpty())
		g.Expect(r.err).To(HavePrefix("dshconform: "))
	}
	g.Expect(dshconform(t, "report", broken).err).To(ContainSubstring("r.json:2:"))
}

// Nothing of a run stays in the temporary directory.
func TestScratchIsRemoved(t *testing.T) {
	g := NewWithT(t)
	tmp := t.TempDir()
	r := invocation{env: []string{"TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp}, args: []string{"server", "--id", "S-DIR-01"}}.run(t)
	g.Expect(r.code).To(Equal(0))
	left, err := os.ReadDir(tmp)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
}

func TestNoCommandOfTheProgramNeedsMoreThanItself(t *testing.T) {
	g := NewWithT(t)
	r := invocation{env: []string{"PATH="}, args: []string{"server", "--id", "S-DIR-01"}}.run(t)
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func lastLine(s string) string {
	lines := strings.Split(string(bytes.TrimSpace([]byte(s))), "\n")
	return lines[len(lines)-1]
}
