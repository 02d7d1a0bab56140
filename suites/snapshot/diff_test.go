package snapshot

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	g := NewWithT(t)
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n"
	after := "a\nb\nC\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\n"
	g.Expect(unified("old", "new", before, before)).To(BeEmpty())
	g.Expect(unified("old", "new", before, after)).To(Equal(`--- old
+++ new
@@ -1,6 +1,6 @@
 a
 b
-c
+C
 d
 e
 f
@@ -11,3 +11,4 @@
 k
 l
 m
+n
`))
	g.Expect(unified("old", "new", "a\n", "a\nb\n")).To(HaveSuffix("@@ -1,1 +1,2 @@\n a\n+b\n"))
}

// Applying a diff to the old text gives the new one, and no diff says more than it has to.
func TestUnifiedIsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 40)
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		var old, now []string
		for _, e := range compare(a, b) {
			if e.op != '+' {
				old = append(old, e.line)
			}
			if e.op != '-' {
				now = append(now, e.line)
			}
		}
		if strings.Join(old, "") != strings.Join(a, "") || strings.Join(now, "") != strings.Join(b, "") {
			t.Fatalf("the edits lead from %v to %v", old, now)
		}
		if got := apply(t, a, unified("o", "n", strings.Join(a, "\n"), strings.Join(b, "\n"))); strings.Join(got, "") != strings.Join(b, "") {
			t.Fatalf("the hunks lead to %v", got)
		}
	})
}

// apply carries out a unified diff.
func apply(t *rapid.T, old []string, diff string) (out []string) {
	at := 0
	for _, l := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case l == "", strings.HasPrefix(l, "---"), strings.HasPrefix(l, "+++"):
		case strings.HasPrefix(l, "@@"):
			from := 0
			for _, d := range strings.TrimPrefix(l, "@@ -") {
				if d < '0' || d > '9' {
					break
				}
				from = from*10 + int(d-'0')
			}
			out = append(out, old[at:from-1]...)
			at = from - 1
		case l[0] == '+':
			out = append(out, l[1:])
		default:
			if old[at] != l[1:] {
				t.Fatalf("line %d is %q, not %q", at+1, old[at], l[1:])
			}
			if at++; l[0] == ' ' {
				out = append(out, l[1:])
			}
		}
	}
	return append(out, old[at:]...)
}
