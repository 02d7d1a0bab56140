//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
)

// A run that is stopped while an SDK hangs writes what it knows, and takes the driver and the runtimes with it.
func TestInterruptOfClient(t *testing.T) {
	g := NewWithT(t)
	dir, stuck := t.TempDir(), filepath.Join(t.TempDir(), "stuck")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	const marker = "stuck-27182818"
	c := invocation{args: []string{
		"client", "--timeout-scale", "500", "--report", dir, "--label", "FRM", "--env", troubleVariable + "=10:hangs:" + stuck,
		"--driver", reports.ShellQuote(os.Args[0]) + " " + marker,
	}}.command(ctx, t)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	g.Expect(c.Start()).To(Succeed())
	g.Eventually(func() error { _, err := os.Stat(stuck); return err }, hang, 5*time.Millisecond).Should(Succeed())
	g.Expect(c.Process.Signal(syscall.SIGINT)).To(Succeed())
	_ = c.Wait() // its exit code is looked at
	g.Expect(ctx.Err()).NotTo(HaveOccurred(), "it did not end")
	g.Expect(c.ProcessState.ExitCode()).To(Equal(130), "%s%s", out.String(), errs.String())
	g.Expect(lastLine(out.String())).To(HavePrefix("interrupted"))
	res := results(t, dir)
	g.Expect(res.Abort.Kind).To(Equal(reports.AbortInterrupted))
	g.Expect(verdicts(res)).To(HaveKeyWithValue("C-FRM-01/blank", reports.Pass), "what was known is kept")
	nothingLeft(t, marker)
}

// Programs that are no driver are told apart from SDKs that are wrong, by their own words.
func TestDriverThatCannotBeRun(t *testing.T) {
	for command, says := range map[string]string{
		"/nonexistent/driver": "/nonexistent/driver", "true": "it ended (exit status 0)", "sleep 65432109": "does not answer", "cat": "echoes its commands",
		"sh -c 'echo no module named sdk >&2; exit 3'": "no module named sdk",
	} {
		t.Run(command, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			args := []string{"client", "--report", dir, "--driver", command}
			if strings.HasPrefix(command, "sleep") { // only a deadline ends it
				args = append(args, "--timeout-scale", "0.2")
			}
			r := dshconform(t, args...)
			g.Expect(r.code).To(Equal(3), r.out+r.err)
			g.Expect(r.err).To(ContainSubstring(says))
			res := results(t, dir)
			g.Expect(res.Abort.Kind).To(Equal(reports.AbortNotRun))
			g.Expect(res.Exit).To(Equal(3))
			nothingLeft(t, "65432109")
		})
	}
}

// A driver that does not live through a sound prompt, or answers nothing behind it, is no window to an SDK.
func TestDriverThatPromptsOnce(t *testing.T) {
	for trouble, says := range map[string]string{"1:dies": "the driver's last words", "1:hangs": "the driver answers nothing any more"} {
		t.Run(trouble, func(t *testing.T) {
			g := NewWithT(t)
			r := dshconform(t, "client", "--timeout-scale", "0.3", "--id", "C-DIR-03", "--env", troubleVariable+"="+trouble,
				"--driver", reports.ShellQuote(os.Args[0]))
			g.Expect(r.code).To(Equal(3), r.out+r.err)
			g.Expect(r.err).To(ContainSubstring(says))
			nothingLeft(t)
		})
	}
}

// A driver that goes wrong in the middle ends the run; an SDK that hangs or takes its process along does not.
func TestTroubleInTheMiddle(t *testing.T) {
	ids := []string{"C-DIR-03", "C-DIR-04", "C-IDS-02/id-null"} // two prompts each
	judge := func(t *testing.T, trouble string) (ran, *reports.Run) {
		dir := t.TempDir()
		r := dshconform(t, "client", "--timeout-scale", "0.5", "--report", dir, "--id", strings.Join(ids, ","),
			"--env", troubleVariable+"="+trouble, "--driver", reports.ShellQuote(os.Args[0]))
		nothingLeft(t)
		return r, results(t, dir)
	}
	for trouble, says := range map[string]string{"5:dies": "the driver's last words", "5:hangs": "within "} {
		t.Run(trouble, func(t *testing.T) {
			g := NewWithT(t)
			r, res := judge(t, trouble)
			g.Expect(r.code).To(Equal(1), r.out+r.err)
			g.Expect(verdicts(res)).To(Equal(map[string]reports.Verdict{ids[0]: reports.Pass, ids[1]: reports.Fail, ids[2]: reports.Pass}))
			g.Expect(res.Requirements[1].Actual).To(ContainSubstring(says))
		})
	}
	for trouble, says := range map[string]string{"5:echoes": "echoes its commands", "5:junk": "Loading the model…", "5:refuses": "no module named sdk"} {
		t.Run(trouble, func(t *testing.T) {
			g := NewWithT(t)
			r, res := judge(t, trouble)
			g.Expect(r.code).To(Equal(3), r.out+r.err)
			g.Expect(r.err).To(And(ContainSubstring("the driver is at fault"), ContainSubstring(says)))
			g.Expect(verdicts(res)[ids[0]]).To(Equal(reports.Pass), "what was known is kept")
		})
	}
}

// Nothing of an SDK and its runtimes is left when the suite has judged it.
func TestNothingIsLeftOfAClient(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "client", "--label", "CLS || END", "--timeout-scale", "0.5", "--driver", refclientLine("--fault", "no-sigterm"))
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	nothingLeft(t)
}
