package reports

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
)

// ConsoleOptions say how much goes to the console, and how.
type ConsoleOptions struct {
	Color bool
	// Verbose lists every requirement, not only those that do not hold, and the names of the subject's variables.
	Verbose bool
}

// ConsoleHeader writes the first lines of a run: what is judged, as which profile, with which seed, and exactly how
// it is started.
func ConsoleHeader(w io.Writer, r *Run, o ConsoleOptions) error {
	var b bytes.Buffer
	profile := cmp.Or(r.Profile, "not known yet")
	if r.Kind == KindInterop {
		profile = cmp.Or(r.Profile, "that of each client")
	}
	fmt.Fprintf(&b, "dshconform %s %s: profile %s, seed %d, catalogue %s\n", Visible(r.Version), r.Kind, profile, r.Seed, r.Catalogue)
	for _, s := range r.Subjects {
		fmt.Fprintf(&b, "  %s: %s\n", Visible(strings.Join(nonEmpty(s.Role, s.Name), " ")), commandLine(s.Argv))
	}
	if len(r.Subjects) == 0 {
		fmt.Fprintf(&b, "  command: %s\n", commandLine(r.Subject.Argv))
	}
	fmt.Fprintf(&b, "  in:      %s\n", Visible(r.Subject.Dir))
	if o.Verbose {
		fmt.Fprintf(&b, "  environment: %s\n", Visible(strings.Join(r.Subject.Env, " ")))
	}
	return flush(w, &b, "header")
}

// Console writes the verdict of a run for a human: everything that does not hold, then what else is worth knowing, then
// the numbers; the last line is Run.Closing.
func Console(w io.Writer, r *Run, o ConsoleOptions) error {
	c := console{r: r, o: o}
	if r.ProfileNote != "" {
		c.line(bold(o.Color, Warn, Visible(oneLine(r.ProfileNote))))
		if r.Hint != "" {
			c.line("  run instead: " + Visible(r.Hint))
		}
	}
	if o.Verbose {
		c.everything()
	}
	c.broken(r.Requirements, "")
	c.broken(r.Besides, "besides the selection: ")
	c.differences()
	c.cells()
	c.baseline()
	c.lacks()
	for _, remark := range c.r.Remarks {
		c.line(Visible(oneLine(remark)))
	}
	c.diagnosis()
	if r.Abort != nil && r.Abort.Kind == AbortNotRun {
		c.line("could not run the subject: " + VisibleLines(r.Abort.Reason))
	}
	c.line(c.numbers())
	c.line(bold(o.Color, closingVerdict(r), r.Closing))
	return flush(w, &c.b, "verdict")
}

func flush(w io.Writer, b *bytes.Buffer, what string) error {
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the %s to the console: %w", what, err)
	}
	return nil
}

type console struct {
	b bytes.Buffer
	r *Run
	o ConsoleOptions
}

func (c *console) line(s string) { c.b.WriteString(strings.TrimRight(s, "\n") + "\n") }

// everything lists each requirement in one line.
func (c *console) everything() {
	for i := range c.r.Requirements {
		q := &c.r.Requirements[i]
		c.line(fmt.Sprintf("%s %-10s %6.2fs  %s%s", c.word(q), q.ID, q.Seconds, q.Sentence, detail(q)))
	}
}

// word is the verdict of a row as one padded word.
func (c *console) word(q *Requirement) string {
	return paint(c.o.Color, q.Verdict, fmt.Sprintf("%-14s", markWord(q)))
}

// detail is what is worth saying about a row that holds.
func detail(q *Requirement) string {
	switch q.Verdict {
	case NotApplicable:
		return " (" + Visible(oneLine(q.Reason)) + ")"
	case Observed:
		return " [" + Shorten(observedLine(q.Observed), 160, 0) + "]"
	}
	return ""
}

