package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// long bounds what is there in a moment, on any machine.
const long = 5 * time.Minute

func TestParseStat(t *testing.T) {
	const rest = " 1 20 30 0 -1 4194560 1 2 3 4 7 8 9 10 20 0 %T 0 100 1 2"
	for _, c := range []struct {
		raw  string
		want procStat
	}{
		{"12 (sh) S" + rest, procStat{proc: proc{pid: 12, parent: 1, group: 20, session: 30, name: "sh"}}},
		{"12 (a) Z 9 (b) c) R" + rest, procStat{proc: proc{pid: 12, parent: 1, group: 20, session: 30, name: "a) Z 9 (b) c"}}},
		{"12 () Z" + rest, procStat{proc: proc{pid: 12, parent: 1, group: 20, session: 30, name: "", dead: true}}},
		{"12 (\n) X" + rest, procStat{proc: proc{pid: 12, parent: 1, group: 20, session: 30, name: "", dead: true}}},
	} {
		t.Run(c.raw, func(t *testing.T) {
			g := NewWithT(t)
			c.want.own, c.want.children = 150*time.Millisecond, 190*time.Millisecond
			g.Expect(parseStat([]byte(strings.Replace(c.raw, "%T", "1", 1)))).To(Equal(c.want))
			c.want.dead = strings.Contains(c.raw, ") X")
			g.Expect(parseStat([]byte(strings.Replace(c.raw, "%T", "2", 1)))).To(Equal(c.want), "a zombie with another thread runs")
		})
	}
	for _, broken := range []string{"", "12", "12 (a", "12 (a) S 1 2", ") (", "12 (a) "} {
		_, err := parseStat([]byte(broken))
		NewWithT(t).Expect(err).To(HaveOccurred(), broken)
	}
}

func TestBothWalksFindTheSame(t *testing.T) {
	g := NewWithT(t)
	cmd := exec.Command("sh", "-c", "sleep 600 & (sleep 600 & sleep 600; :) & echo; wait")
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	_, err = out.Read(make([]byte, 1))
	g.Expect(err).NotTo(HaveOccurred())
	pids := func(walk func(int) (map[int]procStat, error)) func() []int {
		return func() []int {
			found, err := walk(cmd.Process.Pid)
			g.Expect(err).NotTo(HaveOccurred())
			var list []int
			for pid := range found {
				list = append(list, pid)
			}
			return list
		}
	}
	if hasChildrenFiles() {
		g.Eventually(pids(walkChildren), long).Should(HaveLen(4))
	}
	g.Eventually(pids(walkTable), long).Should(HaveLen(4))
	all := pids(walkTable)()
	if hasChildrenFiles() {
		g.Expect(pids(walkChildren)()).To(ConsistOf(all))
	}
	for _, pid := range all {
		child, err := os.FindProcess(pid)
		g.Expect(err).NotTo(HaveOccurred())
		_ = child.Kill()
	}
	_ = cmd.Wait()
}

func TestCommandLineIsOneShortLine(t *testing.T) {
	g := NewWithT(t)
	cmd := exec.Command("sh", "-c", "read line # a\nb \xff "+strings.Repeat("é", 500))
	in, err := cmd.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	// The kernel shows the arguments a moment after the exec has succeeded.
	g.Eventually(func() string { return commandLine(cmd.Process.Pid) }, long).
		Should(HavePrefix("sh -c read line # a b \uFFFD é"))
	got := commandLine(cmd.Process.Pid)
	g.Expect(got).To(HaveSuffix("é…"))
	g.Expect(len(got)).To(BeNumerically("<", 220))
	g.Expect(in.Close()).To(Succeed())
	_ = cmd.Wait()
	g.Expect(commandLine(cmd.Process.Pid)).To(BeEmpty(), "it is gone")
}

func TestAReadThatASubjectHoldsUpIsGivenUp(t *testing.T) {
	g := NewWithT(t)
	b := newBound(20 * time.Millisecond)
	defer b.stop()
	fast, ok := within(b, func() string { return "x" })
	g.Expect(fast).To(Equal("x"))
	g.Expect(ok).To(BeTrue())
	release := make(chan struct{})
	defer close(release)
	_, ok = within(b, func() string { <-release; return "late" })
	g.Expect(ok).To(BeFalse())
	_, ok = within(b, func() string { return "x" })
	g.Expect(ok).To(BeFalse(), "the bound is one for all")
}
