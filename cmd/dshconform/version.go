package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/suites/requirements"
)

// version is the module's version as the Go command recorded it: a release for `go install …@VERSION`, one derived
// from the commit for a build in a clone, "devel" where there is neither.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program and of its catalogue",
		GroupID: "read",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cat, err := requirements.Load()
			if err != nil {
				return failed("%w", err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "dshconform %s, catalogue %s, %s, %s\n", version(), cat.Revision(), runtime.Version(), platform())
			return written(err)
		},
	}
}

// written is the error of a write to stdout.
func written(err error) error {
	if err == nil {
		return nil
	}
	return failed("writing to stdout: %w", err)
}
