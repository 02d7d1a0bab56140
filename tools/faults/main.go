// Command faults runs the suite over every fault of the reference endpoints and
// prints what each one broke. It exits 1 unless every fault fails exactly the
// requirements that it breaks. `make faults` calls it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/dshconform/dshconform/suites/matrix"
)

var scales = map[string]string{"server": "1", "client": "0.5"}

func main() {
	program := flag.String("program", "bin/dshconform", "the built program")
	role := flag.String("role", "", "server or client (default: both)")
	only := flag.String("only", "", "run the faults whose name or ids, broken or shown, contain this")
	variations := flag.Bool("variations", false, "run those alone that break nothing, and show an outcome of an OBSERVE row")
	one := flag.Bool("one-profile", false, "run each fault in one of its profiles")
	scale := flag.String("timeout-scale", "", "scale of the deadlines (default: 1 for servers, 0.5 for clients, which hang more often)")
	parallel := flag.Int("parallel", runtime.NumCPU(), "runs at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	roles := []string{"server", "client"}
	if *role != "" {
		roles = []string{*role}
	}
	var runs []matrix.Run
	for _, role := range roles {
		ended, err := matrix.All(ctx, matrix.Options{
			Program: *program, Role: role, Every: !*one, Parallel: *parallel, Args: []string{"--timeout-scale", cmp.Or(*scale, scales[role])},
			Only: func(f matrix.Fault) bool {
				ids := strings.Join(append(append([]string{}, f.Breaks...), f.Shows...), " ")
				return (!*variations || len(f.Breaks) == 0) && (strings.Contains(f.Name, *only) || strings.Contains(ids, *only))
			},
			Done: func(r matrix.Run) { fmt.Printf("%6.1f s  %s\n", r.Seconds, r) },
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "faults:", err)
			os.Exit(1)
		}
		runs = append(runs, ended...)
	}
	wrong, caught := 0, map[string]bool{}
	for _, r := range runs {
		if !r.Exact() {
			wrong++
			fmt.Println("WRONG ", r)
		}
		caught[r.Fault.Name+" "+r.Fault.Sentence] = true // both roles may use a name
	}
	fmt.Printf("%d faults in %d runs, %d wrong\n", len(caught), len(runs), wrong)
	if wrong > 0 || len(runs) == 0 {
		os.Exit(1)
	}
}
