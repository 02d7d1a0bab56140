//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
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
