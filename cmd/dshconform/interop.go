package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/shlex"
	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/interop"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

// interopFlags are the flags of `dshconform interop` as they were given.
type interopFlags struct {
	judgingFlags
	clients, servers []string
	file             string
	pairs            []string // that are wanted, all where there are none
}

func interopCommand(code *int) *cobra.Command {
	f := &interopFlags{}
	c := &cobra.Command{
		Use:   "interop --client NAME=DRIVER… --server NAME=COMMAND… [flags]",
		Short: "Bring real clients and real servers together",
		Long: `Have every client hold the standard conversations with every server: a turn, multibyte,
two turns, two sessions at once, an overlap, a failing model, a subagent, shutdown in a
turn. The SDK launches the server itself, with a tap in between; the model is the stub of
this program. The result is a matrix: who works with whom, what callers see differently,
and what was violated on the way, in both directions (docs/interop.md).

DRIVER is the shell-quoted command line of an SDK's driver (docs/driver.md), COMMAND that of
a server, or the name of a target file (docs/target.md). --file names a file with both.

Exit codes: 0 every pair works; 1 one does not, or violates what no baseline knows; 2 wrong
use; 3 a driver could not be run; 130 interrupted.`,
		Example: `  dshconform interop --client py='python3 driver.py' --server ref='dshconform refserver' --report out
  dshconform interop --file pairs.yaml --report out`,
		GroupID: "judge",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			*code, err = judgeInterop(c.Context(), f)
			return err
		},
	}
	f.set = c.Flags()
	f.set.SortFlags = false
	f.set.StringArrayVar(&f.clients, "client", nil, "`NAME=DRIVER` of a client, its driver's command line shell-quoted, repeated for several")
	f.set.StringArrayVar(&f.servers, "server", nil, "`NAME=COMMAND` of a server, shell-quoted, or NAME=FILE.yaml for a target file, repeated for several")
	f.set.StringVar(&f.file, "file", "", "`file` with clients and servers, besides those that are named here")
	f.set.StringArrayVar(&f.pairs, "pair", nil, "`CLIENT=SERVER` to bring together, repeated for several (default: every client with every server)")
	f.addProfile(protocol.Directional, "that of each client's driver")
	f.addTo(f.set, "driver")
	f.set.StringVar(&f.baseline, "baseline", "", "baseline `file` with the failures of servers and clients that are known")
	f.addShown()
	complete(c, "profile", requirements.Profiles)
	return c
}

// judgeInterop is `dshconform interop`: it reads everything that was asked for before it starts anything, brings the
// pairs together, and returns the exit code.
func judgeInterop(ctx context.Context, f *interopFlags) (int, error) {
	f.seed = strconv.Itoa(defaultSeed) // nothing is left to chance
	j, err := newJudging(&f.judgingFlags, requirements.Both)
	if err != nil {
		return 0, err
	}
	profile, err := f.clientProfile()
	if err != nil {
		return 0, err
	}
	if err := j.prepare(pinned{}); err != nil {
		return 0, err
	}
	p, err := f.everyone(j.Catalogue, j.keep.baseline)
	if err != nil {
		return 0, err
	}
	j.keep.baseline = nil // it is looked at pair by pair
	return j.run(ctx, func(ctx context.Context) (*reports.Run, error) { return j.interop(ctx, f, p, profile) })
}

// everyone gives the clients and servers of the flags and the file that are in a pair that is wanted.
func (f *interopFlags) everyone(cat *requirements.Catalogue, known *reports.Baseline) (p interop.Pairs, err error) {
	if f.file != "" {
		if p, err = interop.ReadPairs(cat, f.file); err != nil {
			return p, misuse("%w", err)
		}
	}
	clients, err := f.named("client", f.clients)
	if err != nil {
		return p, err
	}
	for _, c := range clients {
		p.Clients = append(p.Clients, interop.PairedClient{Name: c.name, Driver: c.line})
	}
	servers, err := f.named("server", f.servers)
	if err != nil {
		return p, err
	}
	for _, s := range servers {
		t, err := serverTarget(cat, s)
		if err != nil {
			return p, err
		}
		p.Servers = append(p.Servers, interop.Server{Name: s.name, Target: t})
	}
	switch {
	case len(p.Clients) == 0:
		return p, misuse("there is no client: --client takes NAME=DRIVER, the driver's command line shell-quoted (docs/driver.md)")
	case len(p.Servers) == 0:
		return p, misuse("there is no server: --server takes NAME=COMMAND, or NAME=FILE.yaml for a target file")
	}
	if err := p.Check(); err != nil {
		return p, misuse("%w", err)
	}
	if err := f.choosePairs(&p); err != nil {
		return p, err
	}
	for i := range p.Clients {
		if p.Clients[i].Baseline == nil {
			p.Clients[i].Baseline = known
		}
	}
	for i := range p.Servers {
		if p.Servers[i].Baseline == nil {
			p.Servers[i].Baseline = known
		}
		if err := places(&p.Servers[i].Target); err != nil {
			return p, err
		}
	}
	return p, nil
}

