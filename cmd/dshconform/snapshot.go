package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/snapshot"
)

func snapshotCommand(code *int) *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Keep what a server writes, and show when it changes",
		Long: `Run a few standard situations on a server and keep what it wrote as text files, one for
each; or run them again and show a diff where the wire has changed. Values that no two
runs share (ids, times, versions, paths) are masked.`,
		GroupID: "judge",
		Args:    noArguments,
		Run:     func(c *cobra.Command, _ []string) { _ = c.Help() }, // nothing to be done about a closed stdout
	}
	c.AddCommand(
		snapshotPart(code, "record", "Write the snapshots of a server to a directory", recordSnapshots),
		snapshotPart(code, "verify", "Compare a server with the snapshots of a directory; exit code 1 where they differ", verifySnapshots),
	)
	return c
}

func snapshotPart(code *int, name, short string, run func(context.Context, *serverFlags, string, []string) (int, error)) *cobra.Command {
	f := &serverFlags{}
	c := &cobra.Command{
		Use:     name + " DIR [flags] [-- COMMAND ARGS…]",
		Short:   short,
		Example: "  dshconform snapshot " + name + " snapshots -- node lib/bin.js cordis.yml",
		RunE: func(c *cobra.Command, args []string) error {
			before := args
			var command []string
			if dash := c.ArgsLenAtDash(); dash >= 0 {
				before, command = args[:dash], args[dash:]
				if len(command) == 0 || command[0] == "" {
					return misuse("there is no command behind --")
				}
			}
			if len(before) != 1 || before[0] == "" {
				return misuse("%s takes one directory, and the server's command behind --", c.CommandPath())
			}
			var err error
			*code, err = run(c.Context(), f, before[0], command)
			return err
		},
	}
	f.set = c.Flags()
	f.set.SortFlags = false
	f.addSubject()
	complete(c, "profile", requirements.Profiles)
	return c
}

// takeSnapshots runs the situations. The exit code counts where the error is nil and there are none.
func takeSnapshots(ctx context.Context, f *serverFlags, command []string) ([]snapshot.Scenario, int, error) {
	cat, err := requirements.Load()
	if err != nil {
		return nil, 0, failed("%w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, 0, failed("finding the executable of dshconform: %w", err)
	}
	subject, err := subjectOf(cat, f, command, program)
	if err != nil {
		return nil, 0, err
	}
	if len(subject.profiles) == 0 {
		return nil, 0, misuse("a snapshot is of one profile: --profile names it")
	}
	scratch, err := os.MkdirTemp("", "dshconform-")
	if err != nil {
		return nil, 0, failed("making a scratch directory: %w", err)
	}
	ctx, stop := onInterrupt(ctx, func(os.Signal) {
		_ = removeTree(scratch)
		os.Exit(reports.ExitInterrupted)
	})
	defer stop()
	got, err := snapshot.Record(ctx, snapshot.Config{
		Target: subject.target, Profile: subject.first(), Program: program, Scratch: scratch, TimeoutScale: f.timeoutScale,
	})
	cleanErr := removeTree(scratch)
	var stopped *interrupted
	var notRun *snapshot.NotRunError
	switch {
	case errors.As(err, &stopped):
		return nil, reports.ExitInterrupted, nil
	case errors.As(err, &notRun):
		return nil, 0, &failure{reports.ExitNotRun, fmt.Errorf("could not run the subject: %s", strings.TrimRight(err.Error(), "\n"))}
	case err != nil:
		return nil, 0, failed("%w", err)
	case cleanErr != nil:
		fmt.Fprintf(os.Stderr, "dshconform: %v\n", cleanErr)
	}
	return got, reports.ExitConforms, nil
}

func recordSnapshots(ctx context.Context, f *serverFlags, dir string, command []string) (int, error) {
	got, code, err := takeSnapshots(ctx, f, command)
	if err != nil || got == nil {
		return code, err
	}
	broken := 0
	for _, s := range got {
		if s.Problem != "" {
			broken++
			fmt.Fprintf(os.Stderr, "dshconform: snapshot %s did not come to its end: %s\n", s.Name, reports.Visible(s.Problem))
		}
	}
	if broken > 0 {
		return 0, failed("nothing was written: %d of %d situations did not come to their end", broken, len(got))
	}
	if err := snapshot.Save(dir, got); err != nil {
		return 0, failed("%w", err)
	}
	_, err = fmt.Printf("recorded %d situations in %s, profile %s\n", len(got), reports.Visible(dir), got[0].Profile)
	return reports.ExitConforms, written(err)
}

func verifySnapshots(ctx context.Context, f *serverFlags, dir string, command []string) (int, error) {
	want, err := snapshot.Load(dir)
	if err != nil {
		return 0, misuse("%w", err)
	}
	if !f.changed("profile") { // they say which they are of
		if err := f.set.Set("profile", string(want[0].Profile)); err != nil {
			return 0, failed("%w", err)
		}
	}
	got, code, err := takeSnapshots(ctx, f, command)
	if err != nil || got == nil {
		return code, err
	}
	differences := snapshot.Compare(want, got)
	if len(differences) == 0 {
		_, err := fmt.Printf("unchanged: %d situations, profile %s\n", len(got), got[0].Profile)
		return reports.ExitConforms, written(err)
	}
	names := make([]string, len(differences))
	for i, d := range differences {
		names[i] = d.Name
		if _, err := fmt.Print(reports.VisibleLines(d.Text)); err != nil {
			return 0, written(err)
		}
	}
	_, err = fmt.Printf("the wire has changed in %d of %d situations: %s\n", len(differences), max(len(want), len(got)), strings.Join(names, ", "))
	return reports.ExitFails, written(err)
}
