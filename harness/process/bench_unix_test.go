//go:build linux || darwin

package process_test

import (
	"context"
	"os/exec"
	"testing"

	"github.com/dshconform/dshconform/harness/process"
)

// BenchmarkStart compares starting, awaiting and closing a trivial subject with what plain os/exec takes for the
// same program in the same run.
func BenchmarkStart(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip("there is no program named true")
	}
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(path).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("supervised", func(b *testing.B) {
		c := command(b, path)
		for b.Loop() {
			p, err := process.Start(context.Background(), c)
			if err != nil {
				b.Fatal(err)
			}
			<-p.Exited()
			if _, err := p.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("supervised-and-killed", func(b *testing.B) {
		c := command(b, "cat")
		for b.Loop() {
			p, err := process.Start(context.Background(), c)
			if err != nil {
				b.Fatal(err)
			}
			if left, err := p.Close(); err != nil || len(left) != 1 {
				b.Fatal(left, err)
			}
		}
	})
}
