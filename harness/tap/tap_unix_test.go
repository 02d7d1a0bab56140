//go:build unix

package tap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

func TestEveryBytePasses(t *testing.T) {
	g := NewWithT(t)
	c := tapFake(t, "cat", nil)
	random := rand.NewChaCha8([32]byte{1})
	sent := make([]byte, 8<<20)
	_, _ = random.Read(sent)
	var write sync.WaitGroup
	write.Go(func() {
		defer c.in.Close()
		for rest := sent; len(rest) > 0; {
			n := min(1+int(random.Uint64()%100_000), len(rest))
			if _, err := c.in.Write(rest[:n]); err != nil {
				t.Errorf("write: %v", err)
				return
			}
			rest = rest[n:]
		}
	})
	got := c.rest()
	write.Wait()
	g.Expect(bytes.Equal(got, sent)).To(BeTrue(), "%d bytes of %d", len(got), len(sent))
	r := c.ended()
	g.Expect(r.Status).To(Equal(0))
	g.Expect(r.End).To(Equal("exit status 0"))
	g.Expect(r.Violations()).To(BeNumerically(">", 0), "junk is no conversation")
}

func TestStatusIsTheServers(t *testing.T) {
	for what, want := range map[string]int{"exit:0": 0, "exit:7": 7, "exit:255": 255, "kill": 128 + 9} {
		c := tapFake(t, what, nil)
		r := c.ended()
		NewWithT(t).Expect(r.Status).To(Equal(want), what)
		NewWithT(t).Expect(c.rest()).To(BeEmpty())
	}
}

