//go:build linux || darwin

package process_test

import (
	"context"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/process"
)

func TestExit(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		signal string
		text   string
		status int
	}{
		{"exit 0", 0, "", "exit status 0", 0},
		{"exit 1", 1, "", "exit status 1", 1},
		{"exit 255", 255, "", "exit status 255", 255},
		{"kill -TERM $$", -1, "SIGTERM", "killed by SIGTERM", 143},
		{"kill -KILL $$", -1, "SIGKILL", "killed by SIGKILL", 137},
		{"kill -SEGV $$", -1, "SIGSEGV", "killed by SIGSEGV", 139},
	} {
		t.Run(c.script, func(t *testing.T) {
			g := NewWithT(t)
			p := start(t, command(t, "sh", "-c", c.script))
			e := exit(t, p)
			g.Expect(e.Code).To(Equal(c.code))
			g.Expect(e.Signal).To(Equal(c.signal))
			g.Expect(e.String()).To(Equal(c.text))
			g.Expect(e.Status()).To(Equal(c.status))
			g.Expect(e.Unknown).To(BeFalse())
			g.Expect(e.MaxRSS).To(BeNumerically(">", 100<<10), "bytes, not kibibytes")
			g.Expect(e.MaxRSS).To(BeNumerically("<", 1<<30))
			g.Expect(e.At).NotTo(BeTemporally("<", p.Started()))
			g.Expect(e.At).NotTo(BeTemporally(">", time.Now()))
		})
	}
}

func TestExitTellsPeakMemoryAndCPU(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; head -c 67108864 /dev/zero | tail -n 1 | wc -c"))
	g.Expect(readAll(t, p)).To(ContainSubstring("67108864"), "tail has held one line of 64 MiB")
	e := exit(t, p)
	g.Expect(e.MaxRSS).To(BeNumerically(">", 60<<20))
	g.Expect(e.User).To(BeNumerically(">", 0))
}

func TestExitAtOnceIsNoErrorOfStart(t *testing.T) {
	g := NewWithT(t)
	for range 20 {
		p := start(t, command(t, "sh", "-c", "echo why >&2; exit 4"))
		g.Expect(exit(t, p).Code).To(Equal(4))
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		g.Expect(p.WaitStderr(ctx)).To(Succeed())
		cancel()
		g.Expect(string(p.Stderr().Tail)).To(Equal("why\n"))
		g.Expect(p.Signal(syscall.SIGTERM)).To(MatchError(os.ErrProcessDone))
		g.Expect(closed(t, p)).To(BeEmpty())
	}
}

func TestManyAtTheSameTime(t *testing.T) {
	NewWithT(t).Expect(descriptors()).To(BeNumerically(">", 0))
	goroutines, open := runtime.NumGoroutine(), descriptors()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			g := NewWithT(t)
			for range 3 {
				c := command(t, "cat")
				if i%3 == 0 {
					c = role(t, "leave", "setsid", "stay")
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				p, err := process.Start(ctx, c)
				cancel()
				g.Expect(err).NotTo(HaveOccurred())
				if i%3 == 1 {
					_, err := p.Stdin().WriteString("x\n")
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(line(t, p)).To(Equal("x"))
				}
				var closers sync.WaitGroup
				for range 3 { // of one process, too
					closers.Go(func() {
						_, err := p.Close()
						g.Expect(err).NotTo(HaveOccurred())
					})
				}
				closers.Wait()
				wait(t, p.Gone(), "the tree to be gone")
				wait(t, p.Exited(), "the process to be gone")
			}
		})
	}
	all.Wait()
	g := NewWithT(t)
	g.Eventually(runtime.NumGoroutine, patience).Should(BeNumerically("<=", goroutines), "no goroutine is left")
	g.Eventually(descriptors, patience).Should(BeNumerically("<=", open), "no descriptor is left")
}

// descriptors counts the open descriptors of this process.
func descriptors() int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
