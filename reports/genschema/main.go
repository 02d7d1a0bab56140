// Genschema publishes the embedded JSON Schemas in docs/schemas. It is run by `go generate ./reports`.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dshconform/dshconform/reports"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: genschema DIR")
		os.Exit(1)
	}
	for name, data := range reports.Schemas() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), data, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "genschema:", err)
			os.Exit(1)
		}
	}
}
