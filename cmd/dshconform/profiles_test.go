package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

func TestAutoFindsTheProfile(t *testing.T) {
	for _, profile := range requirements.Profiles() {
		t.Run(profile, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "out")
			r := dshconform(t, "server", "--profile", "auto", "--id", "S-DIR-02", "--report", dir, "--", binary, "refserver", "--profile", profile)
			g.Expect(r.code).To(BeZero(), "%s%s", r.out, r.err)
			g.Expect(firstLine(r.out)).To(ContainSubstring("profile " + profile))
			g.Expect(r.out).To(ContainSubstring("found by itself: the first prompt was answered with {"))
			res := results(t, dir)
			g.Expect(res.Profile).To(Equal(profile))
			g.Expect(res.ProfileNote).To(HavePrefix("found by itself: "))
		})
	}
}

// What has the form of two profiles is told by when it comes, and whoever named the other one hears of it.
func TestProfileOfAHybrid(t *testing.T) {
	g := NewWithT(t)
	judge := func(args ...string) ran {
		return dshconform(t, append(append([]string{"server", "--label", "TRN"}, args...), "--env", hybridVariable+"=1", "--", os.Args[0])...)
	}
	r := judge("--profile", "auto")
	g.Expect(r.code).To(BeZero(), "%s%s", r.out, r.err)
	g.Expect(firstLine(r.out)).To(ContainSubstring("profile receipt"))
	g.Expect(r.out).To(MatchRegexp(`found by itself: .*, before its turn was over`))
	g.Expect(r.out).To(ContainSubstring("beyond the protocol: session/prompt result.status"))
	r = judge()
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(And(ContainSubstring("in the form of the receipt profile, not of directional"), ContainSubstring("run instead: "+binary+" server --profile receipt")))
}

func TestAutoThatCannotTell(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no server": {[]string{"--", "sh", "-c", "echo why >&2; exit 3"}, reports.ExitNotRun, "why"},
		"no model":  {[]string{"--target", "none.yaml"}, reports.ExitUsage, "the target has no model"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			text := fmt.Sprintf("schema: dshconform.target/v1\ncommand: [%q, refserver]\nmodel-endpoint: none\n", binary)
			g.Expect(os.WriteFile(filepath.Join(dir, "none.yaml"), []byte(text), 0o600)).To(Succeed())
			r := invocation{dir: dir, args: append([]string{"server", "--profile", "auto", "--id", "S-DIR-02"}, tc.args...)}.run(t)
			g.Expect(r.code).To(Equal(tc.code), "%s%s", r.out, r.err)
			g.Expect(r.err).To(ContainSubstring(tc.says))
		})
	}
}

