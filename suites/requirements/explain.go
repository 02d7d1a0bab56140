package requirements

import (
	"fmt"
	"io"
	"strings"
)

// explainWidth is the width of what Explain prints: readable in any terminal, the same in a pipe.
const explainWidth = 88

// Explain writes everything that the catalogue says about a requirement, or about a variant of one, as plain text.
// The error of an unknown id wraps ErrUnknown and says what there is instead.
func (c *Catalogue) Explain(w io.Writer, id string) error {
	row, variant, err := c.Lookup(id)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s\n\n", JoinID(row.ID, variant), row.Level, row.Role, strings.ToLower(row.FamilyTitle))
	paragraph(&b, "", row.SentenceOf(variant))
	b.WriteByte('\n')
	field(&b, "Profiles", profileList(row))
	for _, s := range row.Source {
		src, _ := c.Source(s)
		field(&b, "Source", fmt.Sprintf("%s. %s. %s", s, src.From, src.Text))
	}
	field(&b, "Revision", revisionText(row))
	for _, n := range row.NeedsOf(variant) {
		k, _ := c.Capability(n)
		field(&b, "Needs", fmt.Sprintf("%s: %s", n, k.Sentence))
	}
	b.WriteByte('\n')
	if variant == "" && len(row.Variants) > 0 {
		b.WriteString("Variants, each with a verdict of its own:\n")
		for _, v := range row.Variants {
			line := v.Sentence
			if len(v.Needs) > 0 {
				line += " (needs " + strings.Join(v.Needs, ", ") + ")"
			}
			hanging(&b, "  "+pad(JoinID(row.ID, v.Name), 26), line)
		}
		b.WriteByte('\n')
	}
	section(&b, "How it is tested", row.Tested)
	if row.Monitor {
		paragraph(&b, "", "It is judged by the monitor alone: nothing that the suite sends provokes it on a sound "+
			string(row.Role)+", so it is not applicable where its situation never arose.")
		b.WriteByte('\n')
	}
	section(&b, "What usually breaks it", row.Breaks)
	section(&b, "Where it departs from JSON-RPC 2.0", row.Departs)
	section(&b, "Why", row.Why)
	b.WriteString(levelText[row.Level] + "\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("explaining %s: %w", id, err)
	}
	return nil
}

var levelText = map[Level]string{
	Must:    "MUST: a violation fails the run.",
	Should:  "SHOULD: a violation is a warning, and fails the run under --strict.",
	Observe: "OBSERVE: there is no right answer; what happens is recorded and can be compared.",
}

func profileList(r Row) string {
	if r.AllProfiles() {
		return "all (" + strings.Join(r.Profiles, ", ") + ")"
	}
	return strings.Join(r.Profiles, ", ")
}

func revisionText(r Row) string {
	s := "since " + r.Since
	for _, re := range r.Revised {
		s += fmt.Sprintf("; revised in %s: %s", re.In, strings.TrimSuffix(re.What, "."))
	}
	return s
}

func section(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	b.WriteString(title + "\n")
	paragraph(b, "  ", text)
	b.WriteByte('\n')
}

func field(b *strings.Builder, name, text string) { hanging(b, pad(name, 10), text) }

func paragraph(b *strings.Builder, indent, text string) { wrapInto(b, indent, indent, text) }

// hanging writes a text behind a head, with the lines that follow indented as far.
func hanging(b *strings.Builder, head, text string) {
	wrapInto(b, head, strings.Repeat(" ", len([]rune(head))), text)
}

func wrapInto(b *strings.Builder, first, rest, text string) {
	line, room := first, explainWidth-len([]rune(first))
	empty := true
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		if !empty && n+1 > room {
			b.WriteString(line + "\n")
			line, room, empty = rest, explainWidth-len([]rune(rest)), true
		}
		if !empty {
			line, room = line+" ", room-1
		}
		line, room, empty = line+word, room-n, false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func pad(s string, n int) string {
	if len(s) >= n {
		return s + " "
	}
	return s + strings.Repeat(" ", n-len(s))
}
