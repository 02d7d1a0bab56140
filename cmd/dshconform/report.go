package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/reports"
)

// formats are what `report` renders.
var formats = []string{"text"}

func reportCommand() *cobra.Command {
	var format string
	var noColor bool
	c := &cobra.Command{
		Use:   "report RESULTS…",
		Short: "Render results: one run as a list, several side by side",
		Long: `Render the results of one or more runs. RESULTS is a results.json, or the folder of a
report that holds one. Several runs become a table: requirements down, runs across,
rows in which they differ marked.`,
		Example: `  dshconform report --format text out/0.1.5 out/0.2.1`,
		GroupID: "read",
		RunE: func(c *cobra.Command, files []string) error {
			if !slices.Contains(formats, format) {
				return misuse("there is no format %q: there is %s", format, strings.Join(formats, ", "))
			}
			if len(files) == 0 {
				return misuse("report on what? Give one or more results.json")
			}
			var runs []*reports.Run
			for i, f := range files {
				if info, err := os.Stat(f); err == nil && info.IsDir() {
					files[i] = filepath.Join(f, reports.FileName)
				}
				r, err := reports.Read(files[i])
				if err != nil {
					return misuse("%w", err)
				}
				runs = append(runs, r)
			}
			return written(reports.Text(os.Stdout, reports.Columns(files, runs), reports.Color(os.Stdout, noColor)))
		},
	}
	c.Flags().StringVar(&format, "format", "text", "`format` of the output: "+strings.Join(formats, ", "))
	c.Flags().BoolVar(&noColor, "no-color", false, "no colours, also on a terminal")
	complete(c, "format", func() []string { return formats })
	return c
}
