package strictyaml

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

type file struct {
	Schema string `yaml:"schema"`
	Known  []struct {
		ID    string `yaml:"id"`
		Flaky bool   `yaml:"flaky"`
	} `yaml:"known"`
}

func TestErrorsSayWhere(t *testing.T) {
	for name, tc := range map[string]struct {
		text, want string
		line       int
	}{
		"unknown key":      {"schema: x\ncolour: red\n", "unknown field", 2},
		"nested":           {"schema: x\nknown:\n  - id: a\n    ids: b\n", "unknown field", 4},
		"duplicate":        {"schema: x\nschema: y\n", "already defined", 2},
		"type":             {"schema: x\nknown: yes please\n", "", 2},
		"bool":             {"known:\n  - id: a\n    flaky: often\n", "true or false", 3},
		"syntax":           {"schema: x\n  label: [\n", "", 1},
		"unclosed":         {"schema: \"x\n", "", 1},
		"empty":            {"", "empty", 1},
		"comment alone":    {"# nothing\n", "empty", 1},
		"a scalar":         {"hello\n", "", 1},
		"two documents":    {"schema: x\n---\nschema: y\n", "second document", 3},
		"invalid UTF-8":    {"schema: x\nknown: \xff\n", "0xff is not valid UTF-8", 2},
		"NUL":              {"schema: x\x00\n", "NUL", 1},
		"alias":            {"schema: &a x\nknown: *a\n", "aliases", 2},
		"CRLF":             {"schema: x\r\ncolour: red\r\n", "unknown field", 2},
		"tab as an indent": {"known:\n\t- id: a\n", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var f file
			_, err := Decode("f.yaml", []byte(tc.text), &f)
			var e *Error
			g.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
			g.Expect(e.Error()).To(ContainSubstring(tc.want))
			g.Expect(e.Error()).NotTo(ContainSubstring("\n"), "one line")
			g.Expect(e.Line).To(Equal(tc.line), e.Error())
			g.Expect(e.Column).To(BeNumerically(">", 0), e.Error())
			g.Expect(e.Error()).To(HavePrefix("f.yaml:"))
		})
	}
}

func TestErrorfPointsAtTheValueOrAroundIt(t *testing.T) {
	g := NewWithT(t)
	var f file
	doc, err := Decode("f.yaml", []byte("\ufeffschema: x\nknown:\n  - id: a\n  - id: b\n    flaky: true\n"), &f)
	g.Expect(err).NotTo(HaveOccurred(), "a byte order mark is no error")
	g.Expect(f.Known).To(HaveLen(2))
	cause := errors.New("cause")
	for path, want := range map[string]string{
		"$.known[1].id":     "f.yaml:4:9: x",
		"$.known[1].reason": "f.yaml:4:5: x",
		"$.schema":          "f.yaml:1:9: x",
		"$.nothing":         "f.yaml:1:1: x",
		"$":                 "f.yaml:1:1: x",
	} {
		err := doc.Errorf(path, "x: %w", cause)
		g.Expect(err.Error()).To(HavePrefix(want), path)
		g.Expect(errors.Is(err, cause)).To(BeTrue())
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("schema: x\nknown:\n  - id: a\n")
	f.Add("- - -\n? [\n")
	f.Fuzz(func(t *testing.T, s string) {
		var v file
		if _, err := Decode("f.yaml", []byte(s), &v); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}
