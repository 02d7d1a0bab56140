package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/tap"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// tapFlags are the flags of `dshconform tap`.
type tapFlags struct {
	profile, record, report, baseline string
	processCwd                        string
	recordLimit                       int64 // MiB
	env                               []string
	maxTokensAsSuccess, quiet         bool
}

func tapCommand(code *int) *cobra.Command {
	f := &tapFlags{}
	c := &cobra.Command{
		Use:   "tap [flags] -- SERVER ARGS…",
		Short: "Stand between a client and a server, and judge what they say",
		Long: `Start SERVER in the place of this program: every byte of stdin and stdout passes
unchanged, stderr, environment and signals are the server's, and the exit code is the
server's too (128+n for signal n; 127 where there is no such command, 126 where it
can't be executed). A copy of the conversation is judged by the rules of the suite;
violations show on stderr as they happen, and a report at the end.`,
		Example: `  dshconform tap --record talk.jsonl -- node lib/bin.js cordis.yml
  dshconform tap --profile auto --report out -- ./my-server`,
		GroupID: "judge",
		Args:    commandBehindDash,
		RunE: func(c *cobra.Command, command []string) error {
			if len(command) == 0 {
				return misuse("tap what? The server's command goes behind --: %s -- SERVER …", c.CommandPath())
			}
			var err error
			*code, err = runTap(f, command)
			return err
		},
	}
	s := c.Flags()
	s.SortFlags = false
	s.SetInterspersed(false)
	s.StringVar(&f.profile, "profile", string(protocol.Directional), "`profile` to judge by: directional, accepted, receipt, or auto to find it from the first prompt's answer")
	s.StringVar(&f.record, "record", "", "`file` to record the conversation in, for `dshconform check`")
	s.Int64Var(&f.recordLimit, "record-limit", 0, "`MiB` of the conversation that are recorded (default: no limit)")
	s.StringVar(&f.report, "report", "", "`directory` for "+reports.FileName+" and "+reports.JUnitName)
	s.StringVar(&f.baseline, "baseline", "", "baseline `file` with the failures that are known")
	s.BoolVar(&f.maxTokensAsSuccess, "max-tokens-as-success", false, "the server counts a turn cut at the token limit as ok")
	s.StringVar(&f.processCwd, "process-cwd", "", "working `directory` of the server (default: yours)")
	s.StringArrayVar(&f.env, "env", nil, "`NAME=VALUE` for the server's environment, besides yours, repeated for several")
	s.BoolVarP(&f.quiet, "quiet", "q", false, "nothing on stderr besides the server's own, unless something is wrong with the tap")
	complete(c, "profile", func() []string { return append(requirements.Profiles(), profileAuto) })
	return c
}

// runTap taps one conversation and gives the exit code, which is the server's.
func runTap(f *tapFlags, command []string) (int, error) {
	cat, profile, baseline, err := conversationRules(f.profile, f.baseline)
	if err != nil {
		return 0, err
	}
	if err := reportFolder(f.report); err != nil {
		return 0, err
	}
	if err := checkVariables(f.env); err != nil {
		return 0, err
	}
	if f.recordLimit < 0 || f.recordLimit > 1<<30 {
		return 0, misuse("--record-limit takes a number of MiB, not %d", f.recordLimit)
	}
	record, err := recordingFile(f.record)
	if err != nil {
		return 0, err
	}
	// Whoever reads stderr may stop, or go away. That must cost neither a byte nor the exit code.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	tell := newTeller(os.Stderr)
	defer tell.close()
	talk := &conversation{cat: cat, begun: time.Now(), subject: reports.Subject{Name: filepath.Base(command[0]), Argv: command}}
	talk.subject.Dir, _ = os.Getwd() // only shown
	if f.record != "" {
		talk.repeat = os.Args[0] + " check " + reports.ShellQuote(f.record)
	}
	o := tap.Options{
		Argv: command, Env: f.env, Dir: f.processCwd, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Judge: tap.JudgeOptions{
			Monitor: protocol.Options{Profile: profile, MaxTokensAsSuccess: f.maxTokensAsSuccess, Secrets: modelKey(f.env)},
			OnViolation: func(v protocol.Violation) {
				talk.found = append(talk.found, v)
				if !f.quiet {
					tell.say(violationLines(v))
				}
			},
		},
	}
	if record != nil {
		o.Record, o.RecordLimit = record, f.recordLimit<<20
	}
	report, err := tap.Run(o)
	var start *tap.StartError
	if errors.As(err, &start) {
		return start.Status(), &failure{start.Status(), fmt.Errorf("tap: %s", reports.Visible(err.Error()))}
	}
	if record != nil {
		report.RecordErr = errors.Join(report.RecordErr, record.Close())
	}
	concludeTap(f, tell, talk, report, baseline)
	return report.Status, nil
}

