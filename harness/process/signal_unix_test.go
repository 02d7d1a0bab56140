//go:build linux || darwin

package process_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

func TestSignalReachesTheLaunchedProcessAlone(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "sh", "-c", `
		(trap 'echo child' TERM; echo one; while :; do sleep 0.1; done) &
		trap 'echo parent; exit 5' TERM
		echo two
		while :; do sleep 0.1; done`))
	g.Expect([]string{line(t, p), line(t, p)}).To(ConsistOf("one", "two"))
	g.Expect(p.Signal(syscall.SIGTERM)).To(Succeed())
	g.Expect(line(t, p)).To(Equal("parent"))
	g.Expect(exit(t, p).Code).To(Equal(5))
	g.Expect(p.Signal(syscall.SIGTERM)).To(MatchError(os.ErrProcessDone))
	left, err := p.Kill()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).NotTo(BeEmpty(), "the child was left")
	g.Expect(readAll(t, p)).To(BeEmpty(), "the child got no signal that it could tell of")
}

func TestStubbornSubject(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "stubborn"))
	g.Expect(line(t, p)).To(Equal("ready"))
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt, syscall.SIGHUP} {
		g.Expect(p.Signal(s)).To(Succeed())
		g.Expect(line(t, p)).To(Equal(s.String()), "signals arrive in their order")
	}
	left := closed(t, p)
	g.Expect(left).To(HaveLen(1))
	g.Expect(left[0].Pid).To(Equal(p.Pid()))
	g.Expect(left[0].Command).To(ContainSubstring("subject stubborn"))
	e := exit(t, p)
	g.Expect(e.Signal).To(Equal("SIGKILL"))
}

func TestTheSupervisorOutlivesSignals(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "stubborn"))
	g.Expect(line(t, p)).To(Equal("ready"))
	supervisor := parentOf(t, p.Pid())
	for _, s := range []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGTSTP, unix.SIGPIPE} {
		g.Expect(unix.Kill(supervisor, s)).To(Succeed())
	}
	g.Expect(p.Signal(syscall.SIGHUP)).To(Succeed(), "it still answers")
	g.Expect(line(t, p)).To(Equal("hangup"), "and the subject got this one alone")
	g.Expect(closed(t, p)).To(HaveLen(1))
}

// parentOf asks ps, so that this test does not rest on what it tests.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", itoa(pid)).Output()
	if err != nil {
		t.Skipf("ps: %v", err)
	}
	return atoi(t, strings.TrimSpace(string(out)))
}

func TestSignalZeroAndForeignSignals(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "cat"))
	g.Expect(p.Signal(syscall.Signal(0))).To(MatchError(ContainSubstring("cat")))
	g.Expect(p.Signal(syscall.Signal(9999))).To(MatchError(ContainSubstring("invalid argument")))
	g.Expect(p.Signal(os.Kill)).To(Succeed())
	g.Expect(exit(t, p).Signal).To(Equal("SIGKILL"))
}
