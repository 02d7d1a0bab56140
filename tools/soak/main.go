// Command soak looks for verdicts that a busy machine changes. It judges the reference endpoint of a role again and
// again, in all profiles, while the CPUs are given twice what they can do, and tells every run that differed: the
// reference passes everything, so each difference is a false alarm of the suite. `make soak` calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dshconform/dshconform/suites/requirements"
)

func main() {
	program := flag.String("program", "bin/dshconform", "the built program")
	role := flag.String("role", "server", "server or client")
	runs := flag.Int("runs", 200, "how many runs, over all profiles")
	parallel := flag.Int("parallel", runtime.NumCPU(), "runs at a time")
	load := flag.Int("load", runtime.NumCPU(), "busy threads beside them")
	keep := flag.String("keep", "", "directory for the reports of runs that differed (default: a fresh one)")
	flag.Parse()
	if *runs < 1 || *parallel < 1 || *load < 0 || (*role != "server" && *role != "client") || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	differed, done, err := soak(ctx, options{*program, *role, *runs, *parallel, *load, *keep})
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Printf("%d of %d runs done, %d differed\n", done, *runs, differed)
	if differed > 0 || done < *runs {
		os.Exit(1)
	}
}

type options struct {
	program, role        string
	runs, parallel, load int
	keep                 string
}

// soak does the runs and counts those that came to an end and those that differed.
func soak(ctx context.Context, o options) (differed, done int, err error) {
	if o.keep == "" {
		if o.keep, err = os.MkdirTemp("", "dshconform-soak-"); err != nil {
			return 0, 0, fmt.Errorf("make a directory for reports: %w", err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer burn(o.load)()
	profiles := requirements.Profiles()
	next := make(chan int)
	var workers sync.WaitGroup
	var mu sync.Mutex
	first := map[string]outcome{} // by profile
	for range o.parallel {
		workers.Go(func() {
			for i := range next {
				r, err := judge(ctx, o, i, profiles[i%len(profiles)])
				mu.Lock()
				switch {
				case err != nil && ctx.Err() == nil:
					cancel(err)
				case err != nil:
				default:
					done++
					if _, ok := first[r.profile]; !ok {
						first[r.profile] = r
					}
					r.compare(first[r.profile])
					if len(r.differences) > 0 {
						differed++
					}
					fmt.Printf("%4d  %6.1f s  %s\n", i+1, r.seconds, r)
				}
				mu.Unlock()
			}
		})
	}
	for i := range o.runs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return differed, done, cause
	}
	if differed == 0 {
		_ = os.Remove(o.keep) // empty, unless it was somebody's
	}
	return differed, done, nil
}

// burn keeps n threads busy until it is told to stop.
func burn(n int) (stop func()) {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	var over atomic.Bool
	var burning sync.WaitGroup
	for range n {
		burning.Go(func() {
			for !over.Load() { // that is all it is for
			}
		})
	}
	return func() {
		over.Store(true)
		burning.Wait()
	}
}
