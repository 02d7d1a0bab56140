package process_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dshconform/dshconform/harness/process"
)

func init() {
	roles["comet"] = roleComet
	roles["bomb"] = roleBomb
	roles["halfdead"] = roleHalfDead
	roles["dispositions"] = roleDispositions
	roles["harness"] = roleHarness
	roles["subreaper"] = roleSubreaper
	if len(os.Args) > 2 && os.Args[2] == "halfdead" {
		runtime.LockOSThread() // keeps the main goroutine on the first thread
	}
}

// fork is the bare system call: the child has this thread alone, and may make bare calls alone.
//
//go:norace
//go:nosplit
func fork() uintptr {
	pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	return pid
}

// roleComet is a process that is never there: each generation starts a session, forks the
// next, and exits.
//
//go:norace
func roleComet([]string) int {
	fmt.Println("ready")
	runtime.LockOSThread()
	for {
		if fork() != 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	}
}

// roleBomb forks without end: a child sleeps, every tenth is in a session of its own. What is beyond
// the first 300 exits at once, to spare the machine that the test runs on.
//
//go:norace
func roleBomb([]string) int {
	fmt.Println("ready")
	runtime.LockOSThread()
	long := syscall.Timespec{Sec: 600}
	for i := 0; ; i++ {
		if fork() != 0 {
			if i > 300 {
				var status int32
				syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), syscall.WNOHANG, 0, 0, 0)
			}
			continue
		}
		if i%10 == 0 {
			syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		}
		if i < 300 {
			syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&long)), 0, 0)
		}
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// roleHalfDead ends its first thread: the process shows as a zombie, and runs on.
func roleHalfDead([]string) int {
	go func() {
		// The line is printed once the first thread is one that has ended.
		for {
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", os.Getpid()))
			if len(raw) == 0 || containsZombie(raw) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Println("ready")
		rest()
		os.Exit(98)
	}()
	if unix.Gettid() != os.Getpid() {
		fmt.Println("not the first thread")
		return 1
	}
	syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	return 0
}

func containsZombie(stat []byte) bool {
	for i := len(stat) - 1; i > 1; i-- {
		if stat[i] == ')' {
			return i+2 < len(stat) && stat[i+2] == 'Z'
		}
	}
	return false
}

// roleSubreaper takes the orphans of its own tree, so that they never come to the supervisor while it
// lives.
func roleSubreaper(args []string) int {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	return roleLeave(append(args, "stay"))
}

// roleDispositions prints the masks of ignored and of blocked signals that it was started with. A shell does
// it, because the Go runtime sets dispositions of its own.
func roleDispositions([]string) int {
	script := `while read -r name value; do case $name in SigIgn:|SigBlk:) echo $((0x$value));; esac; done </proc/self/status | sort | tr '\n' ' '; echo; exec sleep 600`
	err := syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ())
	fmt.Println(err)
	return 1
}

// roleHarness is a harness that gets killed: it starts the rest of its arguments, prints the nonce,
// the supervisor's pid, and what the subject printed first, and sleeps.
func roleHarness(args []string) int {
	path, _ := os.Executable()
	p, err := process.Start(context.Background(), process.Command{
		Argv: append([]string{path, "subject"}, args...), Env: os.Environ(), Supervisor: []string{path, "supervise"},
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	buf := make([]byte, 100)
	n, _ := p.Stdout().Read(buf)
	var supervisors []string
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		children, _ := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		supervisors = append(supervisors, strings.Fields(string(children))...)
	}
	fmt.Printf("%s %s %s\n", p.Nonce(), strings.Join(supervisors, "+"), strings.TrimSpace(string(buf[:n])))
	return rest()
}
