package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vbauerster/mpb/v8"
)

// lockedBuffer is written by the goroutine that draws and read by the test.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func drive(p Progress) {
	for _, id := range []string{"S-DIR-01", "S-FRM-13/nul", "S-FRM-08", "S-SUB-01"} {
		p.SpecStarted(id)
	}
	p.SpecEnded("S-DIR-01", passed)
	p.SpecEnded("S-FRM-13/nul", Outcome{Verdict: Fail, Actual: "EOF\x1b[2J on stdout\nmore", Seconds: 1.5})
	p.SpecEnded("S-FRM-08", Outcome{Verdict: Observed})
	p.SpecEnded("S-SUB-01", Outcome{Verdict: NotReached, Reason: "initialize failed"})
	p.Note("a fresh subject\x07")
	p.Close()
	p.Close()
}

func TestPlainProgress(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	drive(NewPlainProgress(&b, ConsoleOptions{}))
	g.Expect(b.String()).To(Equal("FAIL   S-FRM-13/nul: EOF\\x1b[2J on stdout (1.50s)\nnot-r  S-SUB-01: initialize failed (0.00s)\na fresh subject\\x07\n"))
	b.Reset()
	drive(NewPlainProgress(&b, ConsoleOptions{Verbose: true}))
	g.Expect(strings.Count(b.String(), "\n")).To(Equal(5))
	g.Expect(b.String()).To(HavePrefix("pass   S-DIR-01 (0.01s)\n"))
}

func TestLiveProgress(t *testing.T) {
	g := NewWithT(t)
	var out lockedBuffer
	l := newLive(&out, 4, ConsoleOptions{}, mpb.ForceTTY(), mpb.ForceAutoRefresh())
	l.SpecStarted("S-DIR-01")
	g.Expect(l.line()).To(MatchRegexp(`^0/4, \d+s  S-DIR-01$`))
	for range 4 {
		l.SpecStarted("S-X")
	}
	g.Expect(l.line()).To(HaveSuffix("S-DIR-01 S-X S-X and 2 more"))
	drive(l)
	g.Expect(l.line()).To(HavePrefix("4/4, 2 not holding, "))
	g.Expect(out.String()).To(ContainSubstring(`FAIL   S-FRM-13/nul: EOF\x1b[2J on stdout`), "failures stand above the live line")
}

func TestLiveProgressDrawsOneLine(t *testing.T) {
	g := NewWithT(t)
	var out lockedBuffer
	refresh := make(chan any)
	l := newLive(&out, 4, ConsoleOptions{}, mpb.ForceTTY(), mpb.WithManualRefresh(refresh))
	l.SpecStarted("S-DIR-01")
	for range 3 { // the third is taken once the first is drawn
		refresh <- nil
	}
	l.Close()
	g.Expect(out.String()).To(MatchRegexp(`^0/4, \d+s  S-DIR-01 *\n`))
	g.Expect(out.String()).To(HaveSuffix("\x1b[1A\x1b[J"), "the line is taken away at the end")
}

// Specs end on many goroutines while the line is drawn.
func TestLiveProgressFromManyGoroutines(t *testing.T) {
	var out lockedBuffer
	l := newLive(&out, 800, ConsoleOptions{Verbose: true}, mpb.ForceTTY(), mpb.ForceAutoRefresh())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				l.SpecStarted("S-DIR-01")
				l.SpecEnded("S-DIR-01", passed)
			}
		})
	}
	wg.Wait()
	l.Close()
	NewWithT(t).Expect(l.line()).To(HavePrefix("800/800, "))
}

func TestAFileIsNoTerminal(t *testing.T) {
	g := NewWithT(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(f.Close()).To(Succeed()) }()
	g.Expect(Terminal(f)).To(BeFalse())
	g.Expect(Color(f, false)).To(BeFalse())
	g.Expect(NewProgress(f, 1, ConsoleOptions{})).To(BeAssignableToTypeOf(&plainProgress{}))
	drive(Silent())
}
