package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/reports"
)

// failure is an error with the exit code that it means.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// misuse is wrong use: exit code 2.
func misuse(format string, args ...any) error {
	return &failure{reports.ExitUsage, fmt.Errorf(format, args...)}
}

// failed is what nobody could foresee when the command line was read, such as a full disk: exit code 1, because
// nothing can be said about the subject.
func failed(format string, args ...any) error {
	return &failure{reports.ExitFails, fmt.Errorf(format, args...)}
}

// execute runs a command line and returns the exit code.
func execute(args []string) int {
	code := reports.ExitConforms
	root := rootCommand(&code)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return code
	}
	fmt.Fprintf(os.Stderr, "dshconform: %s\n", reports.VisibleLines(err.Error()))
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return reports.ExitUsage // cobra's own errors are about commands, arguments and flags
}

func rootCommand(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:   "dshconform",
		Short: "Judge implementations of the dsh SDK runtime protocol",
		Long: `dshconform judges implementations of the dsh SDK runtime protocol against a
catalogue of requirements, over their own stdio, and shows for each failure what
was expected, what came, and the command that repeats it.

Exit codes: 0 all applicable MUSTs held; 1 one did not, or could not be judged;
2 wrong use; 3 the subject could not be run; 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		Run:           func(c *cobra.Command, _ []string) { _ = c.Help() }, // nothing to be done about a closed stdout
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misuse("%w (`%s --help` lists the flags)", err, c.CommandPath())
	})
	root.AddGroup(&cobra.Group{ID: "judge", Title: "Judge:"}, &cobra.Group{ID: "read", Title: "Read:"}, &cobra.Group{ID: "reference", Title: "Reference endpoints:"})
	root.AddCommand(
		serverCommand(code), clientCommand(code), parityCommand(code), interopCommand(code),
		listCommand(), explainCommand(), reportCommand(), versionCommand(),
		refserverCommand(code), refclientCommand(code),
		tapCommand(code),
		driverCommand(code),
		checkCommand(code),
		modelCommand(code),
		snapshotCommand(code),
	)
	return root
}

// noArguments refuses arguments, with a suggestion where a command was meant.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasParent() {
		return misuse("%s takes no argument %q", c.CommandPath(), args[0])
	}
	suggestion := ""
	c.SuggestionsMinimumDistance = 2
	if close := c.SuggestionsFor(args[0]); len(close) > 0 {
		suggestion = fmt.Sprintf(": did you mean %s?", close[0])
	}
	return misuse("there is no command %q%s (`dshconform --help` lists them)", args[0], suggestion)
}

// complete offers a fixed set for a flag.
func complete(c *cobra.Command, flag string, values func() []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag does not exist
	}
}