// concludeTap reports what was found. Nothing of that touches the exit code.
func concludeTap(f *tapFlags, tell *teller, talk *conversation, report tap.Report, baseline *reports.Baseline) {
	complain := func(format string, args ...any) { tell.say(fmt.Sprintf("dshconform: tap: "+format+"\n", args...)) }
	if report.RecordErr != nil {
		complain("the recording is not whole: %s", reports.Visible(report.RecordErr.Error()))
	}
	var remarks []string
	if report.HeldOpen {
		remarks = append(remarks, "a process that the server left behind held stdout open, and was not waited for")
	}
	if report.Blocked > 0 {
		remarks = append(remarks, fmt.Sprintf("bytes waited %s for the judging or the recording", report.Blocked.Round(time.Millisecond)))
	}
	run, err := talk.results(report.Result, remarks)
	if err != nil {
		complain("%v", err)
		return
	}
	run.Diagnosis = &reports.Diagnosis{Processes: 1}
	if report.Status < 128 {
		run.Diagnosis.Exit = &report.Status
	} else {
		run.Diagnosis.Signal = report.End
	}
	excuse(run, baseline)
	if run.ProfileNote != "" {
		run.Hint = "dshconform tap --profile " + string(report.Spoken)
	}
	if err := keepConversation(f.report, run); err != nil {
		complain("%v", err)
	}
	if !f.quiet {
		tell.say(tapReport(report, run))
	}
}

// tapReport is the report at the end, short: what was violated was shown when it happened.
func tapReport(report tap.Report, run *reports.Run) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, "dshconform: tap: "+format+"\n", args...) }
	if run.ProfileNote != "" {
		say("%s; run instead: %s …", run.ProfileNote, run.Hint)
	}
	for _, remark := range run.Remarks {
		say("%s", reports.Visible(remark))
	}
	for _, list := range [][]reports.Requirement{run.Requirements, run.Besides} {
		for i := range list {
			for _, p := range list[i].Parts() {
				n := report.Rows[p.ID].Violated
				if n == 0 {
					continue
				}
				known := ""
				if p.Outcome.Known != nil {
					known = "known, "
				}
				say("%s %s: %s%d times: %s", p.Outcome.Verdict, p.ID, known, n, list[i].Sentence)
			}
		}
	}
	say("profile %s, %d lines, %d requirements judged, %d violations; %s", run.Profile, report.Lines, len(report.Rows), report.Violations(), report.End)
	return b.String()
}

// recordingFile makes the file of a recording, nil for none.
func recordingFile(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, misuse("--record: %w", err)
	}
	return file, nil
}

// modelKey is the key of the model endpoint in the environment that the server gets, where it is long enough to be
// one and not a word that may stand anywhere.
func modelKey(added []string) []string {
	const shortest, name = 12, "DEEPSEEK_API_KEY"
	key := os.Getenv(name)
	for _, entry := range added {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			key = value
		}
	}
	if len(key) >= shortest {
		return []string{key}
	}
	return nil
}
