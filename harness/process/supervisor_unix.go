//go:build linux || darwin

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervisor is the state of the small process between the harness and one subject. It alone waits
// for children, so it may reap whatever comes, and no status is stolen from os/exec in the harness.
type supervisor struct {
	channel *os.File
	sending sync.Mutex

	pid   int
	nonce string

	mu   sync.Mutex // held while reaping and while signalling: a pid that is signalled is not reaped yet
	dead bool

	gone chan struct{} // closed when no process of the tree is left
}

// Supervise is the whole life of a supervisor: the hidden subcommand that Command.Supervisor names
// calls it early in main (nothing that takes time should come before it) and exits with its result.
// Run by hand it says so, and returns 2.
func Supervise() int {
	// The kernel ends the launched process when the thread that forked it ends; this one lasts.
	runtime.LockOSThread()
	catchSignals()
	if !isSocket(controlFD) {
		fmt.Fprintln(os.Stderr, "supervise is run by dshconform itself, with a control channel")
		return 2
	}
	s := &supervisor{channel: os.NewFile(controlFD, "control"), gone: make(chan struct{})}
	prepare()
	requests := make(chan request)
	go s.receive(requests) // ends with this process
	first, ok := <-requests
	if !ok || first.Start == nil {
		return 2
	}
	if !s.start(*first.Start) {
		return 1
	}
	spareThreads()
	go s.watch() // ends with the tree, or with this process
	for {
		select {
		case r, ok := <-requests:
			switch {
			case !ok: // the harness has died
				s.sweep(DefaultKillTimeout)
				return 0
			case r.Kill != nil:
				s.report(report{Gone: &goneReport{Left: described(s.sweep(*r.Kill)), CPU: childrenCPU()}})
				return 0
			case r.Signal != 0:
				s.report(report{Signalled: s.signal(syscall.Signal(r.Signal))})
			}
		case <-s.gone:
			s.report(report{Gone: &goneReport{CPU: childrenCPU()}})
			return 0
		}
	}
}

// receive passes requests on until the channel ends.
func (s *supervisor) receive(requests chan<- request) {
	defer close(requests)
	decoder := json.NewDecoder(s.channel)
	for {
		var r request
		if decoder.Decode(&r) != nil {
			return
		}
		requests <- r
	}
}

// report writes one line; an error means that the harness has died, which receive finds.
func (s *supervisor) report(r report) {
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	_, _ = s.channel.Write(append(line, '\n'))
}

// start executes the subject and reports how that went. Afterwards the pipes are the subject's alone.
func (s *supervisor) start(r startRequest) bool {
	s.nonce = r.Nonce
	// Here and not in the child, whose errors can't be told apart.
	if r.Dir != "" {
		if err := os.Chdir(r.Dir); err != nil {
			s.report(report{Failed: &failedReport{Reason: "its working directory " + r.Dir + " can't be used: " + plain(err).Error()}})
			return false
		}
	}
	attr := &syscall.ProcAttr{
		Env:   toStrings(r.Env),
		Files: []uintptr{stdinFD, stdoutFD, stderrFD},
		Sys:   subjectAttr(),
	}
	pid, err := syscall.ForkExec(r.Path, toStrings(r.Argv), attr)
	// A program that was written a moment ago may still be open for writing in a child that some other
	// goroutine of the harness has forked and that has not executed yet.
	for wait := time.Millisecond; errors.Is(err, syscall.ETXTBSY) && wait < time.Second; wait *= 2 {
		time.Sleep(wait) //nolint:forbidigo // polls: no event tells when the file is closed
		pid, err = syscall.ForkExec(r.Path, toStrings(r.Argv), attr)
	}
	at := time.Now().UnixNano()
	for _, fd := range []int{stdinFD, stdoutFD, stderrFD} {
		_ = unix.Close(fd)
	}
	_ = os.Chdir("/") // the subject's directory is not ours to hold
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		own := errno == syscall.EAGAIN || errno == syscall.ENOMEM || errno == syscall.EMFILE || errno == syscall.ENFILE
		s.report(report{Failed: &failedReport{Errno: int(errno), Reason: err.Error(), Own: own}})
		return false
	}
	s.pid = pid
	s.report(report{Started: &startedReport{Pid: pid, At: at}})
	return true
}

// signal sends to the launched process alone, and never to a pid that was reaped.
func (s *supervisor) signal(sig syscall.Signal) *signalledReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return &signalledReport{Done: true}
	}
	if err := unix.Kill(s.pid, sig); err != nil {
		return &signalledReport{Error: err.Error()}
	}
	return &signalledReport{}
}

// reaped reports the launched process. The caller holds mu.
func (s *supervisor) reaped(status unix.WaitStatus, usage unix.Rusage) {
	s.dead = true
	e := exitedReport{
		Code: status.ExitStatus(), At: time.Now().UnixNano(), MaxRSS: int64(usage.Maxrss) * maxRSSUnit,
		User: time.Duration(usage.Utime.Nano()), System: time.Duration(usage.Stime.Nano()),
	}
	if status.Signaled() {
		e.Signal = int(status.Signal())
	}
	s.report(report{Exited: &e})
}

// sweep ends the whole tree.
func (s *supervisor) sweep(timeout time.Duration) []proc {
	return sweep{
		list: func() ([]proc, error) { return glance(os.Getpid(), s.pid, s.nonce) },
		kill: func(pid int) error { return unix.Kill(pid, unix.SIGKILL) },
		gone: s.gone,
	}.run(timeout)
}

// childrenCPU is the CPU time of all that was reaped here.
func childrenCPU() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// catchSignals keeps the supervisor alive until its work is done. Signals are caught and dropped, not
// ignored: an ignored one stays ignored across an exec, and the subject is to start with the
// defaults whatever the caller of the harness had ignored (nohup, Python's SIGPIPE).
func catchSignals() {
	signal.Notify(make(chan os.Signal, 1),
		unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE, unix.SIGALRM, unix.SIGUSR1, unix.SIGUSR2,
		unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM, unix.SIGWINCH, unix.SIGIO)
}

// spareThreads makes the runtime create now the threads that it will want later: it can't, and
// dies, when a fork bomb below has used up the allowance of processes.
func spareThreads() {
	const spare = 4
	var all sync.WaitGroup
	all.Add(spare)
	for range spare {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			all.Done()
			all.Wait()
		}()
	}
	all.Wait()
}

func isSocket(fd int) bool {
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFSOCK
}
