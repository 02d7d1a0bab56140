package server

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheFirstDifferenceOfTwoTexts(t *testing.T) {
	g := NewWithT(t)
	g.Expect(differs("abc", "abcdef")).To(Equal("ends at byte 3 of 6"))
	g.Expect(differs("abcdef", "abc")).To(Equal("goes on behind its 3 bytes"))
	g.Expect(differs("abXdef", "abcdef")).To(Equal("is another one from byte 2 of 6 on"))
}
