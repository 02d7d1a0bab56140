package client

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/suites/requirements"
)

func TestEveryRequirementOnClientsHasItsSpecs(t *testing.T) {
	g := NewWithT(t)
	cat, err := requirements.Load()
	g.Expect(err).NotTo(HaveOccurred())
	done := Implemented(cat)
	for _, row := range cat.Rows(requirements.Client) {
		for _, id := range append(row.IDs(), row.ID) {
			g.Expect(done).To(HaveKeyWithValue(id, true))
		}
	}
	for _, row := range cat.Rows(requirements.Server) {
		g.Expect(done).NotTo(HaveKey(row.ID))
	}
}

func TestCutsAreInsideOfCharacters(t *testing.T) {
	g := NewWithT(t)
	text := []byte("aé你𝒳b")
	pieces := inCharacters(text)
	g.Expect(bytes.Join(pieces, nil)).To(Equal(text))
	g.Expect(pieces).To(HaveLen(1+1+2+3), "one more than é, 你 and 𝒳 have places inside")
	at := 0
	for _, p := range pieces[:len(pieces)-1] {
		at += len(p)
		g.Expect(utf8.RuneStart(text[at])).To(BeFalse(), "byte %d", at)
	}
	g.Expect(inCharacters([]byte("plain"))).To(HaveLen(1))
}

func TestMembersAreLeftOutWithoutAValue(t *testing.T) {
	g := NewWithT(t)
	g.Expect(members("status", absent, "reason", jsontext.Value(`{}`))).To(Equal(jsontext.Value(`{"reason":{}}`)))
	g.Expect(members("a", harness.Encode(1), "b", harness.Encode("two"))).To(Equal(jsontext.Value(`{"a":1,"b":"two"}`)))
	g.Expect(members("status", absent)).To(Equal(jsontext.Value(`{}`)))
}

func TestAnyTextIsTextOfOneRuneAtLeast(t *testing.T) {
	g := NewWithT(t)
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		text := anyText(r)
		g.Expect(text).NotTo(BeEmpty())
		g.Expect(utf8.ValidString(text)).To(BeTrue())
		g.Expect(text).NotTo(ContainSubstring("\x00"))
	}
}

func TestTheDifferenceOfTwoTexts(t *testing.T) {
	g := NewWithT(t)
	g.Expect(differs("abXd", "abcd")).To(HavePrefix("from byte 2 on it is another one"))
	g.Expect(differs("ab", "abcd")).To(Equal("it has 2 bytes of 4"))
}

func TestRungsThatAreReached(t *testing.T) {
	for _, c := range []struct {
		steps int // of the rung
		seen  []string
		last  int // -1 where it is not reached
	}{
		{1, []string{"shutdown"}, 0},
		{1, []string{"shutdown", "SIGTERM", "stdin ended"}, 0}, // it was ending
		{1, []string{"shutdown", "SIGTERM"}, 0},
		{1, []string{"stdin ended", "shutdown"}, -1},
		{2, []string{"shutdown", "SIGTERM"}, -1},
		{3, []string{"shutdown", "SIGTERM", "stdin ended"}, -1},
		{1, nil, -1},
		{2, []string{"shutdown", "stdin ended", "SIGTERM"}, 1},
		{2, []string{"shutdown", "SIGINT"}, -1}, // which has ended the runtime
		{2, []string{"shutdown", "SIGHUP", "stdin ended"}, 2},
		{3, []string{"shutdown", "stdin ended", "SIGINT"}, 2},
		{3, []string{"shutdown", "stdin ended", "killed"}, -1},
		{3, []string{"SIGINT", "shutdown", "stdin ended", "SIGTERM"}, 3},
		{4, []string{"shutdown", "stdin ended", "SIGINT", "SIGTERM", "killed"}, 4},
		{4, []string{"shutdown", "stdin ended", "SIGINT", "killed"}, -1},
		{4, []string{"shutdown", "stdin ended", "SIGTERM", "SIGINT", "SIGHUP", "killed"}, 5},
	} {
		last, ok := rung{steps: allSteps[:c.steps]}.reached(c.seen)
		g := NewWithT(t)
		g.Expect(ok).To(Equal(c.last >= 0), "%v", c.seen)
		if ok {
			g.Expect(last).To(Equal(c.last), "%v", c.seen)
		}
	}
}
