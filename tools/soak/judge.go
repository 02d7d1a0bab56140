package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dshconform/dshconform/reports"
)

// outcome is what one run came to.
type outcome struct {
	profile     string
	seconds     float64
	verdicts    map[string]reports.Verdict
	differences []string // from a run in which everything holds, and from the first run
	report      string   // where its results are, of a run that differed
}

func (o outcome) String() string {
	if len(o.differences) == 0 {
		return o.profile + ": everything holds"
	}
	return fmt.Sprintf("%s: DIFFERS: %s (%s)", o.profile, strings.Join(o.differences, "; "), o.report)
}

// judge does one run. An error means that there is no result to compare.
func judge(ctx context.Context, o options, i int, profile string) (outcome, error) {
	dir := filepath.Join(o.keep, fmt.Sprintf("%s-%d-%s", o.role, i+1, profile))
	args := []string{o.role, "--profile", profile, "--report", dir}
	if o.role == "client" {
		args = append(args, "--driver", reports.ShellQuote(o.program)+" refclient --profile "+profile)
	}
	start := time.Now()
	c := exec.CommandContext(ctx, o.program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it has children to end
	said, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, fmt.Errorf("run %s: %w", o.program, err)
	}
	out := outcome{profile: profile, seconds: time.Since(start).Seconds(), report: dir}
	data, err := os.ReadFile(filepath.Join(dir, reports.FileName))
	if err != nil {
		return out, fmt.Errorf("read the results of a run: %w; it said: %s", err, said)
	}
	r, err := reports.Parse("the results", data)
	if err != nil {
		return out, fmt.Errorf("read the results of a run: %w", err)
	}
	out.read(r)
	return out, nil
}

// read takes out of the results what the reference endpoint never does to a sound suite.
func (o *outcome) read(r *reports.Run) {
	o.verdicts = map[string]reports.Verdict{}
	if r.Exit != reports.ExitConforms {
		o.differences = append(o.differences, fmt.Sprintf("exit %d", r.Exit))
	}
	for _, q := range append(append([]reports.Requirement{}, r.Requirements...), r.Besides...) {
		for _, p := range q.Parts() {
			v := p.Outcome.Verdict
			o.verdicts[p.ID] = v
			if !v.Sound() {
				o.differences = append(o.differences, fmt.Sprintf("%s %s", p.ID, v))
			}
		}
	}
}

// compare notes where a run that looks sound judged something else than the first one: what one run exercises and the
// other does not. The report of a run that is like the first is of no use any more.
func (o *outcome) compare(first outcome) {
	for id, v := range o.verdicts {
		was := first.verdicts[id]
		if v != was && len(o.differences) == 0 {
			o.differences = append(o.differences, fmt.Sprintf("%s %s, and %s in the first run", id, v, cmp.Or(was, "absent")))
		}
	}
	if len(o.differences) == 0 {
		_ = os.RemoveAll(o.report) // what is left over of it does no harm
	}
}
