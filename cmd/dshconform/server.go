package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

// serverFlags are the flags of `dshconform server` as they were given.
type serverFlags struct {
	set *pflag.FlagSet

	// The subject.
	target, profile string
	env, inherit    []string
	processCwd, cwd string
	provider, model string
	timeoutScale    float64
	// What is judged, and how strictly.
	ids          []string
	label        string
	strict       bool
	baseline     string
	catalogue    string
	minExercised int
	seed         string
	// What is shown.
	report           string
	json             bool
	verbose, noColor bool
}

func (f *serverFlags) changed(name string) bool { return f.set.Changed(name) }
func (f *serverFlags) value(name string) string { return f.set.Lookup(name).Value.String() }

func serverCommand(code *int) *cobra.Command {
	f := &serverFlags{}
	c := &cobra.Command{
		Use:   "server [flags] [-- COMMAND ARGS…]",
		Short: "Judge a server",
		Long: `Judge a server that speaks over its stdin and stdout. Without a COMMAND it is that of
the target file, and without one of these the reference server of this program.

The server runs with your rights, in a fresh environment: PATH, locale, the homes of
toolchains, a HOME of its own, and the address and key of the suite's own model endpoint
(DEEPSEEK_BASE_URL, DEEPSEEK_API_KEY). --env and --inherit-env add to it.`,
		Example: `  dshconform server -- node lib/bin.js cordis.yml
  dshconform server --profile receipt --report out -- ./my-server
  dshconform server --target fixtures/targets/runtime-0.2.1rc2.yaml --id S-OVL-02`,
		GroupID: "judge",
		Args:    commandBehindDash,
		RunE: func(c *cobra.Command, command []string) error {
			var err error
			*code, err = judgeServer(c.Context(), f, command)
			return err
		},
	}
	f.set = c.Flags()
	f.set.SortFlags = false
	f.set.SetInterspersed(false) // flags behind the first word are the server's
	f.add()
	complete(c, "profile", requirements.Profiles)
	complete(c, "id", func() []string { return allIDs(requirements.Server) })
	completeLabels(c, requirements.Server)
	return c
}

func (f *serverFlags) add() {
	f.addSubject()
	f.addJudging()
}

// addSubject adds the flags that say what the subject is and how it is started.
func (f *serverFlags) addSubject() {
	s := f.set
	s.StringVar(&f.profile, "profile", string(target.Default().Profiles[0].Name), "`profile` to judge: directional, accepted or receipt (default: the target's first)")
	s.Lookup("profile").DefValue = "" // said in the text, where the target has its word
	s.StringVar(&f.target, "target", "", "target `file` that describes the server (default: "+target.DefaultFile+" where there is one)")
	s.StringArrayVar(&f.env, "env", nil, "`NAME=VALUE` for the server's environment, repeated for several")
	s.StringSliceVar(&f.inherit, "inherit-env", nil, "`NAME` of a variable of yours to pass on, repeated for several")
	s.StringVar(&f.processCwd, "process-cwd", "", "working `directory` of the server's process (default: yours)")
	s.StringVar(&f.cwd, "cwd", "", "`directory` to send in initialize (default: a fresh one)")
	s.StringVar(&f.provider, "provider", "", "`name` of the provider to send in initialize (default: "+target.Default().Provider+")")
	s.StringVar(&f.model, "model", "", "`name` of the model to send in initialize (default: "+target.Default().Model+")")
	s.Float64Var(&f.timeoutScale, "timeout-scale", 1, "`factor` for all deadlines")
}

// addJudging adds those that say what is judged, how strictly, and what is shown.
func (f *serverFlags) addJudging() {
	s := f.set
	s.StringSliceVar(&f.ids, "id", nil, "`id` of a requirement or a variant to judge, repeated or with commas for several")
	s.StringVar(&f.label, "label", "", "`expression` over labels (family, level, profile, …) that selects requirements")
	s.BoolVar(&f.strict, "strict", false, "SHOULDs that do not hold fail the run")
	s.StringVar(&f.baseline, "baseline", "", "baseline `file` with the failures that are known")
	s.StringVar(&f.catalogue, "catalogue", "", "`revision` of the catalogue that decides about the exit code (default: the newest)")
	s.IntVar(&f.minExercised, "min-exercised", 0, "least `number` of MUSTs that have to be exercised")
	s.StringVar(&f.seed, "seed", "1", "`seed` of what is generated: a number, or random")

	s.StringVar(&f.report, "report", "", "`directory` for "+reports.FileName+", "+reports.JUnitName+" and "+transcriptsName+"/")
	s.BoolVar(&f.json, "json", false, "print the results as JSON on stdout, and everything else on stderr")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "show every requirement")
	s.BoolVar(&f.noColor, "no-color", false, "no colours, also on a terminal")
}

// commandBehindDash wants the server's command behind a --, so that its flags are its own.
func commandBehindDash(c *cobra.Command, args []string) error {
	dash := c.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) > 0:
		return misuse("the server's command goes behind --: %s -- %s …", c.CommandPath(), reports.ShellQuote(args[0]))
	case dash > 0:
		return misuse("%q stands before the --: the server's command goes behind it", args[0])
	case dash == 0 && len(args) == 0:
		return misuse("there is no command behind --")
	case dash == 0 && args[0] == "":
		return misuse("the command behind -- is empty")
	}
	return nil
}
