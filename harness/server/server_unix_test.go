//go:build linux || darwin

package server_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

func TestASoundServerIsServedToItsEnd(t *testing.T) {
	s, g, ctx := initialized(t, "sound", nil)
	g.Expect(s.Startup()).To(BeNumerically(">", 0))
	g.Expect(s.Barrier(ctx)).To(Succeed())
	g.Expect(s.Fit()).To(BeTrue())
	e, err := s.Shutdown(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(e.Exited).To(BeTrue())
	g.Expect(e.Exit.Success()).To(BeTrue())
	g.Expect(e.Left).To(BeEmpty())
	g.Expect(e.Drain).NotTo(HaveOccurred())
	g.Expect(s.rows()).To(BeEmpty())
	g.Expect(s.Exercised("S-SHD-01")).To(Equal(1))
	g.Expect(s.Fit()).To(BeFalse())
	g.Expect(s.AwaitExit(ctx)).To(Equal(e), "an end is told as often as it is asked for")
	g.Expect(s.Stop(ctx)).To(Equal(e))
}

func TestSilenceIsNotDeath(t *testing.T) {
	s, g, ctx := begin(t, "silent", func(d *server.Deadlines) { d.Call = soon })
	c, err := s.Send(ctx, "anything", nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Answer(ctx)
	var silent *server.SilentError
	g.Expect(errors.As(err, &silent)).To(BeTrue(), "%v", err)
	g.Expect(err.Error()).To(HavePrefix("no response to anything"))
	_, err = s.Shutdown(ctx)
	g.Expect(errors.As(err, &silent)).To(BeTrue(), "%v", err)
	g.Expect(s.rows()).To(Equal([]string{"S-SHD-01"}), "of a process that was killed nothing else is owed")
}

func TestDeathIsNotSilence(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		s, g, ctx := begin(t, "dies-at-once", nil)
		err := s.Initialize(ctx)
		var died *server.DiedError
		g.Expect(errors.As(err, &died)).To(BeTrue(), "%v", err)
		g.Expect(died.Exited).To(BeTrue())
		g.Expect(died.Exit.Code).To(Equal(7))
		g.Expect(s.AwaitExit(ctx).Stderr.Tail).To(ContainSubstring("no such profile"))
	})
	t.Run("half way through a frame", func(t *testing.T) {
		s, g, ctx := initialized(t, "dies-half-way", nil)
		c, err := s.Send(ctx, "anything", nil)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = c.Answer(ctx)
		var died *server.DiedError
		g.Expect(errors.As(err, &died)).To(BeTrue(), "%v", err)
		g.Expect(died.Exit.Code).To(Equal(3))
		g.Expect(s.Fit()).To(BeFalse())
		g.Expect(s.rows()).To(Equal([]string{"S-FRM-01"}), "stdout ended inside a line")
		e := s.AwaitExit(ctx)
		g.Expect(string(e.Stderr.Tail)).To(Equal("out of luck\n"))
	})
	t.Run("stdout closed by a process that lives on", func(t *testing.T) {
		s, g, ctx := begin(t, "closes-stdout", func(d *server.Deadlines) { d.Leave = soon })
		err := s.Initialize(ctx)
		var died *server.DiedError
		g.Expect(errors.As(err, &died)).To(BeTrue(), "%v", err)
		g.Expect(died.Exited).To(BeFalse())
		g.Expect(err.Error()).To(HavePrefix("stdout ended"))
	})
}

func TestAFloodIsBounded(t *testing.T) {
	for role, what := range map[string]string{
		"junk": "no frame", "blank": "no frame", "frames": "nobody waits", "small-frames": "nobody waits", "endless-line": "does not end",
	} {
		t.Run(role, func(t *testing.T) {
			s, g, ctx := begin(t, role, func(d *server.Deadlines) { d.Call = patience })
			err := s.Await(ctx, "anything", 0, patience, func([]server.Entry) bool { return false })
			var flood *server.FloodError
			g.Expect(errors.As(err, &flood)).To(BeTrue(), "%v", err)
			g.Expect(err.Error()).To(ContainSubstring(what))
			g.Expect(s.Fit()).To(BeFalse())
			kept := 0
			for _, e := range s.Since(0) {
				kept += len(e.Raw) + 512
			}
			g.Expect(kept).To(BeNumerically("<=", mostKept+1<<20), "what is kept is bounded")
			g.Expect(s.AwaitExit(ctx).Exited).To(BeTrue(), "the pipe was closed, so that the subject is not stuck in it")
		})
	}
}

