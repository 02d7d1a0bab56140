//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
)

// running lists the processes whose command line holds one of the markers.
func running(t *testing.T, markers ...string) (found []string) {
	t.Helper()
	for _, line := range commandLines(t) {
		for _, m := range markers {
			if strings.Contains(line, m) {
				found = append(found, line)
			}
		}
	}
	return found
}

// commandLines are those of all processes that are no zombies.
func commandLines(t *testing.T) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		out, err := exec.Command("ps", "-A", "-o", "stat=,command=").Output()
		if err != nil {
			t.Fatalf("listing processes: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, "Z") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for _, f := range files { // a zombie has an empty one
		if data, err := os.ReadFile(f); err == nil && len(data) > 0 {
			lines = append(lines, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return lines
}

// nothingLeft waits until no process of the program and none with a marker is left. What is dying needs a moment.
func nothingLeft(t *testing.T, markers ...string) {
	t.Helper()
	NewWithT(t).Eventually(func() []string { return running(t, append(markers, binary)...) }, time.Minute, 20*time.Millisecond).
		Should(BeEmpty(), "processes that are left")
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Subjects that can't be run are told apart from those that are wrong, in one line that says why, and a report is
// left about them as well.
func TestSubjectThatCannotBeRun(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain-file")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		command []string
		says    []string
	}{
		"not found":             {[]string{"/nonexistent/server"}, []string{"/nonexistent/server", "no such file"}},
		"not found in PATH":     {[]string{"no-such-program-anywhere"}, []string{"no-such-program-anywhere", "PATH"}},
		"not executable":        {[]string{plain}, []string{plain, "not executable"}},
		"a directory":           {[]string{t.TempDir()}, []string{"directory"}},
		"ends at once":          {[]string{"true"}, []string{"true", "exit status 0"}},
		"ends with a reason":    {[]string{"sh", "-c", "echo reason-why >&2; exit 5"}, []string{"exit status 5", "reason-why"}},
		"killed":                {[]string{"sh", "-c", "kill -9 $$"}, []string{"SIGKILL"}},
		"never answers":         {[]string{"sleep", "31415926"}, []string{"sleep", "initialize"}},
		"swallows":              {[]string{"sh", "-c", "cat >/dev/null; sleep 31415926"}, []string{"initialize"}},
		"closes stdout":         {[]string{"sh", "-c", "exec >&-; sleep 31415926"}, []string{"sh"}},
		"closes stdin":          {[]string{"sh", "-c", "exec <&-; sleep 31415926"}, []string{"sh"}},
		"ignores signals":       {[]string{"sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done; : 31415926"}, []string{"initialize"}},
		"hides its stderr":      {[]string{"sh", "-c", `printf '\033[2J\007bell' >&2; exit 1`}, []string{`\x1b[2J\x07bell`}},
		"talks on stderr alone": {[]string{"sh", "-c", "while :; do echo 31415926; done >&2"}, []string{"initialize"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			args := []string{"server", "--report", dir}
			if strings.Contains(strings.Join(tc.command, " "), "31415926") { // it runs on, and only a deadline ends it
				args = append(args, "--timeout-scale", "0.1")
			}
			r := dshconform(t, append(append(args, "--"), tc.command...)...)
			g.Expect(r.code).To(Equal(3), "%s%s", r.out, r.err)
			g.Expect(r.err).To(HavePrefix("dshconform: could not run the subject: "))
			g.Expect(firstLine(r.err)).NotTo(BeEmpty())
			for _, s := range tc.says {
				g.Expect(r.err).To(ContainSubstring(s))
			}
			res := results(t, dir)
			g.Expect(res.Exit).To(Equal(3))
			g.Expect(res.Abort.Kind).To(Equal(reports.AbortNotRun))
			g.Expect(res.Subject.Argv[0]).To(HaveSuffix(tc.command[0]))
			g.Expect(filepath.Join(dir, reports.JUnitName)).To(BeARegularFile())
			nothingLeft(t, "31415926")
		})
	}
}

// Subjects that speak, but not the protocol: they come to an end, in bounded memory, and nothing is left of them.
func TestSubjectThatSpeaksNonsense(t *testing.T) {
	for name, command := range map[string][]string{
		"an echo":              {"cat"},
		"a flood of text":      {"yes"},
		"a flood of NUL":       {"cat", "/dev/zero"},
		"a flood with a child": {"sh", "-c", "sleep 31415927 & exec yes"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			r := dshconform(t, append([]string{"server", "--timeout-scale", "0.1", "--report", dir, "--"}, command...)...)
			g.Expect(r.code).To(BeElementOf(1, 3), "%s%s", r.out, r.err)
			g.Expect(results(t, dir).Exit).To(Equal(r.code))
			nothingLeft(t, "31415927")
		})
	}
}

func TestBannerOnStdout(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	r := dshconform(t, "server", "--label", "DIR || FRM || IDS", "--report", dir, "--", "sh", "-c", "echo hello; exec "+binary+" refserver")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	passed := 0
	for id, v := range verdicts(results(t, dir)) {
		switch {
		case id == "S-FRM-01":
			g.Expect(v).To(Equal(reports.Fail))
		case v == reports.Pass:
			passed++
		default:
			g.Expect(v).To(BeElementOf(reports.Observed, reports.NotApplicable), id)
		}
	}
	g.Expect(passed).To(BeNumerically(">=", 30), "the rest is still judged")
	nothingLeft(t)
}

// A child that left group and session is found, blamed and ended.
func TestChildThatIsLeft(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid here")
	}
	g := NewWithT(t)
	dir := t.TempDir()
	r := dshconform(t, "server", "--id", "S-PRC-01", "--report", dir, "--", "sh", "-c", "setsid sleep 31415928 & exec "+binary+" refserver")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(verdicts(results(t, dir))).To(HaveKeyWithValue("S-PRC-01", reports.Fail))
	nothingLeft(t, "31415928")
}

func TestSecretsOfTheCallerStay(t *testing.T) {
	g := NewWithT(t)
	seen := filepath.Join(t.TempDir(), "env.txt")
	r := invocation{
		env: []string{"AWS_SECRET_ACCESS_KEY=s3cr3t-9f", "DEEPSEEK_API_KEY=real-key-9f", "GITHUB_TOKEN=t0ken-9f", "WANTED=wanted-9f", "HOME=/home/of-the-caller-9f"},
		args: []string{"server", "--id", "S-DIR-01", "--inherit-env", "WANTED", "--env", "SET=set-9f", "--",
			"sh", "-c", "env >" + seen + "; exec " + binary + " refserver"},
	}.run(t)
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	env, err := os.ReadFile(seen)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(env)).To(And(ContainSubstring("WANTED=wanted-9f"), ContainSubstring("SET=set-9f")))
	for _, secret := range []string{"s3cr3t-9f", "real-key-9f", "t0ken-9f", "of-the-caller-9f"} {
		g.Expect(string(env)).NotTo(ContainSubstring(secret))
	}
}