func TestServerThatCantBeStarted(t *testing.T) {
	g := NewWithT(t)
	script := t.TempDir() + "/not-executable"
	g.Expect(os.WriteFile(script, []byte("#!/bin/sh\n"), 0o644)).To(Succeed())
	for name, want := range map[string]int{"no-such-command-anywhere": 127, "/no/such/file": 127, script: 126, t.TempDir(): 126} {
		_, err := Run(Options{Argv: []string{name}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		var start *StartError
		g.Expect(errors.As(err, &start)).To(BeTrue(), "%s: %v", name, err)
		g.Expect(start.Status()).To(Equal(want), "%s: %v", name, err)
		g.Expect(start.Error()).To(HavePrefix(name + ": "))
	}
}

func TestClientEndsItsHalf(t *testing.T) {
	g := NewWithT(t)
	c := tapFake(t, "count", nil)
	fmt.Fprint(c.in, "12345")
	g.Expect(c.in.Close()).To(Succeed())
	g.Expect(c.line()).To(Equal("5"), "the server answers behind the client's EOF")
	g.Expect(c.rest()).To(BeEmpty())
	g.Expect(c.ended().Status).To(Equal(0))
}

func TestServerEndsItsHalf(t *testing.T) {
	g := NewWithT(t)
	c := tapFake(t, "mute", nil)
	g.Expect(c.rest()).To(BeEmpty(), "EOF comes while the server lives")
	fmt.Fprint(c.in, "12345")
	g.Expect(c.in.Close()).To(Succeed())
	g.Expect(c.ended().Status).To(Equal(5), "what was written behind its EOF came")
}

func TestClientThatStopsReading(t *testing.T) {
	c := tapFake(t, "chatter", nil)
	NewWithT(t).Expect(c.line()).To(Equal("x"))
	c.out.Close()
	NewWithT(t).Expect(c.ended().Status).To(Equal(32), "the server gets EPIPE")
}

func TestClientThatIsGoneInsideAFrame(t *testing.T) {
	g := NewWithT(t)
	c := tapFake(t, "frame", nil)
	_, err := c.out.Read(make([]byte, 1))
	g.Expect(err).NotTo(HaveOccurred())
	c.out.Close()
	r := c.ended()
	g.Expect(r.Lines).To(Equal(1))
	g.Expect(r.Violations()).To(BeZero(), "%v", r.Rows)
}

// What a client did before it wrote is seen before what it wrote: a server that is
// asked once more writes into a pipe that nobody reads.
func TestClientThatClosesAndThenAsks(t *testing.T) {
	for range 30 {
		g := NewWithT(t)
		c := tapFake(t, "answer", nil)
		fmt.Fprintln(c.in, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`)
		g.Expect(c.line()).To(ContainSubstring(`"id":1`))
		c.out.Close()
		fmt.Fprintln(c.in, `{"jsonrpc":"2.0","id":2,"method":"no/such"}`)
		g.Expect(c.ended().Status).To(Equal(128 + int(syscall.SIGPIPE)))
	}
}

// The server is told at its next write, not one later: nobody read in between.
func TestClientThatIsGoneIsSeenWithoutAWrite(t *testing.T) {
	g := NewWithT(t)
	r, w := pipe(t)
	gone := make(chan struct{})
	watch := watchSink(w, func() { close(gone) })
	r.Close()
	g.Eventually(gone, hang).Should(BeClosed())
	watch.stop()
	g.Expect(watch.gone()).To(BeTrue())

	_, w = pipe(t)
	watch = watchSink(w, func() { t.Error("its reader is there") })
	watch.stop()
	g.Expect(watch.gone()).To(BeFalse())
}

func TestServerThatStopsReading(t *testing.T) {
	g := NewWithT(t)
	c := tapFake(t, "deaf", nil)
	g.Expect(c.line()).To(Equal("deaf"))
	deadline := time.Now().Add(hang)
	for time.Now().Before(deadline) {
		if _, err := c.in.WriteString("x"); err != nil {
			g.Expect(errors.Is(err, syscall.EPIPE)).To(BeTrue(), "%v", err)
			break
		}
		time.Sleep(time.Millisecond) // polls: the end of a reader is no event for a writer
	}
	g.Expect(time.Now().Before(deadline)).To(BeTrue(), "the client is never told")
	g.Expect(syscall.Kill(os.Getpid(), syscall.SIGTERM)).To(Succeed())
	g.Expect(c.ended().Status).To(Equal(0))
}

func TestSignalsGoOn(t *testing.T) {
	g := NewWithT(t)
	var record bytes.Buffer
	c := tapFake(t, "signals", func(o *Options) { o.Record = &record })
	g.Expect(c.line()).To(Equal("ready"))
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGTERM} {
		g.Expect(syscall.Kill(os.Getpid(), s)).To(Succeed())
		g.Expect(c.line()).To(Equal(s.String()))
	}
	g.Expect(c.ended().Status).To(Equal(5))
	g.Expect(record.String()).To(And(ContainSubstring(`"SIGHUP sent\n"`), ContainSubstring(`"SIGTERM sent\n"`), ContainSubstring(`"process ended: exit status 5\n"`)))
}

func TestEnvironmentAndStderrAreTheCallers(t *testing.T) {
	t.Setenv("DSHCONFORM_TAP_SEEN", "as it is")
	c := tapFake(t, "env:DSHCONFORM_TAP_SEEN", nil)
	g := NewWithT(t)
	g.Expect(string(c.rest())).To(Equal("as it is"))
	c.ended()
	errs, err := io.ReadAll(c.errs)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(errs)).To(Equal("on stderr"))
}

func TestProcessThatTheServerLeaves(t *testing.T) {
	self, _ := os.Executable()
	c := tapFake(t, "leave:"+self, func(o *Options) { o.Linger = 10 * time.Millisecond })
	r := c.ended()
	NewWithT(t).Expect(r.Status).To(Equal(9))
	NewWithT(t).Expect(r.HeldOpen).To(BeTrue())
	NewWithT(t).Expect(r.Violations()).To(BeZero(), "the rest of the frame was not waited for: %v", r.Rows)
}

// However fast answers come, none is judged before its question.
func TestOrderOfBothDirections(t *testing.T) {
	const n = 4_000
	g := NewWithT(t)
	var record bytes.Buffer
	c := tapFake(t, "answer", func(o *Options) {
		o.Record = &record
		o.Judge.OnViolation = func(v protocol.Violation) { t.Errorf("%s: %s", v.Row, v.Actual) }
	})
	var write sync.WaitGroup
	write.Go(func() {
		defer c.in.Close()
		for i := range n {
			fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"no/such"}`+"\n", i)
		}
	})
	got := c.rest()
	write.Wait()
	g.Expect(bytes.Count(got, []byte("\n"))).To(Equal(n))
	r := c.ended()
	g.Expect(r.NotJudged).To(BeEmpty())
	g.Expect(r.Lines).To(Equal(2 * n))
	g.Expect(r.Rows["S-MSG-04"]).To(Equal(Count{Applied: n}))

	again, err := Check(&record, JudgeOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Rows).To(Equal(r.Rows), "a recording is judged as the tap judged it")
	g.Expect(again.Ended).To(BeTrue())
}