// A slow stream is no silence: each byte puts the deadline off, whether it ends a line or not.
func TestBytesInsideALineMove(t *testing.T) {
	s, g, _ := begin(t, "trickle", nil)
	last := time.Time{}
	for range 3 {
		g.Eventually(s.LastMoved, patience).Should(BeTemporally(">", last))
		last = s.LastMoved()
	}
	g.Expect(s.Since(0)).To(BeEmpty())
}

func TestWritesAreBounded(t *testing.T) {
	t.Run("to one who does not read", func(t *testing.T) {
		s, g, ctx := begin(t, "reads-nothing", func(d *server.Deadlines) { d.Write = soon })
		line := server.Frame(s.NewID(), "anything", map[string]any{"pad": strings.Repeat("x", 1<<20)})
		requests, err := s.Write(ctx, line)
		var write *server.WriteError
		g.Expect(errors.As(err, &write)).To(BeTrue(), "%v", err)
		g.Expect(err.Error()).To(ContainSubstring("does not read its stdin"))
		g.Expect(write.Written).To(And(BeNumerically(">", 0), BeNumerically("<", len(line))))
		g.Expect(int64(write.Written)).To(Equal(s.Written()))
		g.Expect(requests).To(HaveLen(1))
		g.Expect(requests[0].Disowned).To(BeTrue(), "nothing is owed for what could not be read")
		g.Expect(s.Fit()).To(BeFalse(), "its stdin stands inside a line")
	})
	t.Run("to one who has closed stdin", func(t *testing.T) {
		s, g, ctx := begin(t, "closes-stdin", func(d *server.Deadlines) { d.Leave = soon })
		g.Eventually(func() error { _, err := s.Send(ctx, "anything", nil); return err }, patience).
			Should(MatchError(ContainSubstring("the server lives and has closed its stdin")))
	})
	t.Run("to one who has died", func(t *testing.T) {
		s, g, ctx := begin(t, "dies-at-once", nil)
		g.Eventually(s.Process().Exited(), patience).Should(BeClosed())
		_, err := s.Send(ctx, "anything", nil)
		var died *server.DiedError
		g.Expect(errors.As(err, &died)).To(BeTrue(), "%v", err)
		g.Expect(died.Exit.Code).To(Equal(7))
	})
	t.Run("to one who reads slowly", func(t *testing.T) {
		s, g, ctx := begin(t, "slow-reader", nil)
		_, err := s.Write(ctx, append(bytes.Repeat([]byte("x"), 2<<20), '\n'))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Written()).To(Equal(int64(2<<20 + 1)))
	})
	t.Run("by a context that ends", func(t *testing.T) {
		s, g, ctx := begin(t, "reads-nothing", func(d *server.Deadlines) { d.Write = patience })
		ctx, cancel := context.WithTimeoutCause(ctx, soon, errors.New("enough"))
		defer cancel()
		_, err := s.Write(ctx, bytes.Repeat([]byte("x"), 1<<20))
		g.Expect(err).To(MatchError(ContainSubstring("enough")))
	})
	t.Run("by the end of the process", func(t *testing.T) {
		s, g, ctx := begin(t, "reads-nothing", func(d *server.Deadlines) { d.Write = patience })
		failed := make(chan error)
		go func() {
			_, err := s.Write(ctx, bytes.Repeat([]byte("x"), 1<<20))
			failed <- err
		}()
		g.Eventually(s.Written, patience).Should(BeNumerically(">", 0))
		s.Stop(ctx)
		g.Eventually(failed, patience).Should(Receive(HaveOccurred()))
	})
	t.Run("behind the end of the input", func(t *testing.T) {
		s, g, ctx := begin(t, "silent", nil)
		g.Expect(s.CloseInput()).To(Succeed())
		g.Expect(s.CloseInput()).To(Succeed())
		_, err := s.Send(ctx, "anything", nil)
		g.Expect(err).To(MatchError(ContainSubstring("the suite has closed it")))
		g.Expect(s.AwaitExit(ctx).Exited).To(BeTrue())
	})
}

