package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/reports"
)

// modelFlags are the flags of `dshconform model`.
type modelFlags struct{ listen, host, key string }

func modelCommand(code *int) *cobra.Command {
	f := &modelFlags{}
	c := &cobra.Command{
		Use:   "model [flags]",
		Short: "Run the stub of the model alone",
		Long: `Run the stub of the model that the suite gives to servers under test, for a session by
hand: the environment to export is printed first, then a line for each call. A prompt
picks what the model answers by a marker (docs/script.md); without one the answer is
"ok". Commands are read from stdin:

  open NAME   open a gate, which lets the calls that wait there go on
  gates       list the gates, and how many calls wait at each
  calls       list the calls so far, and how each ended
  quit        end (so does Ctrl-C; the end of stdin does not)`,
		Example: `  dshconform model --listen 127.0.0.1:8080 --key sk-test`,
		GroupID: "reference",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			*code, err = runModel(c.Context(), f, os.Stdin, c.OutOrStdout())
			return err
		},
	}
	s := c.Flags()
	s.SortFlags = false
	s.StringVar(&f.listen, "listen", "", "`address` to bind (default 127.0.0.1 and a free port)")
	s.StringVar(&f.host, "host", "", "`name` of this machine as the server sees it, for one in a container")
	s.StringVar(&f.key, "key", "", "`key` that calls must carry (default: a random one)")
	return c
}

// runModel serves until it is told to end.
func runModel(ctx context.Context, f *modelFlags, stdin io.Reader, stdout io.Writer) (int, error) {
	ctx, stop := onInterrupt(ctx, func(os.Signal) { os.Exit(reports.ExitInterrupted) })
	defer stop()
	stub, err := model.Start(ctx, model.Options{Listen: f.listen, AdvertiseHost: f.host, Key: f.key})
	if err != nil {
		return 0, misuse("%w", err)
	}
	out := &lineWriter{w: stdout}
	for _, v := range [][2]string{{"DEEPSEEK_BASE_URL", stub.URL()}, {"DEEPSEEK_API_KEY", stub.Key()}, {"DSHCONFORM_CONTROL", stub.Control()}} {
		out.say("export %s=%s", v[0], reports.ShellQuote(v[1]))
	}
	stub.OnCall(func(c model.Call) { out.say("%s", callLine(c)) })
	quit := make(chan struct{})
	go func() { // stays with a read of stdin that nothing interrupts, until the program ends
		if commands(stdin, stub, out) {
			close(quit)
		}
	}()
	code := reports.ExitConforms
	select {
	case <-quit:
	case <-ctx.Done():
		var by *interrupted
		if errors.As(context.Cause(ctx), &by) {
			code = reports.ExitInterrupted
		}
	}
	if err := stub.Close(); err != nil {
		return 0, failed("%w", err)
	}
	return code, out.err()
}

// commands carries out what is typed, and reports whether it was told to quit.
func commands(stdin io.Reader, stub *model.Stub, out *lineWriter) bool {
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		name, argument, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		argument = strings.TrimSpace(argument)
		switch {
		case name == "":
		case name == "quit" || name == "exit":
			return true
		case name == "open" && argument != "":
			gate := stub.Gate(argument)
			waiting := gate.Waiting()
			gate.Open()
			out.say("gate %s open, %d waited", reports.Visible(argument), waiting)
		case name == "gates":
			listGates(stub, out)
		case name == "calls":
			listCalls(stub, out)
		default:
			out.say("what? There are: open NAME, gates, calls, quit")
		}
	}
	return false
}

func listGates(stub *model.Stub, out *lineWriter) {
	gates := stub.Gates()
	if len(gates) == 0 {
		out.say("no gates")
	}
	for _, g := range gates {
		state := "closed"
		if g.IsOpen() {
			state = "open"
		}
		out.say("gate %s %s, %d wait", reports.Visible(g.Name()), state, g.Waiting())
	}
}

func listCalls(stub *model.Stub, out *lineWriter) {
	calls := stub.Calls()
	if len(calls) == 0 {
		out.say("no calls")
	}
	for _, c := range calls {
		outcome := string(c.Outcome)
		if c.Outcome == model.Pending {
			outcome = "being answered"
		}
		out.say("%s: %s", callLine(c), outcome)
	}
}

// callLine is a call of the model in one line.
func callLine(c model.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "call %d %s %s", c.Seq, c.Time.Format("15:04:05.000"), c.Dialect)
	if c.Dialect == model.Unserved {
		fmt.Fprintf(&b, " %s %s", c.Method, c.Path)
	}
	if c.Model != "" {
		fmt.Fprintf(&b, " model=%s", c.Model)
	}
	tag := c.Tag
	if tag == "" {
		tag = "(none)"
	}
	fmt.Fprintf(&b, " tag=%s position=%d messages=%d", tag, c.Position, len(c.Messages))
	if len(c.Tools) > 0 {
		fmt.Fprintf(&b, " tools=%s", strings.Join(c.Tools, ","))
	}
	fmt.Fprintf(&b, " %d bytes", c.BodySize)
	for _, wrong := range []struct {
		is   bool
		what string
	}{
		{c.BadKey, "WRONG KEY"}, {c.BodyError != "", "bad body: " + c.BodyError}, {c.ScriptError != "", c.ScriptError},
		{c.NoSubagentTool, "the script calls a subagent, and the call offers no such tool"},
	} {
		if wrong.is {
			b.WriteString("; " + wrong.what)
		}
	}
	return reports.Shorten(reports.Visible(b.String()), 400, 0)
}

// lineWriter writes whole lines from several goroutines.
type lineWriter struct {
	mu     sync.Mutex
	w      io.Writer
	failed error
}

func (l *lineWriter) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := fmt.Fprintf(l.w, format+"\n", args...); err != nil && l.failed == nil {
		l.failed = err
	}
}

func (l *lineWriter) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return written(l.failed)
}
