package main

import (
	"bufio"
	"context"
	"os"
	"sync"

	"github.com/dshconform/dshconform/harness/process"
)

// attachWait gives what is called with each process of the subject: it says which one it is, and waits for Enter, so
// that a debugger can be attached before anything is sent. Where stdin ends nobody can press it, and nothing waits.
func attachWait(out *shown) func(context.Context, *process.Process) error {
	var one sync.Mutex // processes start side by side, and the lines of stdin are for one at a time
	keys := enters()
	return func(ctx context.Context, p *process.Process) error {
		one.Lock()
		defer one.Unlock()
		out.note("process %d is started: press Enter to go on", p.Pid())
		select {
		case <-keys:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enters gives a value for each line of stdin, and is closed when that ends. A read that waits for ever ends with the
// program.
func enters() <-chan struct{} {
	keys := make(chan struct{})
	go func() {
		defer close(keys)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			keys <- struct{}{}
		}
	}()
	return keys
}
