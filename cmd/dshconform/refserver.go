package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/fixtures/refserver"
)

func refserverCommand(code *int) *cobra.Command {
	o := refserver.Options{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	var list bool
	c := &cobra.Command{
		Use: "refserver", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				e := json.NewEncoder(os.Stdout)
				e.SetIndent("", "  ")
				return e.Encode(refserver.Faults())
			}
			*code = refserver.Run(c.Context(), o)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.Profile, "profile", "directional", "")
	f.StringVar(&o.Fault, "fault", "", "")
	f.StringVar(&o.Model, "model", "", "")
	f.StringVar(&o.Children, "children", "", "")
	f.StringVar(&o.Dialect, "dialect", "", "")
	f.BoolVar(&list, "list-faults", false, "")
	return c
}
