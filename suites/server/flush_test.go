package server

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestTheFirstDifferenceOfTwoTexts(t *testing.T) {
	g := NewWithT(t)
	g.Expect(differs("abc", "abcdef")).To(Equal("ends at byte 3 of 6"))
	g.Expect(differs("abcdef", "abc")).To(Equal("goes on behind its 3 bytes"))
	g.Expect(differs("abXdef", "abcdef")).To(Equal("is another one from byte 2 of 6 on"))
}

func TestASpinEndsEarly(t *testing.T) {
	g := NewWithT(t)
	stop := make(chan struct{})
	close(stop)
	g.Expect(spin(time.Hour, nil, stop)).To(BeNumerically("<", time.Hour))
	window := 20 * time.Millisecond
	start := time.Now()
	ran := spin(window)
	g.Expect(ran).To(BeNumerically("<=", time.Since(start)))
}
