// Gendoc writes docs/requirements.md out of the catalogue. It is run by `go generate ./suites/requirements`.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/dshconform/dshconform/suites/requirements"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: gendoc FILE")
	}
	c, err := requirements.Load()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := c.Markdown(&page); err != nil {
		return err
	}
	return os.WriteFile(args[0], page.Bytes(), 0o644)
}
