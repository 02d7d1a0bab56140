package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/server"
	"github.com/dshconform/dshconform/suites/target"
)

func serverCommand(code *int) *cobra.Command {
	var profile string
	var ids []string
	var report string
	c := &cobra.Command{
		Use: "server",
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			cat, err := requirements.Load()
			if err != nil {
				return err
			}
			t := target.Default()
			t.Command = args
			if len(args) == 0 {
				t.Command = []string{exe, "refserver", "--profile", profile}
			}
			scratch, err := os.MkdirTemp("", "dshconform-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(scratch)
			cfg := server.Config{Target: t, Profile: protocol.Profile(profile), Program: exe, Catalogue: cat, Seed: 1, Scratch: scratch,
				Progress: plain{},
				Log:      func(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) },
			}
			if report != "" {
				cfg.Transcripts = report + "/transcripts"
				_ = os.MkdirAll(cfg.Transcripts, 0o755)
			}
			if len(ids) > 0 {
				cfg.Select = func(row requirements.Row, variant string) bool {
					return slices.Contains(ids, row.ID) || slices.Contains(ids, requirements.JoinID(row.ID, variant))
				}
			}
			r, err := server.Run(ctx, cfg)
			if r != nil {
				for _, list := range [][]reports.Requirement{r.Requirements, r.Besides} {
					for i := range list {
						for _, p := range list[i].Parts() {
							show(p.ID, *p.Outcome)
						}
					}
				}
				reports.Judge(r)
				fmt.Println(r.ProfileNote)
				fmt.Println(r.Closing)
				*code = r.Exit
			}
			var nr *server.NotRunError
			if errors.As(err, &nr) {
				fmt.Fprintln(os.Stderr, nr)
				*code = 3
				return nil
			}
			return err
		},
	}
	c.Flags().StringVar(&profile, "profile", "directional", "")
	c.Flags().StringSliceVar(&ids, "id", nil, "")
	c.Flags().StringVar(&report, "report", "", "")
	return c
}

type plain struct{}

func (plain) Started(id string, done, of int) {}
func (plain) Ended(id string, o reports.Outcome) {
	fmt.Printf("%-30s %-15s %.3fs\n", id, o.Verdict, o.Seconds)
}

func show(id string, o reports.Outcome) {
	if o.Verdict == reports.Pass || o.Verdict == reports.Observed || o.Verdict == reports.NotApplicable {
		return
	}
	fmt.Printf("%s %s %s\n  expected: %s\n  actual: %s\n", id, o.Verdict, o.Reason, o.Expected, o.Actual)
	for _, f := range o.Frames {
		d := string(f.Data())
		if len(d) > 300 {
			d = d[:300]
		}
		fmt.Printf("    %.3f %s %s\n", f.T, f.Dir, strings.TrimRight(d, "\n"))
	}
	for _, m := range o.More {
		fmt.Printf("  also expected: %s\n  actual: %s\n", m.Expected, m.Actual)
	}
}
