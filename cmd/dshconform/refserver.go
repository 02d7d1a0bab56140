package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/fixtures/refserver"
	"github.com/dshconform/dshconform/suites/requirements"
)

func refserverCommand(code *int) *cobra.Command {
	o := refserver.Options{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	var list bool
	c := &cobra.Command{
		Use:   "refserver",
		Short: "Run the reference server on stdin and stdout",
		Long: `Run the reference server on stdin and stdout. It passes every requirement of its
profile, unless it is told to have a fault. Its model is the endpoint that
DEEPSEEK_BASE_URL and DEEPSEEK_API_KEY name, and is asked only when a turn needs it.`,
		GroupID: "reference",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				return printJSON(c, refserver.Faults())
			}
			*code = refserver.Run(c.Context(), o)
			return nil
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.Profile, "profile", refserver.Directional, "`profile` to speak: directional, accepted or receipt")
	f.StringVar(&o.Fault, "fault", "", "`name` of the fault to have, out of --list-faults")
	f.BoolVar(&list, "list-faults", false, "print the faults as JSON, with the requirements that each breaks")
	f.StringVar(&o.Model, "model", refserver.ModelHTTP, "where the `model` is: http, or in-server for a test model of its own")
	f.StringVar(&o.Dialect, "dialect", "", "`dialect` of the model's endpoint: chat-completions or messages (default: $"+refserver.DialectVariable+", else chat-completions)")
	f.StringVar(&o.Children, "children", "", "how child agents run: foreground or background (default: what is usual in the profile)")
	complete(c, "profile", requirements.Profiles)
	complete(c, "fault", func() (names []string) {
		for _, fault := range refserver.Faults() {
			names = append(names, fault.Name)
		}
		return names
	})
	return c
}

func printJSON(c *cobra.Command, v any) error {
	e := json.NewEncoder(c.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return written(e.Encode(v))
}
