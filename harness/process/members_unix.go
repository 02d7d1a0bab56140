//go:build linux || darwin

package process

import "time"

// proc is a process as the system's table shows it.
type proc struct {
	pid, parent    int
	group, session int
	dead           bool // a zombie
	name           string
}

const (
	// mostMembers keeps a fork bomb from becoming a report of a gigabyte.
	mostMembers = 1000
	// describePatience bounds all of the reading of one list's command lines.
	describePatience = 500 * time.Millisecond
)

// described gives the live ones of a list their command lines.
func described(found []proc) []Member {
	bound := newBound(describePatience)
	defer bound.stop()
	var members []Member
	for _, f := range found {
		if len(members) == mostMembers {
			break
		}
		if f.dead {
			continue
		}
		line, _ := within(bound, func() string { return commandLine(f.pid) })
		if line == "" {
			line = "[" + f.name + "]"
		}
		members = append(members, Member{Pid: f.pid, Parent: f.parent, Command: line})
	}
	return members
}

// bound is a time that several reads share.
type bound struct {
	over  chan struct{}
	timer *time.Timer
}

func newBound(d time.Duration) bound {
	over := make(chan struct{})
	return bound{over: over, timer: time.AfterFunc(d, func() { close(over) })}
}

func (b bound) stop() { b.timer.Stop() }

// within reads what a process shows of its own memory, which a subject can hold up (by a page that
// never comes in, or a lock that its kernel thread sleeps with): the read is given up when the bound
// is over. Its goroutine is the kernel's to end, which it does when the process is killed.
func within[T any](b bound, read func() T) (got T, ok bool) {
	select {
	case <-b.over:
		return got, false
	default:
	}
	done := make(chan T, 1)
	go func() { done <- read() }()
	select {
	case got = <-done:
		return got, true
	case <-b.over:
		return got, false
	}
}
