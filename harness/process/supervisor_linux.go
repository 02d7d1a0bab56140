package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// maxRSSUnit is the unit of ru_maxrss in bytes.
const maxRSSUnit = 1024

// prepare makes this process the one that orphans of the tree come to, however they were orphaned, and
// sees that no descriptor but the three pipes reaches the subject.
func prepare() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // since Linux 3.4
	if unix.CloseRange(controlFD, uint(^uint32(0)), unix.CLOSE_RANGE_CLOEXEC) != nil {
		for fd := controlFD; fd <= stderrFD; fd++ {
			unix.CloseOnExec(fd)
		}
	}
}

// subjectAttr gives the subject a session and group of its own, and has it die with its supervisor.
func subjectAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// watch reaps children until there are none: then no process of the tree is left, because whatever
// loses its parent becomes a child of this process.
func (s *supervisor) watch() {
	defer close(s.gone)
	for {
		// WNOWAIT leaves the process a zombie, and its pid its own, until the lock is held.
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil { // ECHILD
			return
		}
		s.reap()
	}
}

func (s *supervisor) reap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		var status unix.WaitStatus
		var usage unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, &usage)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if pid == s.pid {
			s.reaped(status, usage)
		}
	}
}
