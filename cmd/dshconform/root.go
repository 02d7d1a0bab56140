package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func run(args []string) int {
	code := 0
	root := &cobra.Command{Use: "dshconform", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(refserverCommand(&code), serverCommand(&code))
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(os.Stderr, "dshconform: %v\n", err)
		return 2
	}
	return code
}
