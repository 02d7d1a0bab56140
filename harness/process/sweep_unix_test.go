//go:build linux || darwin

package process

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// table is a make-believe table of processes.
type table struct {
	procs  map[int]proc
	immune map[int]bool
	killed []int
	onKill func(pid int)
}

func (f *table) list() ([]proc, error) {
	var list []proc
	for _, p := range f.procs {
		list = append(list, p)
	}
	return list, nil
}

func (f *table) kill(pid int) error {
	f.killed = append(f.killed, pid)
	for id, p := range f.procs {
		if (id == pid || -p.group == pid) && !f.immune[id] {
			delete(f.procs, id)
			if f.onKill != nil {
				f.onKill(id)
			}
		}
	}
	return nil
}

func TestSweepReportsWhatItCannotEnd(t *testing.T) {
	g := NewWithT(t)
	f := &table{
		procs:  map[int]proc{10: {pid: 10, group: 10}, 11: {pid: 11, group: 10}, 12: {pid: 12, group: 12, dead: true}},
		immune: map[int]bool{11: true},
	}
	left := sweep{list: f.list, kill: f.kill}.run(20 * time.Millisecond)
	g.Expect(left).To(Equal([]proc{{pid: 11, group: 10}}), "the one that waits in the kernel; a zombie is no process")
}

func TestSweepEndsWhenTheKernelSaysSo(t *testing.T) {
	g := NewWithT(t)
	gone := make(chan struct{})
	f := &table{procs: map[int]proc{10: {pid: 10, group: 10}}, onKill: func(int) { close(gone) }}
	g.Expect(sweep{list: f.list, kill: f.kill, gone: gone}.run(time.Hour)).To(BeEmpty())
}

func TestSweepWaitsForWhatItNoLongerSees(t *testing.T) {
	g := NewWithT(t)
	f := &table{procs: map[int]proc{10: {pid: 10, group: 10, session: 10, name: "a"}, 11: {pid: 11, group: 11, session: 11, name: "b"}}}
	looks := map[int]int{}
	s := sweep{list: f.list, kill: f.kill, look: func(pid int) (proc, error) {
		looks[pid]++
		if pid == 11 {
			return proc{pid: 11, session: 300, name: "b"}, nil // somebody else, who got the pid
		}
		return proc{pid: 10, session: 10, name: "a", dead: looks[pid] == 5}, nil
	}}
	g.Expect(s.run(time.Hour)).To(BeEmpty())
	g.Expect(looks).To(Equal(map[int]int{10: 5, 11: 1}))
	g.Expect(f.killed).To(ConsistOf(-10, 10, -11, 11), "once each")

	f.procs = map[int]proc{10: {pid: 10, group: 10, session: 10, name: "a"}}
	s.look = func(int) (proc, error) { return proc{pid: 10, session: 10, name: "a"}, nil }
	g.Expect(s.run(20*time.Millisecond)).To(HaveLen(1), "one that does not end")
}

func TestSweepNeverSignalsItsOwnGroup(t *testing.T) {
	g := NewWithT(t)
	own := unix.Getpgrp()
	f := &table{procs: map[int]proc{10: {pid: 10, group: own}, 11: {pid: 11, group: 1}, 12: {pid: 12, group: 0}}}
	g.Expect(sweep{list: f.list, kill: f.kill}.run(time.Hour)).To(BeEmpty())
	g.Expect(f.killed).To(ConsistOf(10, 11, 12), "alone, because -1 is everybody and 0 the own group")
}

func TestSweepCatchesWhatForksMeanwhile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		generations := rapid.IntRange(1, 3).Draw(t, "generations")
		next := 100
		f := &table{procs: map[int]proc{10: {pid: 10, group: 10}}}
		f.onKill = func(int) {
			if generations--; generations >= 0 {
				next++
				f.procs[next] = proc{pid: next, group: next}
			}
		}
		if left := (sweep{list: f.list, kill: f.kill}).run(time.Hour); len(left) != 0 || len(f.procs) != 0 {
			t.Fatalf("left %v in %v", left, f.procs)
		}
	})
}

// fixed is a control that tells what it is told to.
type fixed struct {
	running, stuck []Member
	err            error
	times          []time.Duration
	kills          int
}

func (f *fixed) signal(os.Signal) error                    { return f.err }
func (f *fixed) members(context.Context) ([]Member, error) { return f.running, f.err }
func (f *fixed) kill(time.Duration) ([]Member, error)      { f.kills++; return f.stuck, f.err }
func (f *fixed) cpu(context.Context) (time.Duration, error) {
	now := f.times[0]
	f.times = f.times[1:]
	return now, f.err
}

func faked(t *testing.T, f *fixed) *Process {
	t.Helper()
	p := &Process{
		command: Command{Argv: []string{"subject"}, KillTimeout: time.Second, StderrTail: 10},
		exited:  make(chan struct{}), gone: make(chan struct{}), control: f,
	}
	ends, err := p.pipes()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range ends { // open until now: somebody holds the pipes
			_ = end.Close()
		}
	})
	return p
}

func TestCloseNamesWhatCouldNotBeEnded(t *testing.T) {
	g := NewWithT(t)
	f := &fixed{running: []Member{{Pid: 7, Command: "a"}, {Pid: 8, Command: "b\nc"}}, stuck: []Member{{Pid: 8, Command: "b\nc"}}}
	p := faked(t, f)
	left, err := p.Close()
	g.Expect(left).To(Equal(f.running))
	var stuck *LeftError
	g.Expect(errors.As(err, &stuck)).To(BeTrue())
	g.Expect(stuck.Members).To(Equal(f.stuck))
	g.Expect(err.Error()).To(Equal(`could not end 1 of the processes of "subject": 8 b c`))
	again, err2 := p.Close()
	g.Expect(again).To(Equal(left))
	g.Expect(err2).To(Equal(err))
	g.Expect(f.kills).To(Equal(1))
}

func TestLeftErrorIsBounded(t *testing.T) {
	g := NewWithT(t)
	e := &LeftError{Argv: []string{"x"}}
	for i := range 100 {
		e.Members = append(e.Members, Member{Pid: i, Command: "c"})
	}
	g.Expect(e.Error()).To(HaveSuffix("4 c and 95 more"))
}

func TestCPUNeverDecreases(t *testing.T) {
	t.Parallel() // Close waits for its bound
	g := NewWithT(t)
	p := faked(t, &fixed{times: []time.Duration{5, 3, 6}})
	for _, expected := range []time.Duration{5, 5, 6} {
		g.Expect(p.CPU(context.Background())).To(Equal(expected))
	}
	_, err := p.Close()
	g.Expect(err).NotTo(HaveOccurred(), "though the pipes are held open by a stranger")
}