func TestAStalledReader(t *testing.T) {
	t.Run("gets everything once it reads", func(t *testing.T) {
		s, g, ctx := initialized(t, "big-answers", nil)
		resume := s.Stall()
		var calls []*server.Call
		for range 64 { // 2 MiB of answers, far above what a pipe and one read take
			c, err := s.Send(ctx, "anything", nil)
			g.Expect(err).NotTo(HaveOccurred())
			calls = append(calls, c)
		}
		if _, known := s.Unread(); known {
			g.Eventually(func() int { n, _ := s.Unread(); return n }, patience).Should(BeNumerically(">=", 32<<10))
			_, all := calls[63].Now()
			g.Expect(all).To(BeFalse())
		}
		resume()
		resume()
		for _, c := range calls {
			_, err := c.Answer(ctx)
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(s.rows()).To(BeEmpty())
	})
	t.Run("stalls again", func(t *testing.T) {
		s, g, ctx := initialized(t, "sound", nil)
		first, second := s.Stall(), s.Stall()
		first() // of a stall that was replaced
		second()
		g.Expect(s.Barrier(ctx)).To(Succeed())
		first()
		g.Expect(s.Barrier(ctx)).To(Succeed())
	})
	t.Run("is woken by the end", func(t *testing.T) {
		s, g, ctx := initialized(t, "sound", nil)
		resume := s.Stall()
		g.Expect(s.CloseInput()).To(Succeed())
		g.Expect(s.AwaitExit(ctx).Exited).To(BeTrue())
		resume()
		s.Stall()()
	})
	t.Run("is woken by the closing of stdout", func(t *testing.T) {
		s, g, _ := initialized(t, "sound", nil)
		resume := s.Stall()
		g.Expect(s.CloseOutput()).To(Succeed())
		g.Expect(s.CloseOutput()).To(Succeed())
		resume()
	})
}

func TestFrames(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(server.Frame(wire.StringID("a"), "m", nil))).To(Equal(`{"jsonrpc":"2.0","id":"a","method":"m"}` + "\n"))
	g.Expect(string(server.Frame(wire.ID{}, "m", map[string]any{"b": 1, "a": 2}))).To(Equal(`{"jsonrpc":"2.0","method":"m","params":{"a":2,"b":1}}` + "\n"))
}

func TestALineThatIsNoRequestIsAMistakeOfTheSuite(t *testing.T) {
	s, g, ctx := initialized(t, "sound", nil)
	_, err := s.SendLine(ctx, []byte("hello\n"))
	g.Expect(err).To(MatchError(ContainSubstring("no request")))
}

func TestDeadlinesMoveTogether(t *testing.T) {
	g := NewWithT(t)
	one, two := deadline.New(0), deadline.New(2)
	g.Expect(two.Call).To(Equal(2 * one.Call))
	g.Expect(two.Grace).To(Equal(2 * one.Grace))
	slow := one.Measured(3 * time.Second)
	for name, pair := range map[string][2]time.Duration{
		"call": {one.Call, slow.Call}, "turn": {one.Turn, slow.Turn}, "exit": {one.Exit, slow.Exit}, "leave": {one.Leave, slow.Leave}, "grace": {one.Grace, slow.Grace},
	} {
		g.Expect(pair[1]).To(BeNumerically(">", pair[0]), name)
	}
}

func TestStartErrorsAreTheSubjects(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	l := server.Launch{Monitor: protocol.Options{}}
	l.Command.Argv, l.Command.Supervisor = []string{"./no-such-program"}, []string{self, "supervise"}
	_, err = l.Start(context.Background())
	g.Expect(err).To(MatchError(ContainSubstring("./no-such-program")))
}
