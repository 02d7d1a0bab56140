package deadline

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestWaitEndsAsTheSightSays(t *testing.T) {
	g := NewWithT(t)
	gone := errors.New("gone")
	stir := make(chan struct{})
	close(stir) // something changes at every look
	looks := 0
	g.Expect(Wait(t.Context(), "it", time.Hour, func() Sight {
		looks++
		return Sight{Done: looks == 3, Stir: stir}
	})).To(Succeed())
	g.Expect(looks).To(Equal(3))
	g.Expect(Wait(t.Context(), "it", time.Hour, func() Sight {
		return Sight{Ended: func() error { return gone }}
	})).To(MatchError(gone))
	g.Expect(Wait(t.Context(), "it", time.Hour, func() Sight {
		return Sight{Done: true, Ended: func() error { return gone }}
	})).To(Succeed(), "what has come counts, whatever came behind it")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	g.Expect(Wait(ctx, "it", time.Hour, func() Sight { return Sight{} })).To(MatchError(ContainSubstring("waiting for it: gone")))
}

func TestSilenceEndsAWait(t *testing.T) {
	g := NewWithT(t)
	const within = 5 * time.Millisecond
	var silent *SilentError
	g.Expect(errors.As(Wait(t.Context(), "answer", within, func() Sight { return Sight{} }), &silent)).To(BeTrue())
	g.Expect(silent.Awaited).To(Equal("answer"))
	g.Expect(silent.After).To(BeNumerically(">=", within))

	stir := make(chan struct{})
	close(stir)
	// Bytes that will have moved in an hour: however slow this machine is, it is not silence that ends this.
	err := Wait(t.Context(), "answer", within, func() Sight { return Sight{Moved: time.Now().Add(time.Hour), Stir: stir} })
	g.Expect(errors.As(err, &silent)).To(BeTrue(), "a stream that never brings it is given up")
	g.Expect(silent.After).To(BeNumerically(">=", lifetimes*within))
}

func TestDeadlinesScaleTogether(t *testing.T) {
	g := NewWithT(t)
	g.Expect(New(0)).To(Equal(New(1)))
	g.Expect(New(2).Turn).To(Equal(2 * New(1).Turn))
	slow := New(1).Measured(time.Second)
	g.Expect(slow.Call).To(BeNumerically(">", New(1).Call))
	g.Expect(slow.Start).To(Equal(New(1).Start), "the start was measured already")
}