// twoProfiles is a target that breaks a requirement in the second of its profiles.
func twoProfiles(t *testing.T, dir string) {
	t.Helper()
	text := fmt.Sprintf(`schema: dshconform.target/v1
command: [%q, refserver]
profiles:
  - {name: accepted, args: [--profile, accepted]}
  - {name: receipt, args: [--profile, receipt, --fault, asks-for-capabilities]}
`, binary)
	if err := os.WriteFile(filepath.Join(dir, target.DefaultFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEachProfileOfATargetIsJudged(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	twoProfiles(t, dir)
	judge := func(args ...string) ran {
		return invocation{dir: dir, args: append([]string{"server", "--report", "out"}, args...)}.run(t)
	}
	g.Expect(os.MkdirAll(filepath.Join(dir, "out"), 0o755)).To(Succeed())
	old := filepath.Join(dir, "out", reports.FileName)
	g.Expect(os.WriteFile(old, []byte("{}"), 0o600)).To(Succeed())

	g.Expect(judge("--id", "S-DIR-02,S-OVL-09").code).To(Equal(1), "S-DIR-01 is violated besides")
	g.Expect(results(t, filepath.Join(dir, "out", "accepted")).Requirements).To(HaveLen(1), "an id that binds one of the profiles alone")
	g.Expect(results(t, filepath.Join(dir, "out", "receipt")).Requirements).To(HaveLen(2))
	g.Expect(judge("--id", "S-TRN-01").code).To(Equal(2), "one that binds none of them")
	r := judge("--id", "S-DIR-01,S-DIR-02")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(old).NotTo(BeAnExistingFile(), "results of an earlier run are not left beside those of this one")
	accepted, receipt := results(t, filepath.Join(dir, "out", "accepted")), results(t, filepath.Join(dir, "out", "receipt"))
	g.Expect(accepted.Exit).To(BeZero())
	g.Expect(receipt.Exit).To(Equal(1))
	g.Expect(receipt.Requirements[0].Repeat).To(ContainSubstring("--profile receipt"), "what repeats it names the profile")

	r = judge("--profile", "accepted", "--id", "S-DIR-01")
	g.Expect(r.code).To(BeZero(), "one of them can be asked for")
	g.Expect(results(t, filepath.Join(dir, "out")).Profile).To(Equal("accepted"))
	g.Expect(filepath.Join(dir, "out", "receipt", reports.FileName)).NotTo(BeAnExistingFile())
}

func TestUpdateBaselineWritesWhatIsMissing(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	twoProfiles(t, dir)
	judge := func(args ...string) ran {
		return invocation{dir: dir, args: append([]string{"server", "--id", "S-DIR-01,S-DIR-02"}, args...)}.run(t)
	}
	r := judge("--update-baseline", "--baseline", "b.yaml")
	g.Expect(r.code).To(Equal(1), "the failure is still one: %s%s", r.out, r.err)
	g.Expect(r.out).To(ContainSubstring("wrote b.yaml"))
	file := filepath.Join(dir, "b.yaml")
	data, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).To(And(ContainSubstring("id: S-DIR-01"), ContainSubstring("profiles: [receipt]"), ContainSubstring(`reason: ""`)))
	g.Expect(judge("--baseline", "b.yaml").code).To(Equal(2), "a reason that nobody has filled in excuses nothing")

	filled := strings.ReplaceAll(string(data), `reason: ""`, "reason: it asks")
	g.Expect(os.WriteFile(file, []byte(filled+"  - {id: S-FRM-02, reason: stale}\n"), 0o600)).To(Succeed())
	r = invocation{dir: dir, args: []string{"server", "--id", "S-DIR-01,S-FRM-02", "--baseline", "b.yaml", "--update-baseline"}}.run(t)
	g.Expect(r.code).To(Equal(1), "stale: %s%s", r.out, r.err)
	data, err = os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).To(ContainSubstring(`reason: "it asks"`))
	g.Expect(string(data)).NotTo(ContainSubstring("S-FRM-02"), "what holds now is taken out")
	g.Expect(judge("--baseline", "b.yaml").code).To(BeZero())
}

func TestSessionsWithADebugger(t *testing.T) {
	g := NewWithT(t)
	r := invocation{in: "\n\n\n", args: []string{"server", "--attach-wait", "--no-deadlines", "--keep", "--id", "S-DIR-02"}}.run(t)
	g.Expect(r.code).To(BeZero(), "%s%s", r.out, r.err)
	g.Expect(r.out).To(MatchRegexp(`note: process \d+ is started: press Enter to go on`))
	kept := regexp.MustCompile(`the scratch tree is kept: (\S+)`).FindStringSubmatch(r.out)
	g.Expect(kept).NotTo(BeNil(), r.out)
	g.Expect(kept[1]).To(BeADirectory())
	g.Expect(os.RemoveAll(kept[1])).To(Succeed())
}

func TestTheModelEndpointCanBeElsewhere(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "server", "--model-listen", "0.0.0.0:0", "--model-host", "localhost", "--id", "S-ENC-01")
	g.Expect(r.code).To(BeZero(), "%s%s", r.out, r.err)
	for flag, value := range map[string]string{"--model-listen": "localhost", "--model-host": "http://x"} {
		r = dshconform(t, "server", flag, value)
		g.Expect(r.code).To(Equal(2), flag)
		g.Expect(r.err).To(ContainSubstring(flag))
	}
}
