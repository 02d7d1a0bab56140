package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/parity"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// parityFlags are the flags of `dshconform parity` as they were given.
type parityFlags struct {
	judgingFlags
	clients []string
}

// parityOwn are the flags of this command alone that say what the subjects are.
var parityOwn = []string{"client"}

func parityCommand(code *int) *cobra.Command {
	f := &parityFlags{}
	c := &cobra.Command{
		Use:   "parity --client NAME=DRIVER --client NAME=DRIVER… [flags]",
		Short: "Compare what callers of several client SDKs see",
		Long: `Play the same scenarios on several client SDKs and compare what their callers see.
DRIVER is one shell-quoted command line of a program that has the SDK make calls
(docs/driver.md), NAME what it is called in differences. What a driver does not offer is
not compared; docs/parity.md says how the rest is.

Exit codes: 0 no differences, or the baseline knows all; 1 differences that it does not
know, or entries that are no differences any more; 2 wrong use; 3 a client could not be
run; 130 interrupted.`,
		Example: `  dshconform parity --client py='python3 driver.py' --client ts='node dist/driver.js'
  dshconform parity --client a='dshconform refclient' --client b=./driver --id P-FRM-05 --report out`,
		GroupID: "judge",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			*code, err = judgeParity(c.Context(), f)
			return err
		},
	}
	f.set = c.Flags()
	f.set.SortFlags = false
	f.set.StringArrayVar(&f.clients, "client", nil, "`NAME=DRIVER` of a client, its driver's command line shell-quoted; two or more")
	f.addProfile(protocol.Directional, "the one that all drivers name")
	f.addTo(f.set, "driver")
	f.addSelection("scenario to play", "scenarios")
	f.addBaseline("differences")
	f.addSeed()
	f.addShown()
	completeJudging(c, requirements.Parity)
	return c
}

// judgeParity is `dshconform parity`: it reads everything that was asked for before it starts anything, compares, and
// returns the exit code.
func judgeParity(ctx context.Context, f *parityFlags) (int, error) {
	j, err := newJudging(&f.judgingFlags, requirements.Parity)
	if err != nil {
		return 0, err
	}
	clients, err := f.named("client", f.clients)
	if err == nil && len(clients) < 2 {
		err = misuse("--client is wanted twice or more: NAME=DRIVER, the driver's command line shell-quoted (docs/driver.md)")
	}
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
	implemented := parity.Implemented(j.Catalogue)
	if err := j.choose(profile, implemented); err != nil {
		return 0, err
	}
	code, err := j.run(ctx, func(ctx context.Context) (*reports.Run, error) { return j.parity(ctx, f, clients, implemented) })
	if err != nil {
		return code, err
	}
	return code, updateBaseline([]*judging{j})
}

// parity runs the suite. Where the profile is the drivers' word, so is what the selection comes to.
func (j *judging) parity(ctx context.Context, f *parityFlags, clients []namedCommand, implemented map[string]bool) (*reports.Run, error) {
	cfg := parity.Config{}
	for _, c := range clients {
		driver, err := driverOptions(j.Program, j.Scratch, c.line, &f.processFlags)
		if err != nil {
			return nil, err
		}
		cfg.Clients = append(cfg.Clients, parity.Client{Name: c.name, Driver: driver.Command})
	}
	again := repeater{flags: j.flags, role: requirements.Parity, own: parityOwn, profile: j.Profile, seed: j.Seed}
	j.Repeat = func(ids ...string) string { return again.ids(ids...) }
	j.Begun = j.begun
	cfg.Options = j.Options
	cfg.Greeted = func(o *spec.Options) error {
		again.profile = o.Profile
		return j.greeted(o, implemented)
	}
	run, err := parity.Run(ctx, cfg)
	var differ *parity.ProfilesError
	if errors.As(err, &differ) {
		return nil, misuse("%w: --profile says which is meant", err)
	}
	return run, err
}

// namedCommand is a command line with the name that it is given.
type namedCommand struct{ name, line string }

// named reads NAME=COMMAND of a flag that is repeated.
func (f *judgingFlags) named(flag string, list []string) (commands []namedCommand, err error) {
	for _, entry := range list {
		name, line, ok := strings.Cut(entry, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.TrimSpace(line) == "" {
			return nil, misuse("--%s %q is not of the form NAME=COMMAND", flag, entry)
		}
		if slices.ContainsFunc(commands, func(c namedCommand) bool { return c.name == name }) {
			return nil, misuse("--%s: two are named %q", flag, name)
		}
		if _, err := harness.ParseDriver(line); err != nil {
			return nil, misuse("--%s %s: %w", flag, name, err)
		}
		commands = append(commands, namedCommand{name, line})
	}
	return commands, f.checkProcess()
}
