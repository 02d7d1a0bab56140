package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/tap"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// checkFlags are the flags of `dshconform check`.
type checkFlags struct {
	profile, report, baseline         string
	maxTokensAsSuccess, strict        bool
	json, verbose, noColor, profileIs bool
}

func checkCommand(code *int) *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use:   "check [flags] FILE",
		Short: "Judge a recording of a conversation",
		Long: `Judge a recording that ` + "`dshconform tap --record`" + ` or anybody else made, or a transcript of
a report, by the rules of the suite: what the server wrote, line for line. A recording
that ends early is judged as far as it goes. Exit code 0 where everything held, 1 where
something did not, 2 for a file that is no recording.`,
		Example: `  dshconform check talk.jsonl
  dshconform check --profile receipt --baseline known.yaml talk.jsonl`,
		GroupID: "judge",
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) != 1 {
				return misuse("check takes one recording, not %d", len(files))
			}
			f.profileIs = c.Flags().Changed("profile")
			var err error
			*code, err = runCheck(f, files[0])
			return err
		},
	}
	s := c.Flags()
	s.SortFlags = false
	s.StringVar(&f.profile, "profile", profileAuto, "`profile` to judge by: directional, accepted, receipt, or auto to find it (default: that of the recording, else auto)")
	s.Lookup("profile").DefValue = ""
	s.StringVar(&f.baseline, "baseline", "", "baseline `file` with the failures that are known")
	s.BoolVar(&f.strict, "strict", false, "SHOULDs that do not hold fail the check")
	s.BoolVar(&f.maxTokensAsSuccess, "max-tokens-as-success", false, "the server counts a turn cut at the token limit as ok")
	s.StringVar(&f.report, "report", "", "`directory` for "+reports.FileName+" and "+reports.JUnitName)
	s.BoolVar(&f.json, "json", false, "print the results as JSON on stdout, and everything else on stderr")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "show every requirement")
	s.BoolVar(&f.noColor, "no-color", false, "no colours, also on a terminal")
	complete(c, "profile", func() []string { return append(requirements.Profiles(), profileAuto) })
	return c
}

// runCheck judges a recording and gives the exit code.
func runCheck(f *checkFlags, path string) (int, error) {
	cat, profile, baseline, err := conversationRules(f.profile, f.baseline)
	if err != nil {
		return 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, misuse("%w", err)
	}
	defer file.Close()
	talk := &conversation{cat: cat, repeat: fmt.Sprintf("%s check %s", os.Args[0], reports.ShellQuote(path))}
	rec, err := tap.Check(file, tap.JudgeOptions{
		Monitor:     protocol.Options{Profile: profile, MaxTokensAsSuccess: f.maxTokensAsSuccess},
		OnViolation: func(v protocol.Violation) { talk.found = append(talk.found, v) },
	})
	if err != nil {
		return 0, misuse("%s: %s", path, reports.Visible(err.Error()))
	}
	if err := reportFolder(f.report); err != nil {
		return 0, err
	}
	return concludeCheck(f, talk, rec, baseline, path)
}

func concludeCheck(f *checkFlags, talk *conversation, rec tap.Recording, baseline *reports.Baseline, path string) (int, error) {
	talk.begun = rec.Header.Started
	talk.subject = reports.Subject{Name: cmp.Or(rec.Header.Title, filepath.Base(path)), Argv: rec.Header.Subject}
	if talk.subject.Argv == nil {
		talk.subject.Argv = []string{}
	}
	var remarks []string
	if rec.Cut {
		remarks = append(remarks, "the recording ends inside an entry, and was judged up to there")
	}
	if rec.Header.Joined {
		remarks = append(remarks, "the recording begins inside a conversation: what hangs on what came before was not judged")
	}
	if !rec.Ended {
		remarks = append(remarks, "the recording does not tell how the process ended: what was owed at the end was not judged")
	}
	run, err := talk.results(rec.Result, remarks)
	if err != nil {
		return 0, failed("%w", err)
	}
	run.Strict = f.strict
	run.Seconds = 0 // of the judging: nobody's business
	reports.Judge(run)
	excuse(run, baseline)
	if run.ProfileNote != "" {
		run.Hint = fmt.Sprintf("%s check --profile %s %s", os.Args[0], rec.Spoken, reports.ShellQuote(path))
	}
	saveErr := keepConversation(f.report, run)
	out := os.Stdout
	if f.json {
		out = os.Stderr
		if err := reports.WriteJSON(os.Stdout, run); err != nil {
			return 0, failed("%w", err)
		}
	}
	o := reports.ConsoleOptions{Color: reports.Color(out, f.noColor), Verbose: f.verbose}
	fmt.Fprintf(out, "dshconform %s check: %s: profile %s, %d lines, catalogue %s\n", run.Version, reports.Visible(path), run.Profile, rec.Lines, run.Catalogue)
	if len(rec.Header.Subject) > 0 {
		words := make([]string, len(rec.Header.Subject))
		for i, w := range rec.Header.Subject {
			words[i] = reports.Visible(reports.ShellQuote(w))
		}
		fmt.Fprintf(out, "  command: %s\n", strings.Join(words, " "))
	}
	if err := reports.Console(out, run, o); err != nil {
		return 0, failed("%w", err)
	}
	if saveErr != nil {
		return 0, &failure{max(run.Exit, reports.ExitFails), saveErr}
	}
	return run.Exit, nil
}
