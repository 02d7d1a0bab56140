//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
)

// A run that is stopped while a subject is stuck writes what it knows, takes the subject with it, and says 130; a second
// signal makes it hurry, and spoils nothing.
func TestInterrupt(t *testing.T) {
	for name, signals := range map[string][]syscall.Signal{
		"SIGINT":       {syscall.SIGINT},
		"SIGTERM":      {syscall.SIGTERM},
		"SIGHUP":       {syscall.SIGHUP},
		"SIGINT twice": {syscall.SIGINT, syscall.SIGINT},
		"many":         {syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT, syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			const marker = "stuck-31415929"
			dir, stuck := t.TempDir(), filepath.Join(t.TempDir(), "stuck")
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			c := invocation{args: []string{
				"server", "--timeout-scale", "500", "--report", dir, "--env", stuckVariable + "=" + stuck, "--", os.Args[0], marker,
			}}.command(ctx, t)
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			g.Expect(c.Start()).To(Succeed())
			g.Eventually(func() error { _, err := os.Stat(stuck); return err }, hang, 5*time.Millisecond).Should(Succeed())
			for _, s := range signals {
				if err := c.Process.Signal(s); err != nil {
					g.Expect(err).To(MatchError(os.ErrProcessDone))
				}
			}
			_ = c.Wait() // its exit code is looked at
			g.Expect(ctx.Err()).NotTo(HaveOccurred(), "it did not end")
			g.Expect(c.ProcessState.ExitCode()).To(Equal(130), "%s%s", out.String(), errs.String())
			g.Expect(errs.String()).NotTo(Or(ContainSubstring("goroutine"), ContainSubstring("panic")))

			res := results(t, dir)
			g.Expect(res.Exit).To(Equal(130))
			g.Expect(res.Abort.Kind).To(Equal(reports.AbortInterrupted))
			g.Expect(res.Abort.Reason).To(HavePrefix("interrupted by SIG"))
			g.Expect(res.Summary.Pass).To(BeNumerically(">", 0), "what was known is kept")
			g.Expect(res.Seed).To(Equal(uint64(1)))
			junit, err := os.ReadFile(filepath.Join(dir, reports.JUnitName))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(xml.Unmarshal(junit, new(struct{}))).To(Succeed())
			if len(signals) == 1 {
				g.Expect(lastLine(out.String())).To(HavePrefix("interrupted"))
			}
			left, err := filepath.Glob(filepath.Join(dir, ".*"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(left).To(BeEmpty(), "no half-written file is left")
			nothingLeft(t, marker)
		})
	}
}

// While the first answer is waited for there is nothing to keep but the fact.
func TestInterruptBeforeTheFirstAnswer(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := invocation{args: []string{"server", "--timeout-scale", "500", "--report", dir, "--", "sleep", "31415930"}}.command(ctx, t)
	out, err := c.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Start()).To(Succeed())
	g.Eventually(func() []string { return running(t, "31415930") }, hang, 5*time.Millisecond).ShouldNot(BeEmpty())
	g.Eventually(func() error { _, err := os.Stat(filepath.Join(dir, reports.FileName)); return err }, hang, 5*time.Millisecond).Should(Succeed())
	g.Expect(c.Process.Signal(os.Interrupt)).To(Succeed())
	var last string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
	}
	_ = c.Wait()
	g.Expect(c.ProcessState.ExitCode()).To(Equal(130))
	g.Expect(last).To(HavePrefix("interrupted"))
	g.Expect(results(t, dir).Abort.Kind).To(Equal(reports.AbortInterrupted))
	nothingLeft(t, "31415930")
}

// Results are there also when the program itself is killed, and its subjects go with it.
func TestKilledProgram(t *testing.T) {
	g := NewWithT(t)
	const marker = "stuck-31415931"
	dir, stuck := t.TempDir(), filepath.Join(t.TempDir(), "stuck")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := invocation{args: []string{
		"server", "--timeout-scale", "500", "--report", dir, "--env", stuckVariable + "=" + stuck, "--", os.Args[0], marker,
	}}.command(ctx, t)
	g.Expect(c.Start()).To(Succeed())
	g.Eventually(func() error { _, err := os.Stat(stuck); return err }, hang, 5*time.Millisecond).Should(Succeed())
	g.Expect(c.Process.Kill()).To(Succeed())
	_ = c.Wait()
	res := results(t, dir)
	g.Expect(res.Complete).To(BeFalse())
	g.Expect(res.Exit).To(Equal(1), "half a run is no success")
	g.Expect(res.Summary.Pass).To(BeNumerically(">", 0))
	nothingLeft(t, marker)
}

// A reader of the output that goes away costs neither the results nor the exit code.
func TestReaderThatGoesAway(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	r, w, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := invocation{args: []string{"server", "--verbose", "--label", "DIR", "--report", dir}}.command(ctx, t)
	c.Stdout = w
	g.Expect(c.Start()).To(Succeed())
	g.Expect(errors.Join(w.Close(), r.Close())).To(Succeed())
	g.Expect(c.Wait()).To(Succeed())
	g.Expect(results(t, dir).Complete).To(BeTrue())
}

// Servers leave folders that can't be written, such as a module cache.
func TestScratchThatResists(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may write everywhere: this shows less than it should")
	}
	g := NewWithT(t)
	tmp := t.TempDir()
	r := invocation{env: []string{"TMPDIR=" + tmp}, args: []string{"server", "--id", "S-DIR-01", "--",
		"sh", "-c", "mkdir -p $HOME/mod/a && touch $HOME/mod/a/b && chmod 500 $HOME/mod/a $HOME/mod; exec " + binary + " refserver"}}.run(t)
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	g.Expect(r.out).NotTo(ContainSubstring("scratch"))
	var left []string
	err := filepath.WalkDir(tmp, func(path string, _ fs.DirEntry, err error) error {
		left = append(left, strings.TrimPrefix(path, tmp))
		return err
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(Equal([]string{""}))
}