// choosePairs drops the clients and servers that are in no pair that is wanted.
func (f *interopFlags) choosePairs(p *interop.Pairs) error {
	unknown := slices.Clone(f.pairs)
	wanted := map[string]bool{}
	for _, c := range p.Clients {
		for _, s := range p.Servers {
			if f.skip(c.Name, s.Name) {
				continue
			}
			wanted["client "+c.Name], wanted["server "+s.Name] = true, true
			unknown = slices.DeleteFunc(unknown, func(entry string) bool { return entry == c.Name+"="+s.Name })
		}
	}
	if len(unknown) > 0 {
		return misuse("--pair %q is no CLIENT=SERVER of those that are named", unknown[0])
	}
	p.Clients = slices.DeleteFunc(p.Clients, func(c interop.PairedClient) bool { return !wanted["client "+c.Name] })
	p.Servers = slices.DeleteFunc(p.Servers, func(s interop.Server) bool { return !wanted["server "+s.Name] })
	return nil
}

// skip reports whether a pair is not wanted.
func (f *interopFlags) skip(client, server string) bool {
	return len(f.pairs) > 0 && !slices.Contains(f.pairs, client+"="+server)
}

// serverTarget is a server that is named by its command or by its target file.
func serverTarget(cat *requirements.Catalogue, s namedCommand) (target.Target, error) {
	words, err := shlex.Split(s.line)
	if err != nil {
		return target.Target{}, misuse("--server %s: %w", s.name, err)
	}
	if ext := filepath.Ext(words[0]); len(words) == 1 && (ext == ".yaml" || ext == ".yml") {
		t, err := target.Load(cat, words[0])
		if err == nil && len(t.Command) == 0 {
			err = fmt.Errorf("%s names no command", t.Path)
		}
		if err != nil {
			return t, misuse("--server %s: %w", s.name, err)
		}
		return t, nil
	}
	t := target.Default()
	t.Name, t.Command = s.name, words
	return t, nil
}

// interop brings the pairs together.
func (j *judging) interop(ctx context.Context, f *interopFlags, p interop.Pairs, profile protocol.Profile) (*reports.Run, error) {
	cfg := interop.Config{
		Catalogue: j.Catalogue, Program: j.Program, Profile: profile, Servers: p.Servers, Seed: j.Seed, TimeoutScale: j.TimeoutScale,
		Scratch: j.Scratch, Transcripts: j.Transcripts, Log: j.Log, Skip: f.skip,
	}
	for _, c := range p.Clients {
		driver, err := driverOptions(j.Program, j.Scratch, c.Driver, &f.processFlags)
		if err != nil {
			return nil, err
		}
		cfg.Clients = append(cfg.Clients, interop.Client{Name: c.Name, Driver: driver.Command, Baseline: c.Baseline})
	}
	cfg.Begun = func(r *reports.Run) {
		j.keep.save(r)
		header(j.out, r)
	}
	current := ""
	cfg.Started = func(pair string, done, of int) {
		current = pair
		j.out.Started(pair, done, of)
	}
	cfg.Save = func(r *reports.Run) {
		j.keep.save(r)
		cell := r.Cells[len(r.Cells)-1]
		o := reports.Outcome{Verdict: reports.Pass, Seconds: cell.Seconds}
		if !cell.Works {
			o.Verdict, o.Actual = reports.Fail, cell.Short()
		}
		j.out.Ended(current, o)
	}
	cfg.Repeat = func(client, server string) string { return f.repeat(profile, client, server) }
	return interop.Run(ctx, cfg)
}

// repeat is the command line that repeats one pair.
func (f *interopFlags) repeat(profile protocol.Profile, client, server string) string {
	words := []string{os.Args[0], "interop"}
	if profile != "" {
		words = append(words, "--profile", string(profile))
	}
	if f.file != "" {
		words = append(words, "--file", f.file, "--pair", client+"="+server)
	}
	for _, of := range []struct {
		flag, name string
		entries    []string
	}{{"client", client, f.clients}, {"server", server, f.servers}} {
		for _, entry := range of.entries {
			if name, _, _ := strings.Cut(entry, "="); strings.TrimSpace(name) == of.name {
				words = append(words, "--"+of.flag, entry)
			}
		}
	}
	for _, name := range []string{"baseline", "timeout-scale"} {
		if f.changed(name) {
			words = append(words, "--"+name, f.set.Lookup(name).Value.String())
		}
	}
	for _, name := range f.inherit {
		words = append(words, "--inherit-env", name)
	}
	line := reports.ShellJoin(words)
	for _, entry := range f.env {
		line += " --env " + quoteEnv(entry)
	}
	return line
}
