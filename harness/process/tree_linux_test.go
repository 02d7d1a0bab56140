package process_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/dshconform/dshconform/harness/process"
)

// alive is whether a pid is a running process, a zombie being none.
func alive(pid int) bool {
	raw, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err == nil && !containsZombie(raw)
}

// carriers are the pids of live processes that have a nonce in their environment.
func carriers(nonce string) []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err == nil && strings.Contains(string(env), process.NonceVariable+"="+nonce) {
			var pid int
			for _, c := range e.Name() {
				pid = pid*10 + int(c-'0')
			}
			found = append(found, pid)
		}
	}
	return found
}

func tree(t testing.TB, p *process.Process) []int {
	t.Helper()
	members, err := p.Tree(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, m := range members {
		pids = append(pids, m.Pid)
	}
	return pids
}

func TestChildrenThatGetAway(t *testing.T) {
	for _, how := range []string{
		"", "quiet", "setsid", "setsid quiet", "setsid quiet fork", "setsid scrub", "setsid scrub quiet fork",
	} {
		t.Run(how, func(t *testing.T) {
			g := NewWithT(t)
			p := start(t, role(t, append([]string{"leave"}, strings.Fields(how)...)...))
			child := atoi(t, line(t, p))
			g.Expect(exit(t, p).Code).To(Equal(7))
			g.Expect(tree(t, p)).To(Equal([]int{child}), "the child is of the tree, the launched process no more")
			g.Expect(p.Gone()).NotTo(BeClosed())
			left := closed(t, p)
			g.Expect(left).To(HaveLen(1))
			g.Expect(left[0].Pid).To(Equal(child))
			g.Expect(left[0].Command).To(HaveSuffix("subject sleep"))
			g.Expect(alive(child)).To(BeFalse())
			g.Expect(tree(t, p)).To(BeEmpty())
		})
	}
}

func TestAChildHoldsThePipes(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "leave", "setsid"))
	line(t, p)
	exit(t, p)
	g.Expect(p.Stdout().SetReadDeadline(time.Now().Add(20 * time.Millisecond))).To(Succeed())
	_, err := p.Stdout().Read(make([]byte, 1))
	g.Expect(os.IsTimeout(err)).To(BeTrue(), "no EOF while the child holds stdout: %v", err)
	_, err = p.Kill()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(readAll(t, p)).To(BeEmpty(), "Kill leaves stdout open, and now it has come to its end")
	g.Expect(p.WaitStderr(context.Background())).To(Succeed())
}

func TestTreeOfAWholeFamily(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "leave", "setsid", "stay"))
	child := atoi(t, line(t, p))
	members, err := p.Tree(context.Background())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(members).To(HaveLen(2))
	byPid := map[int]process.Member{members[0].Pid: members[0], members[1].Pid: members[1]}
	g.Expect(byPid[child].Parent).To(Equal(p.Pid()))
	g.Expect(byPid[p.Pid()].Command).To(HaveSuffix("subject leave setsid stay"))
	g.Expect(p.Signal(syscall.SIGKILL)).To(Succeed())
	g.Expect(exit(t, p).Signal).To(Equal("SIGKILL"))
	g.Expect(tree(t, p)).To(Equal([]int{child}))
	g.Expect(unix.Kill(child, unix.SIGKILL)).To(Succeed())
	wait(t, p.Gone(), "the tree to be gone, which nobody asked for")
	g.Expect(closed(t, p)).To(BeEmpty())
}

func TestANestedSubreaperKeepsItsOrphans(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "subreaper", "setsid", "scrub", "fork", "quiet"))
	child := atoi(t, line(t, p))
	g.Eventually(func() []int { return tree(t, p) }, patience).Should(ConsistOf(p.Pid(), child), "once the one between has ended")
	g.Expect(closed(t, p)).To(HaveLen(2))
	g.Expect(alive(child)).To(BeFalse())
}

func TestAProcessWithoutItsFirstThreadIsAlive(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "halfdead"))
	g.Expect(line(t, p)).To(Equal("ready"))
	g.Expect(tree(t, p)).To(Equal([]int{p.Pid()}))
	g.Expect(closed(t, p)).To(HaveLen(1))
	g.Expect(exit(t, p).Signal).To(Equal("SIGKILL"))
}

func TestAStoppedAndATracedChildAreEnded(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "traced"))
	child := atoi(t, line(t, p))
	g.Expect(p.Signal(syscall.SIGSTOP)).To(Succeed())
	g.Expect(tree(t, p)).To(ConsistOf(p.Pid(), child))
	g.Expect(closed(t, p)).To(HaveLen(2))
	g.Expect(alive(child)).To(BeFalse())
}

func TestAForkBombIsEnded(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "bomb"))
	line(t, p)
	g.Eventually(func() int { return len(tree(t, p)) }, patience).Should(BeNumerically(">", 150))
	g.Expect(len(closed(t, p))).To(BeNumerically(">", 150))
	g.Expect(carriers(p.Nonce())).To(BeEmpty())
}

func TestAProcessThatIsNeverThereIsEnded(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "comet"))
	line(t, p)
	exit(t, p)
	g.Expect(p.Gone()).NotTo(BeClosed(), "its descendants go on")
	closed(t, p) // which ends when the kernel says that there is no descendant
	g.Expect(carriers(p.Nonce())).To(BeEmpty())
}

func TestCPUOfTheTree(t *testing.T) {
	g := NewWithT(t)
	p := start(t, role(t, "burn"))
	g.Expect(line(t, p)).To(Equal("ready"))
	used := func() time.Duration {
		d, err := p.CPU(context.Background())
		g.Expect(err).NotTo(HaveOccurred())
		return d
	}
	last := time.Duration(0)
	g.Eventually(func() time.Duration {
		now := used()
		g.Expect(now).To(BeNumerically(">=", last), "it never decreases")
		last = now
		return now
	}, patience).Should(BeNumerically(">", 200*time.Millisecond), "the grandchild's time counts")
	closed(t, p)
	g.Expect(used()).To(BeNumerically(">=", last), "also when all is gone")
	e, _ := p.Exit()
	g.Expect(e.User+e.System).To(BeNumerically("<", last), "the launched process itself slept")
}

func TestQueriesEndWithTheirContext(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "cat"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := p.Tree(ctx)
	g.Expect(err).To(MatchError(context.Canceled))
	_, err = p.CPU(ctx)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(p.WaitStderr(ctx)).To(MatchError(context.Canceled))
}