func observedLine(obs []Observation) string {
	parts := make([]string, len(obs))
	for i, o := range obs {
		parts[i] = Visible(o.What) + ": " + Visible(o.Value)
	}
	return strings.Join(parts, "; ")
}

// broken shows what does not hold: unknown failures in full, known ones in a line.
func (c *console) broken(list []Requirement, prefix string) {
	for i := range list {
		q := &list[i]
		if q.Verdict.Sound() {
			continue
		}
		if q.Known != nil {
			c.line(fmt.Sprintf("%s%s %s: %s", prefix, paint(c.o.Color, q.Verdict, "known"), q.ID, Visible(oneLine(q.Known.Reason))))
			continue
		}
		word := strings.ToUpper(strings.ReplaceAll(string(q.Verdict), "_", " "))
		if q.New {
			word += " (new, does not count)"
		}
		c.line(prefix + bold(c.o.Color, q.Verdict, word) + " " + failureText(q))
		c.line("")
	}
}

func (c *console) differences() {
	list := c.r.unknownDifferences("")
	if c.o.Verbose {
		list = c.r.Differences
	}
	switch {
	case len(list) == 0:
	case c.r.Kind == KindInterop:
		c.line("What callers see differently of the same conversation:")
		c.line(groupedDifferences(list))
	default:
		c.line(bold(c.o.Color, Fail, "DIFFERENCES"))
		c.line(differencesTable(list, c.r.subjectNames()))
	}
}

func (c *console) baseline() {
	if c.r.Baseline == nil {
		return
	}
	for _, s := range c.r.Baseline.Stale {
		if s.Field != "" {
			c.line(fmt.Sprintf("%s %s %s is no such difference any more: take it out of %s, line %d", bold(c.o.Color, Fail, "STALE"), s.ID, Visible(s.Field), Visible(c.r.Baseline.File), s.Line))
			continue
		}
		c.line(fmt.Sprintf("%s %s holds now: take it out of %s, line %d", bold(c.o.Color, Fail, "STALE"), s.ID, Visible(c.r.Baseline.File), s.Line))
	}
	for _, f := range c.r.Baseline.Flaky {
		c.line(fmt.Sprintf("flaky %s: %s", f.ID, f.Ratio()))
	}
}

func (c *console) lacks() {
	for _, l := range c.r.Subject.Lacks {
		if l.Stale != "" {
			c.line(fmt.Sprintf("the target says that it lacks %s, and yet: %s", l.Capability, Visible(oneLine(l.Stale))))
		}
	}
}

// diagnosis is shown where something failed: what became of the subject often says why.
func (c *console) diagnosis() {
	if c.r.Diagnosis == nil || (c.r.Exit == ExitConforms && !c.o.Verbose) {
		return
	}
	for _, l := range c.r.Diagnosis.lines(12) {
		c.line(l)
	}
}

func (c *console) numbers() string {
	var parts []string
	for _, v := range Verdicts() {
		if n := c.r.Summary.Of(v); n > 0 {
			parts = append(parts, paint(c.o.Color, v, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(v), "_", " "))))
		}
	}
	return fmt.Sprintf("%s in %.1fs", cmp.Or(strings.Join(parts, ", "), "no verdicts"), c.r.Seconds)
}

func closingVerdict(r *Run) Verdict {
	switch {
	case r.Exit != ExitConforms:
		return Fail
	case !r.exercisedAny():
		return Warn
	}
	return Pass
}

// commandLine shows an argv so that a shell would read it again, as long as it holds nothing hidden.
func commandLine(argv []string) string {
	parts := make([]string, len(argv))
	for i, a := range argv {
		parts[i] = Visible(ShellQuote(a))
	}
	return strings.Join(parts, " ")
}

// ShellJoin makes a command line of words that a POSIX shell takes apart again.
func ShellJoin(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellQuote(w)
	}
	return strings.Join(quoted, " ")
}

// ShellQuote quotes a word for a POSIX shell where it has to be.
func ShellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_-+=./,:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
