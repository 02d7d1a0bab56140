//go:build linux || darwin

package process_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// roles are the subjects that the test binary can be. Each prints a line when it is ready.
var roles = map[string]func(args []string) int{
	"sleep":      roleSleep,
	"stubborn":   roleStubborn,
	"describe":   roleDescribe,
	"flood":      roleFlood,
	"leave":      roleLeave,
	"burn":       roleBurn,
	"traced":     roleTraced,
	"supervisor": roleSupervisor,
}

func subject(name string, args []string) int {
	run, ok := roles[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", name)
		return 99
	}
	return run(args)
}

// rest is long enough to outlast every test, and short enough not to be left for days.
func rest() int {
	time.Sleep(10 * time.Minute)
	return 98
}

func roleSleep([]string) int {
	fmt.Println("ready")
	return rest()
}

// roleStubborn ignores what can be ignored, and prints what it got.
func roleStubborn([]string) int {
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Println("ready")
	for s := range got {
		fmt.Println(s)
	}
	return 0
}

// description is what a subject finds around it.
type description struct {
	Argv, Env      []string
	Dir            string
	Pid, Parent    int
	Session, Group int
	Descriptors    []int
	NonBlocking    []int
	Terminal       bool
}

func roleDescribe([]string) int {
	d := description{Argv: os.Args, Env: os.Environ(), Pid: os.Getpid(), Parent: os.Getppid(), Group: unix.Getpgrp()}
	d.Dir, _ = os.Getwd()
	d.Session, _ = unix.Getsid(0)
	for fd := range 256 {
		// What the Go runtime opens for itself is close-on-exec, what was inherited is not.
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		d.Descriptors = append(d.Descriptors, fd)
		if mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && mode&unix.O_NONBLOCK != 0 {
			d.NonBlocking = append(d.NonBlocking, fd)
		}
	}
	if tty, err := os.Open("/dev/tty"); err == nil {
		d.Terminal = true
		_ = tty.Close()
	}
	_ = json.NewEncoder(os.Stdout).Encode(d)
	return 0
}

// roleFlood writes a number of bytes to stderr, then says so on stdout.
func roleFlood(args []string) int {
	n, _ := strconv.Atoi(args[0])
	block := []byte(strings.Repeat("0123456789abcde\n", 4096))
	for n > 0 {
		m := min(n, len(block))
		if _, err := os.Stderr.Write(block[:m]); err != nil {
			return 1
		}
		n -= m
	}
	fmt.Println("done")
	return 0
}

// roleLeave starts a child that outlives it, prints the child's pid, and exits with status 7.
// Its arguments say how the child gets away:
//
//	setsid  it is in a session of its own
//	fork    it is a grandchild whose parent has exited
//	scrub   its environment is empty
//	quiet   it holds no pipe of ours
//	stay    the launched process does not exit
func roleLeave(args []string) int {
	has := func(name string) bool { return strings.Contains(strings.Join(args, " "), name) }
	path, _ := os.Executable()
	cmd := exec.Command(path, "subject", "sleep")
	if has("fork") {
		others := strings.ReplaceAll(strings.ReplaceAll(strings.Join(args, " "), "fork", ""), "stay", "")
		cmd = exec.Command(path, append([]string{"subject", "leave"}, strings.Fields(others)...)...)
		cmd.Stdout = os.Stdout
		if err := cmd.Run(); cmd.ProcessState == nil {
			fmt.Println(err)
			return 1
		}
		if has("stay") {
			return rest()
		}
		return 7
	}
	if has("setsid") {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if has("scrub") {
		cmd.Env = []string{"A=b"}
	}
	ready, w, _ := os.Pipe()
	cmd.ExtraFiles = []*os.File{w}
	if !has("quiet") {
		cmd.Stderr = os.Stderr
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.Stdout, os.Stdin)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	if has("stay") {
		return rest()
	}
	return 7
}

// roleBurn uses CPU time in a grandchild, and itself sleeps.
func roleBurn(args []string) int {
	if len(args) == 0 {
		path, _ := os.Executable()
		cmd := exec.Command(path, "subject", "burn", "now")
		if err := cmd.Start(); err != nil {
			return 1
		}
		fmt.Println("ready")
		return rest()
	}
	for {
		runtime.Gosched()
	}
}

// roleTraced has a child that hangs in a tracing stop, before its first instruction.
func roleTraced([]string) int {
	runtime.LockOSThread()
	path, _ := os.Executable()
	pid, err := syscall.ForkExec(path, []string{path, "subject", "sleep"}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(pid)
	return rest()
}

// roleSupervisor has a child in another session, then sends its own supervisor a signal.
func roleSupervisor(args []string) int {
	path, _ := os.Executable()
	cmd := exec.Command(path, "subject", "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		return 1
	}
	_, _ = out.Read(make([]byte, 1))
	fmt.Println(cmd.Process.Pid)
	number, _ := strconv.Atoi(args[0])
	_ = syscall.Kill(os.Getppid(), syscall.Signal(number))
	fmt.Println("sent")
	return rest()
}