// The value of a variable that looks like a secret does not get into a report by way of the command that repeats it.
func TestSecretsOnTheCommandLineStay(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	r := dshconform(t, "server", "--verbose", "--id", "S-FRM-01", "--report", dir, "--env", "MY_TOKEN=s3cr3t-8e", "--", "sh", "-c", "echo hello; exec "+binary+" refserver")
	g.Expect(r.code).To(Equal(1))
	g.Expect(r.out).To(And(ContainSubstring(`--env MY_TOKEN="$MY_TOKEN"`), Not(ContainSubstring("s3cr3t-8e"))))
	data, err := os.ReadFile(filepath.Join(dir, reports.FileName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).NotTo(ContainSubstring("s3cr3t-8e"))
}

func TestRelativeCommand(t *testing.T) {
	g := NewWithT(t)
	serve := script(t, "[ \"$(pwd)\" = \"$WANT\" ] || exit 9\nexec "+binary+" refserver\n")
	dir, err := filepath.EvalSymlinks(filepath.Dir(serve))
	g.Expect(err).NotTo(HaveOccurred())
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())

	r := invocation{dir: dir, args: []string{"server", "--id", "S-DIR-01", "--env", "WANT=" + dir, "--", "./serve.sh"}}.run(t)
	g.Expect(r.code).To(Equal(0), "it starts in the caller's directory: %s%s", r.out, r.err)
	r = invocation{dir: dir, args: []string{"server", "--id", "S-DIR-01", "--process-cwd", elsewhere, "--env", "WANT=" + elsewhere, "--", "./serve.sh"}}.run(t)
	g.Expect(r.code).To(Equal(0), "the command stays the caller's, wherever the process is put: %s%s", r.out, r.err)
}

// The command that a failure shows repeats it, through a shell.
func TestRepeatCommandRepeats(t *testing.T) {
	g := NewWithT(t)
	dir, odd := t.TempDir(), "it's $HOME \"&\" \\ ;"
	r := dshconform(t, "server", "--id", "S-FRM-01", "--report", dir, "--env", "ODD="+odd, "--seed", "5", "--", "sh", "-c", `printf '%s\n' "$ODD"; exec "$0" refserver`, binary)
	g.Expect(r.code).To(Equal(1))
	q := results(t, dir).Requirements[0]
	g.Expect(q.Frames).NotTo(BeEmpty())
	g.Expect(strings.TrimSpace(string(q.Frames[0].Data()))).To(Equal(odd))

	again := filepath.Join(t.TempDir(), "again")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "sh", "-c", strings.Replace(q.Repeat, " server ", " server --report "+again+" ", 1)).CombinedOutput()
	res := results(t, again)
	g.Expect(res.Seed).To(Equal(uint64(5)))
	g.Expect(verdicts(res)).To(Equal(map[string]reports.Verdict{"S-FRM-01": reports.Fail}), "%s", out)
	g.Expect(strings.TrimSpace(string(res.Requirements[0].Frames[0].Data()))).To(Equal(odd))
}

func TestNoColour(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("there is no script(1) here to make a terminal with")
	}
	g := NewWithT(t)
	onTerminal := func(env, flags string) string {
		ctx, cancel := context.WithTimeout(t.Context(), hang)
		defer cancel()
		line := fmt.Sprintf("stty rows 30 cols 100; env -u NO_COLOR %s TERM=xterm-256color %s server --id S-DIR-01 %s", env, binary, flags)
		c := exec.CommandContext(ctx, "script", "-qec", line, "/dev/null")
		c.Dir = t.TempDir()
		out, err := c.Output()
		g.Expect(err).NotTo(HaveOccurred(), "%s", out)
		return string(out)
	}
	const colour = "\x1b[3"
	g.Expect(onTerminal("", "")).To(ContainSubstring(colour))
	g.Expect(onTerminal("NO_COLOR=1", "")).NotTo(ContainSubstring(colour))
	g.Expect(onTerminal("", "--no-color")).NotTo(ContainSubstring(colour))
}
