package spec

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestASpinEndsEarly(t *testing.T) {
	g := NewWithT(t)
	stop := make(chan struct{})
	close(stop)
	g.Expect(Spin(time.Hour, nil, stop)).To(BeNumerically("<", time.Hour))
	window := 20 * time.Millisecond
	start := time.Now()
	ran := Spin(window)
	g.Expect(ran).To(BeNumerically("<=", time.Since(start)))
}
