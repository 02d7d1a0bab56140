package main

import (
	"context"

	"github.com/spf13/cobra"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/client"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// clientFlags are the flags of `dshconform client` as they were given.
type clientFlags struct {
	judgingFlags
	driver string
}

// clientOwn are the flags of this command alone that say what the subject is.
var clientOwn = []string{"driver"}

func clientCommand(code *int) *cobra.Command {
	f := &clientFlags{}
	c := &cobra.Command{
		Use:   "client --driver DRIVER [flags]",
		Short: "Judge a client SDK",
		Long: `Judge a client SDK. The suite plays the server: DRIVER is one shell-quoted command line
of a program that has the SDK make calls (docs/driver.md), and the runtime that the SDK
launches is this program. What the driver does not offer is not applicable, by name.

The driver runs with your rights, in your directory and a fresh environment: PATH, locale,
the homes of toolchains and a HOME of its own. --env and --inherit-env add to it.`,
		Example: `  dshconform client --driver 'python3 driver.py'
  dshconform client --profile receipt --report out --driver 'node dist/driver.js'
  dshconform client --driver 'dshconform refclient' --id C-FRM-02`,
		GroupID: "judge",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			*code, err = judgeClient(c.Context(), f)
			return err
		},
	}
	f.set = c.Flags()
	f.set.SortFlags = false
	f.add()
	completeJudging(c, requirements.Client)
	return c
}

func (f *clientFlags) add() {
	f.set.StringVar(&f.driver, "driver", "", "`command` line of the SDK's driver, shell-quoted (required)")
	f.addProfile(protocol.Directional, "the driver's, else directional")
	f.addTo(f.set, "driver")
	f.addJudging()
}

// judgeClient is `dshconform client`: it reads everything that was asked for before it starts anything, judges, and
// returns the exit code.
func judgeClient(ctx context.Context, f *clientFlags) (int, error) {
	j, err := newJudging(&f.judgingFlags, requirements.Client)
	if err != nil {
		return 0, err
	}
	profile, err := f.check()
	if err != nil {
		return 0, err
	}
	if err := j.prepare(pinned{}); err != nil {
		return 0, err
	}
	implemented := client.Implemented(j.Catalogue)
	if err := j.choose(profile, implemented); err != nil {
		return 0, err
	}
	code, err := j.run(ctx, func(ctx context.Context) (*reports.Run, error) { return j.client(ctx, f, implemented) })
	if err != nil {
		return code, err
	}
	return code, updateBaseline([]*judging{j})
}

// check finds what is wrong in the flags that say what the subject is. It gives the profile that is asked for, "" where
// the driver is to name it.
func (f *clientFlags) check() (protocol.Profile, error) {
	if !f.changed("driver") {
		return "", misuse("--driver is missing: it takes the command line of the SDK's driver (docs/driver.md)")
	}
	if _, err := harness.ParseDriver(f.driver); err != nil {
		return "", misuse("--driver: %w", err)
	}
	if err := f.checkProcess(); err != nil {
		return "", err
	}
	return f.clientProfile()
}

// client runs the suite. Where the profile is the driver's word, so is what the selection comes to.
func (j *judging) client(ctx context.Context, f *clientFlags, implemented map[string]bool) (*reports.Run, error) {
	driver, err := driverOptions(j.Program, j.Scratch, f.driver, &f.processFlags)
	if err != nil {
		return nil, err
	}
	again := repeater{flags: j.flags, role: requirements.Client, own: clientOwn, seed: j.Seed}
	j.Repeat = func(ids ...string) string { return again.ids(ids...) }
	j.Begun = j.begun
	return client.Run(ctx, client.Config{
		Options: j.Options, Driver: driver.Command, Instead: again.instead,
		Greeted: func(o *spec.Options) error {
			again.profile = o.Profile
			return j.greeted(o, implemented)
		},
	})
}
