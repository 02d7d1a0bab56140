package deadline

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

func TestWriteTellsWhatWasTaken(t *testing.T) {
	g := NewWithT(t)
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	text, told := make([]byte, 3*atOnce+1), 0
	written, _, err := Write(t.Context(), near, text, time.Hour, func(n int) { told += n })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(written).To(Equal(len(text)))
	g.Expect(told).To(Equal(len(text)))
	g.Expect(near.Close()).To(Succeed()) // which ends the copy
	_, waited, err := Write(t.Context(), near, text, time.Hour, nil)
	g.Expect(err).To(MatchError(io.ErrClosedPipe))
	g.Expect(waited).To(BeZero())
}

func TestWriteThatNobodyReads(t *testing.T) {
	g := NewWithT(t)
	near, far := net.Pipe()
	defer near.Close()
	const within = 5 * time.Millisecond
	written, waited, err := Write(t.Context(), near, []byte("hello"), within, nil)
	g.Expect(err).To(MatchError(os.ErrDeadlineExceeded))
	g.Expect(waited).To(Equal(within))
	g.Expect(written).To(BeZero())

	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		_, _ = far.Read(make([]byte, 2)) // the write is under way
		cancel(gone)
	}()
	written, waited, err = Write(ctx, near, []byte("hello"), time.Hour, nil)
	g.Expect(err).To(MatchError(gone))
	g.Expect(waited).To(BeZero())
	g.Expect(written).To(Equal(2))
	written, _, err = Write(ctx, near, []byte("hello"), time.Hour, nil)
	g.Expect(err).To(MatchError(gone), "nothing begins behind the end of the context")
	g.Expect(written).To(BeZero())
}

// slowToCut has a deadline that takes its time to be set.
type slowToCut struct {
	trickle
	begun, proceed chan struct{}
	set            *atomic.Bool
}

func (s slowToCut) SetWriteDeadline(time.Time) error {
	close(s.begun)
	<-s.proceed
	s.set.Store(true)
	return nil
}

func TestCutIsOverWhenItIsReleased(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	to := slowToCut{begun: make(chan struct{}), proceed: make(chan struct{}), set: new(atomic.Bool)}
	release := CutAtEnd(ctx, to)
	cancel()
	<-to.begun
	go close(to.proceed)
	release()
	g.Expect(to.set.Load()).To(BeTrue(), "else it would cut what is written next")
}

// trickle takes one byte in each deadline.
type trickle time.Duration

func (trickle) SetWriteDeadline(time.Time) error { return nil }

func (within trickle) Write([]byte) (int, error) {
	<-time.After(time.Duration(within))
	return 1, os.ErrDeadlineExceeded
}

func TestWriteGivesATrickleUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		const within = time.Second
		written, waited, err := Write(t.Context(), trickle(within), make([]byte, 10*lifetimes), within, nil)
		g.Expect(err).To(MatchError(os.ErrDeadlineExceeded))
		g.Expect(waited).To(BeNumerically(">", lifetimes*within))
		g.Expect(written).To(Equal(lifetimes+1), "who reads slowly does read")
	})
}