// Judging that does not keep up costs judging, and neither bytes nor the recording.
func TestJudgingThatFallsBehind(t *testing.T) {
	const bound, line = 64 << 10, "junk\n"
	g := NewWithT(t)
	var record bytes.Buffer
	release := make(chan struct{})
	c := tapFake(t, "cat", func(o *Options) {
		o.Queue, o.Record = bound, &record
		o.Judge.OnViolation = func(protocol.Violation) { <-release }
	})
	fmt.Fprint(c.in, line)
	g.Expect(c.line() + "\n").To(Equal(line))
	// Both directions together are more than half of the bound and less than it.
	much := strings.Repeat(line, bound*3/8/len(line))
	var write sync.WaitGroup
	write.Go(func() {
		fmt.Fprint(c.in, much)
		c.in.Close()
	})
	g.Expect(len(c.rest())).To(Equal(len(much)), "the bytes do not wait for the judge")
	write.Wait()
	close(release)
	r := c.ended()
	g.Expect(r.RecordErr).NotTo(HaveOccurred())
	g.Expect(strings.Join(r.NotJudged, "; ")).To(ContainSubstring("faster than they could be judged"))

	again, err := Check(&record, JudgeOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.NotJudged).To(BeEmpty())
	g.Expect(again.Lines).To(Equal(2 * (1 + len(much)/len(line))))
	g.Expect(again.Rows["S-FRM-01"].Violated).To(Equal(1+len(much)/len(line)), "the recording has all of it")
}

func TestLineThatIsTooLong(t *testing.T) {
	g := NewWithT(t)
	var rows []string
	c := tapFake(t, "cat", func(o *Options) {
		o.Line = 1000
		o.Judge.OnViolation = func(v protocol.Violation) { rows = append(rows, v.Row) }
	})
	frame := `{"jsonrpc":"2.0","method":"x","params":{"text":"` + strings.Repeat("x", 5000) + `"}}` + "\n"
	junk := strings.Repeat("y", 5000) + "\n"
	fmt.Fprint(c.in, frame, junk)
	c.in.Close()
	g.Expect(string(c.rest())).To(Equal(frame + junk))
	r := c.ended()
	g.Expect(rows).To(Equal([]string{"S-FRM-01"}), "what can be no frame is told all the same")
	g.Expect(strings.Join(r.NotJudged, "; ")).To(ContainSubstring("2 frames"))
}

// A recording that has reached its limit is sound up to there, has a gap behind it, and still tells the end.
func TestRecordingWithALimit(t *testing.T) {
	const line = `{"jsonrpc":"2.0","id":1,"method":"no/such"}` + "\n"
	g := NewWithT(t)
	var record bytes.Buffer
	c := tapFake(t, "cat", func(o *Options) { o.Record, o.RecordLimit = &record, int64(4*len(line)+1) })
	for range 5 {
		fmt.Fprint(c.in, line)
		g.Expect(c.line() + "\n").To(Equal(line))
	}
	c.in.Close()
	r := c.ended()
	g.Expect(r.RecordErr).NotTo(HaveOccurred())
	g.Expect(r.Lines).To(Equal(10), "all of it is judged live")
	g.Expect(record.String()).To(ContainSubstring(wire.NoteInputClosed))
	again, err := Check(&record, JudgeOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Lines).To(Equal(4))
	g.Expect(again.NotJudged).To(ContainElement("the recording has reached its limit"))
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestRecordingThatFails(t *testing.T) {
	g := NewWithT(t)
	c := tapFake(t, "answer", func(o *Options) { o.Record = brokenWriter{} })
	fmt.Fprintln(c.in, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`)
	g.Expect(c.line()).To(ContainSubstring(`"id":1`))
	c.in.Close()
	r := c.ended()
	g.Expect(r.RecordErr).To(MatchError(ContainSubstring("the disk is full")))
	g.Expect(r.Status).To(Equal(0))
	g.Expect(r.Rows["S-MSG-04"].Applied).To(Equal(1), "judged all the same")
}

func TestQueueIsBoundedAndInOrder(t *testing.T) {
	g := NewWithT(t)
	q := newQueue(10 * (pieceCost + 10))
	const n = 10_000
	var put sync.WaitGroup
	put.Go(func() {
		for i := range n {
			q.put(piece{dir: wire.ClientToServer, data: fmt.Appendf(nil, "%010d", i)})
		}
		q.close()
	})
	for i := range n {
		p, held, ok := q.take()
		g.Expect(ok).To(BeTrue())
		g.Expect(string(p.data)).To(Equal(fmt.Sprintf("%010d", i)))
		g.Expect(held).To(BeNumerically("<=", q.bound))
		q.free(p)
	}
	_, _, ok := q.take()
	g.Expect(ok).To(BeFalse())
	put.Wait()
}

func TestQueueTakesAPieceThatIsLargerThanItsBound(t *testing.T) {
	q := newQueue(10)
	q.put(piece{data: make([]byte, 100)})
	p, _, ok := q.take()
	NewWithT(t).Expect(ok).To(BeTrue())
	NewWithT(t).Expect(q.free(p)).To(BeTrue(), "it is empty")
}
