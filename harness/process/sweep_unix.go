//go:build linux || darwin

package process

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// sweep ends a set of processes that may grow while it is swept: a process that forks faster than it
// is found has a child that the next round finds. Groups are signalled as wholes, because the kernel
// does that in one step that no fork of a member can slip through.
type sweep struct {
	list func() ([]proc, error)
	kill func(pid int) error // a negative pid is a group
	// look, where set, gives one process: what was found by its environment gives that up on
	// its way out, and is no longer listed before it has ended.
	look func(pid int) (proc, error)
	// gone, where set, is closed when the kernel says that nothing is left. Without it, an
	// empty list has to do.
	gone <-chan struct{}
}

// Rounds without a live process after which a sweep believes that none is left. With a gone channel
// only a zombie that somebody else traces gets that far.
const (
	emptyRounds     = 2
	emptyRoundsGone = 40
)

// run sweeps until nothing is left or the timeout has passed, and returns what is left.
func (s sweep) run(timeout time.Duration) (left []proc) {
	deadline := time.Now().Add(timeout)
	ownGroup := unix.Getpgrp()
	enough := emptyRounds
	if s.gone != nil {
		enough = emptyRoundsGone
	}
	ending := map[int]proc{} // killed
	for round, empty := 0, 0; ; round++ {
		found, err := s.list()
		left = left[:0]
		groups := map[int]bool{}
		for _, f := range found {
			if f.dead {
				continue
			}
			left = append(left, f)
			ending[f.pid] = f
			if f.group > 1 && f.group != ownGroup && !groups[f.group] {
				groups[f.group] = true
				_ = s.kill(-f.group)
			}
			// Also alone: it may have left the group since. An error means that it has ended, or that it
			// can't be ended: the next round tells which.
			_ = s.kill(f.pid)
		}
		left = append(left, s.unlisted(found, ending)...)
		if len(left) == 0 && err == nil {
			empty++
		} else {
			empty = 0
		}
		if empty >= enough {
			return nil
		}
		if !time.Now().Before(deadline) {
			return left
		}
		timer := time.NewTimer(time.Millisecond << min(round, 5))
		select {
		case <-s.gone:
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// unlisted gives those that were killed, are not listed any more and have not ended. They are waited
// for and not killed again: another process may get the pid.
func (s sweep) unlisted(found []proc, ending map[int]proc) (left []proc) {
	if s.look == nil {
		return nil
	}
	for pid, was := range ending {
		if slices.ContainsFunc(found, func(f proc) bool { return f.pid == pid }) {
			continue
		}
		is, err := s.look(pid)
		if err != nil || is.dead || is.session != was.session || is.name != was.name {
			delete(ending, pid)
			continue
		}
		left = append(left, was)
	}
	slices.SortFunc(left, func(a, b proc) int { return a.pid - b.pid })
	return left
}
