package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/suites/requirements"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID…",
		Short: "Explain a requirement: its source, how it is tested, what usually breaks it",
		Example: `  dshconform explain S-OVL-02
  dshconform explain S-FRM-13/nul`,
		GroupID: "read",
		RunE: func(c *cobra.Command, ids []string) error {
			if len(ids) == 0 {
				return misuse("explain what? Give an id, such as S-OVL-02 (`dshconform list` prints all)")
			}
			cat, err := requirements.Load()
			if err != nil {
				return failed("%w", err)
			}
			faults := faultsByID()
			var b bytes.Buffer
			for i, id := range ids {
				if i > 0 {
					b.WriteByte('\n')
				}
				if err := cat.Explain(&b, id); err != nil {
					return misuse("%w", err)
				}
				if names := faults[id]; len(names) > 0 {
					row, _, _ := cat.Find(id)
					fmt.Fprintf(&b, "Shown by: dshconform ref%s --fault %s\n", row.Role, strings.Join(names, " | "))
				}
			}
			_, err = c.OutOrStdout().Write(b.Bytes())
			return written(err)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return allIDs(""), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// allIDs are the ids of a role for completion: rows, and behind each its variants.
func allIDs(role requirements.Role) (ids []string) {
	cat, err := requirements.Load()
	if err != nil {
		return nil
	}
	for _, r := range cat.Rows(role) {
		ids = append(ids, cobra.CompletionWithDesc(r.ID, r.Sentence))
		for _, v := range r.Variants {
			ids = append(ids, cobra.CompletionWithDesc(requirements.JoinID(r.ID, v.Name), v.Sentence))
		}
	}
	return ids
}
