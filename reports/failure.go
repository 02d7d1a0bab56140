package reports

import (
	"fmt"
	"strings"
)

// Lengths for humans: of a frame, and of what was expected and came.
const (
	showFrame = 220
	showWords = 1200
	showMany  = 8 // frames of one failure
)

// failureText says in plain text what is wrong with a requirement, and with which of its variants: sentence, source,
// expected, actual, frames, the command that repeats it. Everything that a subject had a hand in is made visible.
func failureText(q *Requirement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n  source: %s\n", q.ID, q.Level, q.Sentence, q.Source)
	sentences := map[string]string{}
	for _, v := range q.Variants {
		sentences[q.ID+"/"+v.Name] = v.Sentence
	}
	for _, p := range q.Parts() {
		if p.Outcome.Verdict.Sound() {
			continue
		}
		if p.ID != q.ID {
			fmt.Fprintf(&b, "  %s: %s\n", p.ID, sentences[p.ID])
		}
		outcomeText(&b, p.Outcome)
	}
	return b.String()
}

// outcomeText writes one outcome, indented.
func outcomeText(b *strings.Builder, o *Outcome) {
	if o.Known != nil {
		fmt.Fprintf(b, "  known: %s\n", Visible(oneLine(o.Known.Reason)))
	}
	if o.Reason != "" {
		labelled(b, reasonLabel(o.Verdict), o.Reason)
	}
	mismatchText(b, Mismatch{Expected: o.Expected, Actual: o.Actual, Frames: o.Frames})
	for i, m := range o.More {
		fmt.Fprintf(b, "  also (%d of %d):\n", i+1, len(o.More))
		mismatchText(b, m)
	}
	if d := o.Diagnosis; d != nil && (d.Exit != nil || d.Signal != "" || len(d.Left) > 0) {
		for _, l := range d.lines(6) {
			b.WriteString("  " + l + "\n")
		}
	}
	for _, file := range []struct{ what, path string }{{"transcript", o.Transcript}, {"input", o.Input}, {"script", o.Script}} {
		if file.path != "" {
			fmt.Fprintf(b, "  %s: %s\n", file.what, Visible(file.path))
		}
	}
	if o.Repeat != "" {
		fmt.Fprintf(b, "  repeat: %s\n", Visible(o.Repeat))
	}
}

func reasonLabel(v Verdict) string {
	switch v {
	case NotReached:
		return "not reached"
	case Error:
		return "could not be judged"
	}
	return "reason"
}

func mismatchText(b *strings.Builder, m Mismatch) {
	if m.Expected != "" {
		labelled(b, "expected", m.Expected)
	}
	if m.Actual != "" {
		labelled(b, "actual", m.Actual)
	}
	if len(m.Frames) == 0 {
		return
	}
	b.WriteString("  frames:\n")
	frames := m.Frames
	if n := len(frames) - showMany; n > 0 {
		fmt.Fprintf(b, "    … %d before\n", n)
		frames = frames[n:]
	}
	for _, f := range frames {
		fmt.Fprintf(b, "    %9.3fs %s %s\n", f.T, arrow(f.Dir), frameText(f))
	}
}

// labelled writes a text that may have several lines behind a label.
func labelled(b *strings.Builder, label, text string) {
	text = Shorten(VisibleLines(strings.TrimRight(text, "\n")), showWords, len(text))
	fmt.Fprintf(b, "  %s: %s\n", label, strings.ReplaceAll(text, "\n", "\n    "))
}

// arrow shows a direction as seen between the two ends: the client on the left, the server on the right.
func arrow(dir string) string {
	switch dir {
	case "c2s":
		return "-->   "
	case "s2c":
		return "<--   "
	default:
		return fmt.Sprintf("%-6s", Visible(dir))
	}
}

// frameText shows the bytes of a frame in one short line; the LF that ends every frame is left out.
func frameText(f Frame) string {
	raw := string(f.Data())
	total := max(f.Bytes, len(raw))
	if f.Bytes == 0 {
		raw = strings.TrimSuffix(raw, "\n")
	}
	if raw == "" {
		return "(an empty line)"
	}
	s := Visible(raw)
	if f.Bytes == 0 && len([]rune(s)) <= showFrame {
		return s
	}
	return Shorten(s, showFrame, total)
}
