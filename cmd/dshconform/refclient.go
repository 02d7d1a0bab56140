package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/fixtures/refclient"
	"github.com/dshconform/dshconform/suites/requirements"
)

func refclientCommand(code *int) *cobra.Command {
	o := refclient.Options{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	var list bool
	c := &cobra.Command{
		Use:   "refclient",
		Short: "Run the reference client as a driver on stdin and stdout",
		Long: `Run the driver of the reference client on stdin and stdout (docs/driver.md). The client
passes every requirement of its profile, unless it is told to have a fault.`,
		Example: `  dshconform driver check 'dshconform refclient --profile receipt'`,
		GroupID: "reference",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				return printJSON(c, refclient.Faults())
			}
			*code = refclient.Run(c.Context(), o)
			return nil
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.Profile, "profile", refclient.Directional, "`profile` to speak: directional, accepted or receipt")
	f.StringVar(&o.Fault, "fault", "", "`name` of the fault to have, out of --list-faults")
	f.BoolVar(&list, "list-faults", false, "print the faults as JSON, with the requirements that each breaks")
	f.StringVar(&o.Launch, "launch", refclient.LaunchArgv, "which `form` of the runtime to launch: argv or executable")
	complete(c, "profile", requirements.Profiles)
	complete(c, "fault", func() (names []string) {
		for _, fault := range refclient.Faults() {
			names = append(names, fault.Name)
		}
		return names
	})
	return c
}
