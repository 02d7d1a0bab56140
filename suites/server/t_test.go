package server

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/suites/spec"
)

// A subject that dies of what a spec wrote does so before the next write or behind it, by chance: both are left to
// whoever waits for the answer. One that was dead from the start is no verdict.
func TestWriteToASubjectThatHasDied(t *testing.T) {
	died := error(&harness.DiedError{Awaited: "it had read what was written to it"})
	one, another := &harness.Server{}, &harness.Server{}
	x := &T{T: &spec.T{Ctx: context.Background()}}
	ends := func(s *harness.Server, err error) (ended bool) {
		defer func() { ended = recover() != nil }()
		x.taken("write", s, err)
		return false
	}
	g := NewWithT(t)
	g.Expect(ends(one, died)).To(BeTrue(), "it has taken nothing of this spec")
	g.Expect(ends(one, nil)).To(BeFalse())
	g.Expect(ends(one, died)).To(BeFalse())
	g.Expect(ends(another, died)).To(BeTrue())
	g.Expect(ends(one, errors.New("it does not read its stdin"))).To(BeTrue())
}
