//go:build linux || darwin

package server_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/server"
)

func TestTheEndByShutdownIsJudged(t *testing.T) {
	for role, says := range map[string]string{
		"wrong-code":             "exit status 4",
		"silent-at-shutdown":     "before response to shutdown",
		"stays-after-shutdown":   "no exit after shutdown",
		"streams-after-shutdown": "no exit after shutdown",
	} {
		t.Run(role, func(t *testing.T) {
			s, g, ctx := initialized(t, role, func(d *server.Deadlines) {
				if strings.HasSuffix(role, "s-after-shutdown") {
					d.Exit = soon
				}
			})
			_, err := s.Shutdown(ctx)
			g.Expect(err).To(MatchError(ContainSubstring(says)))
			g.Expect(s.rows()).To(ContainElement("S-SHD-01"))
			if role == "wrong-code" || role == "silent-at-shutdown" {
				g.Expect(s.rows()).To(HaveLen(1), "what is lost is told once")
			}
		})
	}
}

func TestTheEndOfTheInput(t *testing.T) {
	s, g, ctx := initialized(t, "sound", nil)
	g.Expect(s.CloseInput()).To(Succeed())
	e := s.AwaitExit(ctx)
	g.Expect(e.Exited).To(BeTrue())
	g.Expect(e.Exit.Success()).To(BeTrue())
	g.Expect(s.rows()).To(BeEmpty())
}

func TestHalfAFrameAtTheEndOfTheInputIsNoFault(t *testing.T) {
	s, g, ctx := begin(t, "half-frame-at-eof", nil)
	g.Expect(s.CloseInput()).To(Succeed())
	e := s.AwaitExit(ctx)
	g.Expect(e.Exited).To(BeTrue())
	g.Expect(s.rows()).To(BeEmpty())
	last := s.Since(0)[len(s.Since(0))-2] // the last is the note of the end
	g.Expect(last.Terminated()).To(BeFalse())
}

func TestASubjectThatStaysIsEnded(t *testing.T) {
	t.Run("at the end of its input", func(t *testing.T) {
		s, g, ctx := begin(t, "deaf", func(d *server.Deadlines) { d.Exit = soon })
		g.Expect(s.CloseInput()).To(Succeed())
		e := s.AwaitExit(ctx)
		g.Expect(e.Exited).To(BeFalse())
		g.Expect(e.Exit.Signal).To(Equal("SIGKILL"))
	})
	t.Run("at SIGTERM", func(t *testing.T) {
		s, g, ctx := begin(t, "deaf", func(d *server.Deadlines) { d.Exit = soon })
		if _, signals := process.Capabilities(); !signals {
			t.Skip("no signals here")
		}
		g.Eventually(func() string { return string(s.Process().Stderr().Tail) }, patience).Should(Equal("deaf\n"))
		g.Expect(s.Terminate()).To(Succeed())
		g.Expect(s.AwaitExit(ctx).Exited).To(BeFalse())
	})
	t.Run("by a context that ends", func(t *testing.T) {
		s, g, ctx := begin(t, "deaf", nil)
		ctx, cancel := context.WithTimeout(ctx, soon)
		defer cancel()
		g.Expect(s.CloseInput()).To(Succeed())
		g.Expect(s.AwaitExit(ctx).Exited).To(BeFalse())
	})
}

func TestATermSignalEndsASubject(t *testing.T) {
	s, g, ctx := initialized(t, "sound", nil)
	g.Expect(s.Terminate()).To(Succeed())
	e := s.AwaitExit(ctx)
	g.Expect(e.Exited).To(BeTrue())
	g.Expect(e.Exit.Signal).To(Equal("SIGTERM"))
	g.Expect(errors.Is(s.Terminate(), os.ErrProcessDone)).To(BeTrue())
}

func TestWhatASubjectLeavesIsFoundAndEnded(t *testing.T) {
	for _, role := range []string{"leaves-a-child", "leaves-a-child-on-stdout"} {
		t.Run(role, func(t *testing.T) {
			if tree, _ := process.Capabilities(); !tree {
				t.Skip("no view of the tree here")
			}
			s, g, ctx := initialized(t, role, func(d *server.Deadlines) { d.Leave = soon })
			e, err := s.Shutdown(ctx)
			g.Expect(err).NotTo(HaveOccurred(), "S-SHD-01 is not about children")
			g.Expect(e.Left).To(HaveLen(1))
			g.Expect(s.rows()).To(Equal([]string{"S-PRC-01"}))
			g.Expect(s.Exercised("S-PRC-01")).To(Equal(1))
		})
	}
}

func TestStopTwiceAtOnce(t *testing.T) {
	s, g, ctx := begin(t, "deaf", nil)
	ends := make(chan server.Ending, 2)
	for range 2 {
		go func() { ends <- s.Stop(ctx) }()
	}
	var first, second server.Ending
	g.Eventually(ends, patience).Should(Receive(&first))
	g.Eventually(ends, patience).Should(Receive(&second))
	g.Expect(second).To(Equal(first))
}

func TestADeafClientIsNoReasonToWait(t *testing.T) {
	// Whoever closed stdout can still end the process, and what it wrote to nobody
	// is owed to nobody.
	s, g, ctx := initialized(t, "big-answers", func(d *server.Deadlines) { d.Exit = time.Minute })
	g.Expect(s.CloseOutput()).To(Succeed())
	_, err := s.Send(ctx, "anything", nil)
	g.Expect(err).NotTo(HaveOccurred())
	e := s.AwaitExit(ctx)
	g.Expect(e.Exited).To(BeTrue())
	g.Expect(s.rows()).To(BeEmpty())
}
