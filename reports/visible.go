package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes text safe and readable on a terminal, in one line: control characters, bytes that are not UTF-8,
// and characters that reorder or hide text are written as escapes (\n, \x1b, \u{202e}). Everything else stays as it
// is, backslashes included, because frames are full of them: the result is for reading, not for decoding.
func Visible(s string) string { return visible(s, false) }

// VisibleLines is Visible for text of several lines: LF stays, and tabs become spaces.
func VisibleLines(s string) string { return visible(s, true) }

func visible(s string, lines bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case lines && r == '\n':
			b.WriteByte('\n')
		case lines && r == '\t':
			b.WriteString("    ")
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hidden says whether a character does not show, or moves others: C1 controls (some terminals obey them), format
// characters such as bidirectional overrides and byte order marks, separators of lines, private use, unassigned.
func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// plain says whether there is nothing to do, which is the usual case.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Shorten cuts visible text in its middle to at most n characters and says how many bytes the whole had. The head is
// longer than the tail: method and id stand at the start of a frame, and what was cut off at its end.
func Shorten(s string, n, total int) string {
	if total < len(s) {
		total = len(s)
	}
	runes := []rune(s)
	if len(runes) <= n && total == len(s) {
		return s
	}
	note := fmt.Sprintf(" … (%d bytes) … ", total)
	room := max(n-utf8.RuneCountInString(note), 16)
	if len(runes) <= room {
		return s + strings.TrimRight(note, " ")
	}
	head := room * 3 / 4
	return string(runes[:head]) + note + string(runes[len(runes)-(room-head):])
}

// oneLine brings a text to its first line that says something.
func oneLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
