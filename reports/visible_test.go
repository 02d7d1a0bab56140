package reports

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                         "plain",
		`{"a":"\n"}`:                    `{"a":"\n"}`,
		"a\nb\r\tc":                     `a\nb\r\tc`,
		"\x1b[2J\x07\x00\x7f":           `\x1b[2J\x07\x00\x7f`,
		"\xff\xc3":                      `\xff\xc3`,
		"\u009b31m":                     `\u{009b}31m`,
		"\u202eevil\u2066":              `\u{202e}evil\u{2066}`,
		"\ufeffx\u2028\u200b\u0085":     `\u{feff}x\u{2028}\u{200b}\u{0085}`,
		"你好 é 👍 שלום":                   "你好 é 👍 שלום",
		"\u00a0":                        `\u{00a0}`,
		string(rune(0xe000)) + "\ufffd": `\u{e000}` + "\ufffd",
	} {
		NewWithT(t).Expect(Visible(in)).To(Equal(want))
	}
	NewWithT(t).Expect(VisibleLines("a\n\tb\x1b")).To(Equal("a\n    b\\x1b"))
}

// Nothing that a subject says can steer a terminal.
func TestVisibleIsSafe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")) + rapid.String().Draw(rt, "text")
		out := Visible(in)
		if !utf8.ValidString(out) {
			rt.Fatalf("%q is not UTF-8", out)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\n' {
				rt.Fatalf("%U came through", r)
			}
		}
		if Visible(out) != out {
			rt.Fatalf("%q changes again", out)
		}
	})
}

func TestShorten(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Shorten("short", 10, 0)).To(Equal("short"))
	long := strings.Repeat("a", 500) + strings.Repeat("z", 500)
	s := Shorten(long, 100, 0)
	g.Expect(len([]rune(s))).To(BeNumerically("<=", 100))
	g.Expect(s).To(And(HavePrefix("aaa"), HaveSuffix("zzz"), ContainSubstring("… (1000 bytes) …")))
	g.Expect(Shorten("head", 100, 1<<20)).To(Equal("head … (1048576 bytes) …"), "what is left of a long one says so")
	g.Expect(utf8.ValidString(Shorten(strings.Repeat("😀", 200), 60, 0))).To(BeTrue())
}

func TestFrameText(t *testing.T) {
	g := NewWithT(t)
	g.Expect(frameText(NewFrame(0, "s2c", []byte("{\"a\":1}\n")))).To(Equal(`{"a":1}`))
	g.Expect(frameText(NewFrame(0, "s2c", []byte("\n")))).To(Equal("(an empty line)"))
	g.Expect(frameText(NewFrame(0, "s2c", []byte("a\r\n")))).To(Equal(`a\r`))
	g.Expect(frameText(NewFrame(0, "s2c", []byte("\xff\x1b")))).To(Equal(`\xff\x1b`))
	long := frameText(NewFrame(0, "s2c", []byte(strings.Repeat("x", 1<<20)+"\n")))
	g.Expect(long).To(ContainSubstring("(1048577 bytes)"))
	g.Expect(len([]rune(long))).To(BeNumerically("<=", showFrame))
}

func TestShellQuote(t *testing.T) {
	g := NewWithT(t)
	g.Expect(commandLine([]string{"node", "lib/bin.js", "a b", "", "it's", "--x=1"})).To(Equal(`node lib/bin.js 'a b' '' 'it'\''s' --x=1`))
	g.Expect(commandLine([]string{"a\x1bb"})).To(Equal(`'a\x1bb'`))
}
