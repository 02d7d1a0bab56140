package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/cmd/dshconform/internal/supervise"
	"github.com/dshconform/dshconform/docs"
	"github.com/dshconform/dshconform/fixtures/drivers"
	"github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/reports"
)

func driverCommand(code *int) *cobra.Command {
	c := &cobra.Command{
		Use:   "driver",
		Short: "Write and check drivers of SDKs",
		Long: `A driver is a small program that lets the suite use an SDK (docs/driver.md). ` + "`init`" + ` writes
one to start from, ` + "`check`" + ` tests one alone.`,
		GroupID: "read",
		Args:    noArguments,
		Run:     func(c *cobra.Command, _ []string) { _ = c.Help() }, // nothing to be done about a closed stdout
	}
	c.AddCommand(driverCheckCommand(code), driverInitCommand())
	return c
}

// driverCheckFlags are the flags of `dshconform driver check`.
type driverCheckFlags struct {
	processFlags
	json bool
}

func driverCheckCommand(code *int) *cobra.Command {
	f := &driverCheckFlags{}
	c := &cobra.Command{
		Use:   "check [flags] DRIVER",
		Short: "Test a driver alone",
		Long: `Start a driver, use everything that it offers against a healthy runtime in its profile,
and name each wrong reply. DRIVER is one shell-quoted command line.

Exit codes: 0 all is well; 1 something is wrong; 2 wrong use; 3 the driver could not be
started, or did not answer hello.`,
		Example: `  dshconform driver check 'python3 driver.py'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			*code, err = checkDriver(c, f, args[0])
			return err
		},
	}
	s := c.Flags()
	s.SortFlags = false
	f.addTo(s, "driver")
	s.BoolVar(&f.json, "json", false, "print what the driver says of itself and the findings as JSON")
	return c
}

// driverOptions are how a driver is started: in the caller's directory, in an environment that is built up.
func driverOptions(program, scratch, line string, f *processFlags) (client.DriverOptions, error) {
	argv, err := client.ParseDriver(line)
	if err != nil {
		return client.DriverOptions{}, misuse("%w", err)
	}
	o := process.EnvOptions{Home: filepath.Join(scratch, "home"), TempDir: filepath.Join(scratch, "tmp"), Set: f.env, Inherit: f.inherit}
	for _, dir := range []string{o.Home, o.TempDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return client.DriverOptions{}, failed("make a directory for the driver: %w", err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return client.DriverOptions{}, failed("find the working directory: %w", err)
	}
	return client.DriverOptions{
		Command:   process.Command{Argv: argv, Dir: dir, Env: process.Environment(o), Supervisor: []string{program, supervise.Command}},
		Deadlines: deadline.New(f.timeoutScale),
	}, nil
}

// checkDriver checks a driver and prints what it finds as it is found.
func checkDriver(c *cobra.Command, f *driverCheckFlags, line string) (int, error) {
	if err := f.checkProcess(); err != nil {
		return 0, err
	}
	program, err := os.Executable()
	if err != nil {
		return 0, failed("find this program: %w", err)
	}
	scratch, err := os.MkdirTemp("", "dshconform-")
	if err != nil {
		return 0, failed("make a scratch directory: %w", err)
	}
	defer os.RemoveAll(scratch)
	options, err := driverOptions(program, scratch, line, &f.processFlags)
	if err != nil {
		return 0, err
	}
	ctx, stop := onInterrupt(c.Context(), func(os.Signal) { os.Exit(reports.ExitInterrupted) })
	defer stop()
	out := &lineWriter{w: c.OutOrStdout()}
	o := client.CheckOptions{Driver: options, Dir: scratch, Program: program}
	if !f.json {
		o.OnFinding = func(f client.Finding) { out.say("%s", findingLine(f)) }
	}
	hello, findings := client.Check(ctx, o)
	wrong := 0
	for _, f := range findings {
		if f.Problem != "" {
			wrong++
		}
	}
	if f.json {
		err = printFindings(c, hello, findings)
	} else if wrong == 0 {
		out.say("the driver of %s is sound: %d steps, profile %s", reports.Visible(hello.Subject()), len(findings), hello.Profile)
	} else {
		out.say("%d of %d steps went wrong", wrong, len(findings))
	}
	var by *interrupted
	switch {
	case err != nil:
		return 0, err
	case errors.As(context.Cause(ctx), &by):
		return reports.ExitInterrupted, out.err()
	case hello.Protocol == "":
		return reports.ExitNotRun, out.err()
	case wrong > 0:
		return reports.ExitFails, out.err()
	}
	return reports.ExitConforms, out.err()
}

func findingLine(f client.Finding) string {
	switch {
	case f.Skipped != "":
		return "-     " + f.Step + ": " + f.Skipped
	case f.Problem != "":
		return "WRONG " + f.Step + ": " + strings.ReplaceAll(reports.VisibleLines(f.Problem), "\n", "\n      ")
	}
	return "ok    " + f.Step
}

func printFindings(c *cobra.Command, hello client.Hello, findings []client.Finding) error {
	type finding struct {
		Step    string `json:"step"`
		Problem string `json:"problem,omitempty"`
		Skipped string `json:"skipped,omitempty"`
	}
	list := []finding{}
	for _, f := range findings {
		list = append(list, finding{f.Step, f.Problem, f.Skipped})
	}
	return printJSON(c, struct {
		Schema   string        `json:"schema"`
		Driver   *client.Hello `json:"driver"`
		Findings []finding     `json:"findings"`
	}{"dshconform.driver-check/v1", said(hello), list})
}

// said is nil where the driver said nothing of itself.
func said(h client.Hello) *client.Hello {
	if h.Protocol == "" {
		return nil
	}
	return &h
}

func driverInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init " + strings.Join(drivers.Names(), "|") + " DIR",
		Short: "Write a driver to start from",
		Long: `Write a driver to start from into DIR: in Python or TypeScript one that runs, around a tiny
client that stands for your SDK; skeleton is for any other language. The page of the
protocol comes with it. Files that exist are not touched.`,
		Example:   `  dshconform driver init python my-driver`,
		Args:      cobra.ExactArgs(2),
		ValidArgs: drivers.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			return initDriver(args[0], args[1], c.OutOrStdout())
		},
	}
}

func initDriver(name, dir string, stdout io.Writer) error {
	if !slices.Contains(drivers.Names(), name) {
		return misuse("there is no driver %q to start from: there are %s", name, strings.Join(drivers.Names(), ", "))
	}
	template, err := drivers.Files(name)
	if err != nil {
		return failed("%w", err)
	}
	files := map[string][]byte{"driver.md": docs.Driver, "driver.v1.json": client.Schemas()["driver.v1.json"]}
	err = fs.WalkDir(template, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(template, path)
		return err
	})
	if err != nil {
		return failed("read the driver %s: %w", name, err)
	}
	names := make([]string, 0, len(files))
	for path := range files {
		names = append(names, path)
		if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
			return misuse("%s exists already, and is not touched", filepath.Join(dir, path))
		}
	}
	slices.Sort(names)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return misuse("make the directory: %w", err)
	}
	for _, path := range names {
		if err := os.WriteFile(filepath.Join(dir, path), files[path], 0o644); err != nil {
			return misuse("write a driver: %w", err)
		}
	}
	next := "begin with " + filepath.Join(dir, "README.md")
	if command := drivers.Command(name); command != "" {
		next = fmt.Sprintf("try it: cd %s && dshconform driver check %s", reports.ShellQuote(dir), reports.ShellQuote(command))
	}
	_, err = fmt.Fprintf(stdout, "wrote %s to %s; %s\n", strings.Join(names, ", "), dir, next)
	return written(err)
}
