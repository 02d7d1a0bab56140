package interop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/spec"
)

// Run brings every client together with every server. The run that it returns holds
// what was found, also where the error is a *spec.NotRunError or says that ctx ended.
func Run(ctx context.Context, cfg Config) (*reports.Run, error) {
	r := &runner{cfg: cfg, begun: time.Now(), names: map[string]bool{}, judged: judged{cat: cfg.Catalogue}}
	defer r.close()
	for i, c := range cfg.Clients {
		r.sdks = append(r.sdks, sdk.New(sdk.Options{
			Driver: c.Driver, Program: cfg.Program, Scratch: cfg.Scratch, Work: filepath.Join(cfg.Scratch, fmt.Sprintf("work-%d", i+1)),
			Deadlines: deadline.New(cfg.TimeoutScale), Log: cfg.Log,
		}))
	}
	for i, s := range r.sdks {
		if err := s.Greet(ctx); err != nil {
			return r.ended(ctx, fmt.Errorf("%s: %w", cfg.Clients[i].Name, err))
		}
	}
	if cfg.Begun != nil {
		cfg.Begun(r.result(false))
	}
	pairs := cfg.pairs()
	for _, p := range pairs {
		if cfg.Started != nil {
			cfg.Started(pairName(cfg.Clients[p.client].Name, cfg.Servers[p.server].Name), len(r.cells), len(pairs))
		}
		cell, err := r.pair(ctx, p.client, p.server)
		if err != nil {
			return r.ended(ctx, err)
		}
		r.cells = append(r.cells, cell)
		if cfg.Save != nil {
			cfg.Save(r.result(false))
		}
	}
	return r.result(true), nil
}

// pair is a client and a server, by their places.
type pair struct{ client, server int }

func (c *Config) pairs() (list []pair) {
	for i := range c.Clients {
		for j := range c.Servers {
			if c.Skip == nil || !c.Skip(c.Clients[i].Name, c.Servers[j].Name) {
				list = append(list, pair{i, j})
			}
		}
	}
	return list
}

// runner is one run.
type runner struct {
	cfg   Config
	begun time.Time
	sdks  []*sdk.SDK
	cells []reports.Cell
	names map[string]bool // of transcripts
	judged
}

func (r *runner) close() {
	for _, s := range r.sdks {
		s.Close()
	}
}

// ended is the run as it stands where it ends early.
func (r *runner) ended(ctx context.Context, err error) (*reports.Run, error) {
	var notRun *spec.NotRunError
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case !errors.As(err, &notRun):
		err = &spec.NotRunError{Err: err}
	}
	return r.result(false), err
}

func pairName(client, server string) string { return client + " × " + server }

// result is the run as it stands.
func (r *runner) result(final bool) *reports.Run {
	cfg := r.cfg
	run := &reports.Run{
		Kind: reports.KindInterop, Catalogue: cfg.Catalogue.Revision(), Started: r.begun, Seconds: time.Since(r.begun).Seconds(),
		Profile: string(cfg.Profile), Seed: cfg.Seed, Complete: final, Requirements: r.requirements(r.begun),
		Besides: []reports.Requirement{}, Cells: append([]reports.Cell{}, r.cells...), Differences: differences(r.cells),
	}
	var clients, servers []string
	for i, c := range cfg.Clients {
		s := reports.Subject{Role: "client", Name: c.Name, Argv: c.Driver.Argv, Dir: c.Driver.Dir, Env: spec.EnvNames(c.Driver.Env)}
		if h := r.sdks[i].Hello(); h.Protocol != "" {
			s.Says, s.ServerVersion = h.Subject(), h.Version
		}
		clients, run.Subjects = append(clients, c.Name), append(run.Subjects, s)
	}
	for _, s := range cfg.Servers {
		servers = append(servers, s.Name)
		run.Subjects = append(run.Subjects, reports.Subject{
			Role: "server", Name: s.Name, Argv: s.Target.Command, Dir: s.Target.ProcessCwd, Env: []string{}, Target: s.Target.Path,
			Provider: s.Target.Provider, Model: s.Target.Model,
		})
	}
	run.Subject = reports.Subject{
		Name: strings.Join(clients, ", ") + " × " + strings.Join(servers, ", "), Argv: []string{}, Dir: cfg.Clients[0].Driver.Dir, Env: []string{},
	}
	return run
}

// differences are what callers see differently of the same conversation, by pair.
func differences(cells []reports.Cell) []reports.Difference {
	list := []reports.Difference{}
	type key struct{ id, field string }
	var order []key
	values := map[key]map[string]string{}
	for _, c := range cells {
		for _, t := range c.Conversations {
			for _, s := range t.Saw {
				k := key{t.Name, s.What}
				if values[k] == nil {
					values[k] = map[string]string{}
					order = append(order, k)
				}
				values[k][pairName(c.Client, c.Server)] = s.Value
			}
		}
	}
	for _, k := range order {
		first, differ := "", false
		for _, v := range values[k] {
			differ = differ || first != "" && v != first
			first = v
		}
		if differ {
			list = append(list, reports.Difference{ID: k.id, Field: k.field, Values: values[k]})
		}
	}
	return list
}
