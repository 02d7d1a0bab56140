package reports

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// junitRun has every verdict, and a subject that means harm.
func junitRun() *Run {
	r := sampleRun()
	r.Requirements = []Requirement{
		row("S-DIR-01", "MUST", Pass, func(q *Requirement) { q.Sentence = "It holds." }),
		row("S-DIR-02", "MUST", Fail, func(q *Requirement) {
			q.Outcome = failed
			q.Actual = "\x00\x1b[2J]]><x>&\xff"
			q.Sentence, q.Source = "It does not.", "AC1 (RFC, acceptance criterion 1)"
		}),
		row("S-DIR-03", "MUST", Fail, known),
		row("S-DIR-04", "MUST", NotApplicable, func(q *Requirement) { q.Reason = "it needs subagents" }),
		row("S-FRM-01", "MUST", NotReached, func(q *Requirement) { q.Reason = "initialize failed" }),
		row("S-FRM-02", "MUST", Error, func(q *Requirement) { q.Reason = "the suite's own pipe broke" }),
		row("S-FRM-22", "SHOULD", Warn, func(q *Requirement) { q.Expected, q.Actual = "an answer", "none" }),
		row("S-FRM-08", "OBSERVE", Observed, func(q *Requirement) { q.Observed = []Observation{{"reply", "nothing\x07"}} }),
	}
	r.Besides = []Requirement{row("S-MSG-01", "MUST", Fail, func(q *Requirement) { q.Actual = "no jsonrpc" })}
	Judge(r)
	return r
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	g := NewWithT(t)
	g.Expect(JUnit(&b, junitRun())).To(Succeed())
	golden(t, "junit.xml", b.Bytes())
	checkJUnit(t, b.Bytes())
}

func TestJUnitOfNothingAndOfSeveralRuns(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	g.Expect(JUnit(&b)).To(Succeed())
	checkJUnit(t, b.Bytes())
	b.Reset()
	g.Expect(JUnit(&b, junitRun(), sampleRun(), junitRun())).To(Succeed())
	checkJUnit(t, b.Bytes())
	g.Expect(strings.Count(b.String(), "<testcase ")).To(Equal(16))
}

// Whatever a subject says, the file stays readable.
func TestJUnitHoldsAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hostile := string(rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("<>&\"'\x00\x0b]]>\n\r\t")))).Draw(rt, "bytes"))
		r := sampleRun()
		r.Subject.Argv = []string{hostile}
		r.Requirements = []Requirement{row("S-DIR-01", "MUST", Fail, func(q *Requirement) {
			q.Actual, q.Expected, q.Frames = hostile, hostile, []Frame{NewFrame(0, "s2c", []byte(hostile))}
		}), row("S-DIR-02", "MUST", NotReached, func(q *Requirement) { q.Reason = hostile })}
		Judge(r)
		var b bytes.Buffer
		if err := JUnit(&b, r); err != nil {
			rt.Fatal(err)
		}
		checkJUnit(rt, b.Bytes())
	})
}

// checkJUnit asserts what the usual consumers (Jenkins, GitLab, the actions for GitHub) ask for: well-formed XML of
// allowed characters, elements and attributes that they know, in their order, and counts that are true.
func checkJUnit(t interface {
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, data []byte) {
	allowed := map[string][]string{
		"":           {"testsuites"},
		"testsuites": {"testsuite"},
		"testsuite":  {"properties", "testcase", "system-out"},
		"properties": {"property"},
		"testcase":   {"skipped", "error", "failure", "system-out"},
	}
	attributes := map[string][]string{
		"testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
		"testsuite":  {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
		"property":   {"name", "value"},
		"testcase":   {"classname", "name", "time"},
		"skipped":    {"message"}, "error": {"message", "type"}, "failure": {"message", "type"},
	}
	if !utf8.Valid(data) {
		t.Errorf("not UTF-8")
	}
	for _, r := range string(data) {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			t.Errorf("character %U is not allowed in XML", r)
		}
	}
	type level struct {
		name          string
		attr          map[string]string
		last          int
		counts        map[string]int
		verdictsInOne int
	}
	stack := []level{{counts: map[string]int{}}}
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			parent := &stack[len(stack)-1]
			name := tok.Name.Local
			at := slices.Index(allowed[parent.name], name)
			if at < 0 || at < parent.last {
				t.Errorf("<%s> in <%s> is not allowed, or out of order", name, parent.name)
			}
			parent.last = at
			l := level{name: name, attr: map[string]string{}, counts: map[string]int{}}
			for _, a := range tok.Attr {
				if !slices.Contains(attributes[name], a.Name.Local) {
					t.Errorf("attribute %s of <%s> is not known", a.Name.Local, name)
				}
				l.attr[a.Name.Local] = a.Value
			}
			if len(l.attr) != len(attributes[name]) {
				t.Errorf("<%s> lacks an attribute: %v", name, l.attr)
			}
			stack = append(stack, l)
		case xml.EndElement:
			l := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			parent := &stack[len(stack)-1]
			switch l.name {
			case "testcase":
				parent.counts["tests"]++
			case "failure", "error", "skipped":
				if parent.verdictsInOne++; parent.verdictsInOne > 1 {
					t.Errorf("a test case with two verdicts")
				}
				stack[len(stack)-2].counts[map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"}[l.name]]++
			case "testsuite", "testsuites":
				for _, c := range []string{"tests", "failures", "errors", "skipped"} {
					if l.attr[c] != strconv.Itoa(l.counts[c]) {
						t.Errorf("<%s %s=%q> and there are %d", l.name, c, l.attr[c], l.counts[c])
					}
					parent.counts[c] += l.counts[c]
				}
			}
		}
	}
}
