package reports

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JUnit writes runs as one JUnit file, a suite for each run and a test case for each of its requirements.
//
//	pass                          a test case
//	warn, observed                a test case that passes, with what was seen in system-out
//	fail                          failure
//	error, not_reached            error
//	differences of clients        failure
//	known by the baseline         skipped, with the baseline's reason
//	not_applicable                skipped, with the reason
//
// Violations besides the selection have no test case, since consumers count these; they stand in the suite's
// system-out.
func JUnit(w io.Writer, runs ...*Run) error {
	root := junitSuites{Name: "dshconform"}
	for _, r := range runs {
		s := junitSuiteOf(r)
		root.Tests += s.Tests
		root.Failures += s.Failures
		root.Errors += s.Errors
		root.Skipped += s.Skipped
		root.seconds += r.Seconds
		root.Suites = append(root.Suites, s)
	}
	root.Time = seconds(root.seconds)
	data, err := xml.MarshalIndent(root, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding JUnit: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	b.Write(data)
	b.WriteByte('\n')
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	return nil
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
	seconds  float64
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        *junitText      `xml:"system-out"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *junitMessage `xml:"skipped"`
	Error   *junitMessage `xml:"error"`
	Failure *junitMessage `xml:"failure"`
	Out     *junitText    `xml:"system-out"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

type junitText struct {
	Text string `xml:",chardata"`
}

func junitSuiteOf(r *Run) junitSuite {
	s := junitSuite{
		Name: xmlText("dshconform " + r.title()), Tests: len(r.Requirements), Time: seconds(r.Seconds),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"profile", r.Profile}, {"seed", strconv.FormatUint(r.Seed, 10)}, {"catalogue", r.Catalogue},
			{"version", xmlText(r.Version)}, {"command", xmlText(strings.Join(r.Subject.Argv, " "))}, {"closing", xmlText(r.Closing)},
		},
	}
	for i := range r.Requirements {
		c := junitCaseOf(r, &r.Requirements[i])
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	for i := range r.Cells {
		c := junitCaseOfPair(r, &r.Cells[i])
		if s.Tests++; c.Failure != nil {
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	var out strings.Builder
	for i := range r.Besides {
		out.WriteString("besides the selection:\n" + failureText(&r.Besides[i]))
	}
	if out.Len() > 0 {
		s.Out = &junitText{xmlText(out.String())}
	}
	return s
}

func junitCaseOf(r *Run, q *Requirement) junitCase {
	family, _, _ := cutLast(q.ID, "-")
	c := junitCase{
		Class: xmlText(strings.Join(nonEmpty("dshconform", r.Kind, r.Profile, family), ".")),
		Name:  xmlText(q.ID + " " + q.Sentence), Time: seconds(q.Seconds),
	}
	switch {
	case broken(q.Verdict) && q.Known != nil:
		c.Skipped = &junitMessage{Message: xmlText("known: " + oneLine(q.Known.Reason))}
	case q.Verdict == NotApplicable:
		c.Skipped = &junitMessage{Message: xmlText("not applicable: " + oneLine(q.Reason))}
	case q.Verdict == Fail:
		c.Failure = &junitMessage{Message: xmlText(headline(q)), Type: q.Level, Text: xmlText(failureText(q))}
	case q.Verdict == Error || q.Verdict == NotReached:
		c.Error = &junitMessage{Message: xmlText(reasonLabel(q.Verdict) + ": " + oneLine(q.Reason)), Type: string(q.Verdict), Text: xmlText(failureText(q))}
	case q.Verdict == Warn:
		c.Out = &junitText{xmlText(failureText(q))}
	case len(r.unknownDifferences(q.ID)) > 0:
		list := r.unknownDifferences(q.ID)
		message := plural(len(list), "difference", "differences") + ", the first of them in " + list[0].Field
		c.Failure = &junitMessage{Message: xmlText(message), Type: "difference", Text: xmlText(differencesTable(list, r.subjectNames()))}
	case q.Verdict == Observed:
		c.Out = &junitText{xmlText(observedText(q))}
	}
	return c
}

// junitCaseOfPair is a pair of an interop run as a test case.
func junitCaseOfPair(r *Run, cell *Cell) junitCase {
	c := junitCase{Class: xmlText("dshconform." + r.Kind + ".pairs"), Name: xmlText(cell.Client + " × " + cell.Server), Time: seconds(cell.Seconds)}
	if !cell.Works {
		c.Failure = &junitMessage{Message: xmlText(cell.Short()), Type: "pair", Text: xmlText(cell.details())}
	}
	return c
}

// headline is the first line of a failure: what came in the place of what.
func headline(q *Requirement) string {
	for _, p := range q.Parts() {
		if broken(p.Outcome.Verdict) && p.Outcome.Known == nil {
			return Shorten(fmt.Sprintf("expected %s; came %s", oneLine(p.Outcome.Expected), oneLine(p.Outcome.Actual)), 300, 0)
		}
	}
	return string(q.Verdict)
}

func observedText(q *Requirement) string {
	var b strings.Builder
	for _, o := range q.Observed {
		fmt.Fprintf(&b, "%s: %s\n", o.What, o.Value)
	}
	return b.String()
}

// xmlText makes text that XML 1.0 can hold: most control characters are not allowed there in any form, escaped or not,
// and one of them makes the whole file unreadable.
func xmlText(s string) string {
	ok := func(r rune) bool {
		return r == '\n' || r == '\t' || (r >= 0x20 && r != 0x7f && (r < 0x80 || r > 0x9f) && r != 0xfffe && r != 0xffff)
	}
	clean := utf8.ValidString(s)
	for _, r := range s {
		clean = clean && ok(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1) || !ok(r) {
			b.WriteString(Visible(s[i : i+size]))
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// title says which run it is, for headings: kind, subject and profile.
func (r *Run) title() string {
	return strings.Join(nonEmpty(r.Kind, r.Subject.Name, r.Profile), " ")
}

func nonEmpty(parts ...string) []string {
	out := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
