package main

import (
	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

// serverFlags are the flags of `dshconform server` as they were given.
type serverFlags struct {
	judgingFlags
	target          string
	processCwd, cwd string
	provider, model string

	modelListen, modelHost  string
	attachWait, noDeadlines bool
	predecessors            bool
}

// serverOwn are the flags of this command alone that say what the subject is.
var serverOwn = []string{"target", "cwd", "process-cwd", "provider", "model", "model-listen", "model-host"}

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
	completeJudging(c, requirements.Server)
	return c
}

func (f *serverFlags) add() {
	f.addSubject()
	f.addJudging()
	f.set.BoolVar(&f.predecessors, "predecessors", false, "where what --id selects holds alone, judge it behind what comes before it in a whole run")
	f.set.BoolVar(&f.attachWait, "attach-wait", false, "print the pid of each process of the server, and wait for Enter before anything is sent to it")
	f.set.BoolVar(&f.noDeadlines, "no-deadlines", false, "wait for the server as long as it takes, for a session with a debugger")
}

// addSubject adds the flags that say what the subject is and how it is started.
func (f *serverFlags) addSubject() {
	s := f.set
	f.addProfile(target.Default().Profiles[0].Name, "those that the target lists, one after the other; "+auto+" finds it out")
	s.StringVar(&f.target, "target", "", "target `file` that describes the server (default: "+target.DefaultFile+" where there is one)")
	s.StringVar(&f.processCwd, "process-cwd", "", "working `directory` of the server's process (default: yours)")
	s.StringVar(&f.cwd, "cwd", "", "`directory` to send in initialize (default: a fresh one)")
	s.StringVar(&f.provider, "provider", "", "`name` of the provider to send in initialize (default: "+target.Default().Provider+")")
	s.StringVar(&f.model, "model", "", "`name` of the model to send in initialize (default: "+target.Default().Model+")")
	s.StringVar(&f.modelListen, "model-listen", "", "`address` that the suite's model endpoint binds (default: a free port of the loopback)")
	s.StringVar(&f.modelHost, "model-host", "", "`host` under which the server reaches that endpoint, for one in a container (default: the address)")
	f.addTo(f.set, "server")
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
