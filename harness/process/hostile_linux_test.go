package process_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/dshconform/dshconform/harness/process"
)

func TestAKilledHarnessLeavesNothing(t *testing.T) {
	for _, how := range []string{"leave setsid", "leave setsid quiet fork", "leave setsid stay", "stubborn", "comet", "bomb"} {
		t.Run(how, func(t *testing.T) {
			g := NewWithT(t)
			harness := exec.Command(self(t), append([]string{"subject", "harness"}, strings.Fields(how)...)...)
			out, err := harness.StdoutPipe()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(harness.Start()).To(Succeed())
			said, err := bufio.NewReader(out).ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred())
			nonce, supervisor := strings.Fields(said)[0], atoi(t, strings.Fields(said)[1])
			g.Expect(alive(supervisor)).To(BeTrue())
			if how != "comet" { // which is hard to see
				g.Expect(carriers(nonce)).NotTo(BeEmpty(), said)
			}
			g.Expect(harness.Process.Signal(syscall.SIGKILL)).To(Succeed())
			_ = harness.Wait()
			g.Eventually(func() bool { return alive(supervisor) }, patience).Should(BeFalse())
			for range 20 { // one look may miss what is hard to see
				g.Expect(carriers(nonce)).To(BeEmpty(), "the supervisor has left nothing")
			}
		})
	}
}

func TestAnInterruptedHarnessIsNotItsSubject(t *testing.T) {
	// Caught dispositions that the harness inherited as ignored do not reach the subject.
	g := NewWithT(t)
	harness := exec.Command("sh", "-c", `trap '' PIPE TERM INT HUP TTOU USR1; exec "$@"`, "sh", self(t), "subject", "harness", "dispositions")
	out, err := harness.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(harness.Start()).To(Succeed())
	said, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	_ = harness.Process.Kill()
	_ = harness.Wait()
	for _, set := range strings.Fields(said)[2:] {
		mask, err := strconv.ParseUint(set, 10, 64)
		g.Expect(err).NotTo(HaveOccurred())
		// Signals 32 and 33 are the C library's own: it blocks them while it starts a
		// thread, which a subject built for the race detector does at any time.
		g.Expect(mask&^(1<<31|1<<32)).To(BeZero(), "none ignored, none blocked: %s", said)
	}
}

func TestASubjectKillsItsSupervisor(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "supervisor", itoa(int(unix.SIGKILL))))
	child := atoi(t, line(t, p))
	e := exit(t, p)
	g.Expect(e.Unknown).To(BeTrue())
	g.Expect(e.Status()).To(Equal(255))
	g.Expect(e.Success()).To(BeFalse())
	wait(t, p.Gone(), "the tree to be swept up")
	g.Expect(alive(child)).To(BeFalse())
	g.Expect(alive(p.Pid())).To(BeFalse())
	g.Expect(p.Signal(syscall.SIGTERM)).To(MatchError(os.ErrProcessDone))
	g.Expect(closed(t, p)).To(BeEmpty())
}

func TestASubjectStopsItsSupervisor(t *testing.T) {
	t.Parallel() // it waits for its bound
	g := NewWithT(t)
	c := role(t, "supervisor", itoa(int(unix.SIGSTOP)))
	c.KillTimeout = time.Second
	p := start(t, c)
	child := atoi(t, line(t, p))
	g.Expect(line(t, p)).To(Equal("sent"))
	g.Expect(tree(t, p)).To(ConsistOf(p.Pid(), child), "the tree is seen without the supervisor's help")
	g.Expect(closed(t, p)).To(HaveLen(2))
	g.Expect(alive(child)).To(BeFalse())
	g.Expect(alive(p.Pid())).To(BeFalse())
}

func TestStderrIsBounded(t *testing.T) {
	g := NewWithT(t)
	const flood = 256 << 20
	c := role(t, "flood", itoa(flood))
	c.StderrTail = 1000
	tapped := 0
	c.OnStderr = func(b []byte) { tapped += len(b) }
	p := start(t, c)
	g.Expect(line(t, p)).To(Equal("done"))
	exit(t, p)
	g.Expect(p.WaitStderr(context.Background())).To(Succeed())
	info := p.Stderr()
	g.Expect(info.Total).To(Equal(int64(flood)))
	g.Expect(info.Tail).To(HaveLen(1000))
	g.Expect(string(info.Tail)).To(HaveSuffix("789abcde\n0123456789abcde\n"))
	closed(t, p)
	g.Expect(tapped).To(Equal(flood))
}

func TestAnEndlessFloodIsEnded(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "sh", "-c", "yes >&2 & yes & exit 3"))
	g.Expect(exit(t, p).Code).To(Equal(3))
	g.Eventually(func() int64 { return p.Stderr().Total }, patience).Should(BeNumerically(">", 1<<20))
	g.Expect(closed(t, p)).To(HaveLen(2))
	g.Expect(len(p.Stderr().Tail)).To(BeNumerically("<=", process.DefaultStderrTail))
}
