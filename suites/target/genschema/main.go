// Genschema publishes the JSON Schema of target files in docs/schemas. It is run by `go generate ./suites/target`.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dshconform/dshconform/suites/target"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: genschema DIR")
		os.Exit(1)
	}
	if err := os.WriteFile(filepath.Join(os.Args[1], target.SchemaName), target.JSONSchema(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "genschema:", err)
		os.Exit(1)
	}
}
