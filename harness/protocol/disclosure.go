package protocol

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/wire"
)

// secretForms are the ways in which a secret shows: as it is, and inside of
// base64, where it looks different at each of three offsets. The characters at
// the edges of base64 depend on what stands beside it and are left out. A secret
// that is too short to be told from other text in base64 is looked for plainly.
func secretForms(secret string) [][]byte {
	if secret == "" {
		return nil
	}
	forms := [][]byte{[]byte(secret)}
	const enough = 12 // bytes
	if len(secret) < enough {
		return forms
	}
	for offset := range 3 {
		padded := append(make([]byte, offset), secret...)
		whole := len(padded) / 3 * 3 // the last group may go on with other bytes
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(padded[:whole])
			if offset > 0 {
				text = text[4:] // the first group begins with other bytes
			}
			forms = append(forms, []byte(text))
		}
	}
	return forms
}

// secrets judges a line of the server for what it must not disclose.
func (m *Monitor) secrets(l wire.Line) {
	for _, secret := range m.o.Secrets {
		m.apply("S-SEC-02")
		for _, form := range m.secretForms[secret] {
			if !bytes.Contains(l.Raw, form) {
				continue
			}
			hidden := l
			hidden.Raw = bytes.ReplaceAll(l.Raw, form, []byte("«key»"))
			m.violate("S-SEC-02", "the key of the model endpoint never shows on stdout", "a line that holds it", hidden)
			break
		}
	}
}

// stackFrame finds a frame of a stack trace, or the head of one, as common
// runtimes write them.
var stackFrame = regexp.MustCompile(strings.Join([]string{
	`(?m)^\s+at .+[:(].*\d+\)?$`,          // JavaScript: at f (file:1:2); Java: at C.f(C.java:1)
	`(?m)^\s+at .+ in .+:line \d+`,        // .NET
	`Traceback \(most recent call last\)`, // Python
	`(?m)^\s*File ".+", line \d+`,         // Python
	`goroutine \d+ \[`,                    // Go
	`\.go:\d+ \+0x[0-9a-f]+`,              // Go
	`thread '.*' panicked at`,             // Rust
	`(?m)^stack backtrace:`,               // Rust
	`\.rb:\d+:in `,                        // Ruby
}, "|"))

// stackMarks are in every text that stackFrame matches: looking for them is a
// hundred times cheaper.
var stackMarks = []string{"at ", "Traceback", "File ", "goroutine ", ".go:", "panicked", "stack backtrace", ".rb:"}

func findStackFrame(text string) string {
	if !slices.ContainsFunc(stackMarks, func(mark string) bool { return strings.Contains(text, mark) }) {
		return ""
	}
	return stackFrame.FindString(text)
}

// errorMessage judges the message of an error response: it is for a caller, and
// carries neither a stack trace nor what only the server's environment knows.
func (m *Monitor) errorMessage(l wire.Line, text string, q *Request) {
	m.apply("S-ERR-07")
	if frame := findStackFrame(text); frame != "" {
		m.violate("S-ERR-07", "no error message carries a stack trace", "it has "+Short(strings.TrimSpace(frame)), q.Line, l)
		return
	}
	for _, v := range m.o.Environment {
		if carries(text, v.Value) && !bytes.Contains(q.Line.Raw, []byte(v.Value)) {
			m.violate("S-ERR-07", "no error message carries the value of an environment variable", "it carries that of "+v.Name, q.Line, l)
			return
		}
	}
}

// shortestValue is the length, in bytes, from which the value of a variable is
// told from ordinary words.
const shortestValue = 8

// carries reports whether text has value as a whole. A directory that is the
// beginning of a longer path does not count: the longer path is another value.
func carries(text, value string) bool {
	if len(value) < shortestValue {
		return false
	}
	isPath := strings.HasPrefix(value, "/")
	for from := 0; ; {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return false
		}
		from += i + len(value)
		if from == len(text) {
			return true
		}
		next := text[from]
		letter := next == '_' || next == '-' || next >= '0' && next <= '9' || next >= 'A' && next <= 'Z' || next >= 'a' && next <= 'z'
		if !letter && !(isPath && next == '/') {
			return true
		}
	}
}
