// Command bench prints how fast the suite is: requirements a second on the reference server in each profile, and the
// wall time on each real server that is installed, as a multiple of its own start-up time. `make bench` calls it.
// It judges no time: what is slow on one machine is fast on another.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

func main() {
	program := flag.String("program", "bin/dshconform", "the built program")
	targets := flag.String("targets", "fixtures/targets/*.yaml", "target files of real servers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *program, *targets); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, program, targets string) error {
	for _, profile := range requirements.Profiles() {
		m, err := measure(ctx, program, "--profile", profile)
		if err != nil {
			return err
		}
		fmt.Printf("reference server, %-12s %4d requirements in %6.2f s: %6.1f requirements/s (start-up %.0f ms)\n",
			profile+":", m.exercised, m.wall.Seconds(), float64(m.exercised)/m.wall.Seconds(), 1000*m.startup)
	}
	files, err := filepath.Glob(targets)
	if err != nil {
		return fmt.Errorf("--targets: %w", err)
	}
	measured := 0
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		m, err := measure(ctx, program, "--target", f)
		var notRun *notRunError
		if errors.As(err, &notRun) {
			fmt.Printf("%s: not run: %s\n", name, notRun.reason)
			continue
		}
		if err != nil {
			return err
		}
		measured++
		rest := m.wall.Seconds() - m.broken
		fmt.Printf("%s: %4d requirements in %6.2f s, %.2f s of them in rows that fail: %.1f times its start-up of %.2f s without these\n",
			name, m.exercised, m.wall.Seconds(), m.broken, rest/m.startup, m.startup)
	}
	if measured == 0 {
		fmt.Println("no real server is installed: `make real` installs three")
	}
	return nil
}

// measurement is what one run took.
type measurement struct {
	wall      time.Duration // of the whole program
	exercised int
	startup   float64 // seconds, of the subject
	broken    float64 // seconds spent in rows that fail: they wait for what never comes
}

type notRunError struct{ reason string }

func (e *notRunError) Error() string { return e.reason }

func measure(ctx context.Context, program string, args ...string) (measurement, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, program, append([]string{"server", "--json"}, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	start := time.Now()
	err := c.Run()
	m := measurement{wall: time.Since(start)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return m, fmt.Errorf("running %s: %w", program, err)
	}
	r, err := reports.Parse("the results of "+strings.Join(args, " "), out.Bytes())
	if err != nil {
		return m, fmt.Errorf("%w; it said: %s", err, errs.String())
	}
	if r.Abort != nil {
		return m, &notRunError{r.Abort.Reason}
	}
	if r.Diagnosis != nil {
		m.startup = r.Diagnosis.StartupSeconds
	}
	for _, q := range r.Requirements {
		if !q.Verdict.Sound() {
			m.broken += q.Seconds
		}
		if q.Verdict != reports.NotApplicable {
			m.exercised++
		}
	}
	return m, nil
}
