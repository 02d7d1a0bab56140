package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// job is a process on Windows. A job object takes the place of the supervisor: children are born into
// it, and the kernel ends them all when its last handle is closed, also because the harness died. What
// the subject starts in the moment between its own start and its assignment to the job escapes.
type job struct {
	p      *Process
	cmd    *exec.Cmd
	waited chan struct{}

	mu     sync.Mutex // guards handle against use after close
	handle windows.Handle
	cpuAll time.Duration
}

func (p *Process) launch(ctx context.Context, spec launch) error {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make a job object: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		_ = windows.CloseHandle(handle)
		return fmt.Errorf("set up a job object: %w", err)
	}
	j := &job{p: p, handle: handle, waited: make(chan struct{})}
	j.cmd = &exec.Cmd{
		Path: spec.path, Args: spec.argv, Dir: spec.dir, Env: spec.env,
		Stdin: spec.files[0], Stdout: spec.files[1], Stderr: spec.files[2],
		// Ctrl-C at a console reaches the harness alone.
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	}
	if err := j.cmd.Start(); err != nil {
		_ = windows.CloseHandle(handle)
		return &StartError{Argv: p.command.Argv, Err: plain(err)}
	}
	p.started = time.Now()
	p.pid = j.cmd.Process.Pid
	p.control = j
	if process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.pid)); err == nil {
		_ = windows.AssignProcessToJobObject(handle, process) // fails where it has exited already
		_ = windows.CloseHandle(process)
	}
	go j.wait()
	return nil
}

// wait reaps the launched process, and closes gone with it where nothing else is in the job.
func (j *job) wait() {
	defer close(j.waited)
	_ = j.cmd.Wait()
	state := j.cmd.ProcessState
	j.p.finish(Exit{Code: state.ExitCode(), At: time.Now(), User: state.UserTime(), System: state.SystemTime()})
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		j.mu.Lock()
		closed := j.handle == 0
		j.mu.Unlock()
		if pids, err := j.pids(); closed || (err == nil && len(pids) == 0) {
			close(j.p.gone)
			return
		}
		time.Sleep(wait)
	}
}

func (j *job) signal(sig os.Signal) error {
	if sig == os.Kill {
		return j.cmd.Process.Kill()
	}
	return fmt.Errorf("Windows has no signals: %w", errors.ErrUnsupported)
}

func (j *job) members(ctx context.Context) ([]Member, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pids, err := j.pids()
	members := make([]Member, 0, len(pids))
	for _, pid := range pids {
		members = append(members, Member{Pid: pid, Command: imageName(uint32(pid))})
	}
	return members, err
}

// pids asks the job for its processes.
func (j *job) pids() ([]int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return nil, nil
	}
	const most = 1000
	var list struct {
		assigned, listed uint32
		ids              [most]uintptr
	}
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil, fmt.Errorf("list the processes of a job: %w", err)
	}
	pids := make([]int, 0, list.listed)
	for _, id := range list.ids[:min(list.listed, most)] {
		pids = append(pids, int(id))
	}
	return pids, nil
}

func (j *job) cpu(ctx context.Context) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return j.cpuAll, nil
	}
	// JOBOBJECT_BASIC_ACCOUNTING_INFORMATION; times are in units of 100 ns.
	var info struct {
		user, kernel, periodUser, periodKernel int64
		faults, total, active, ended           uint32
	}
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0, fmt.Errorf("read the accounts of a job: %w", err)
	}
	return time.Duration(info.user+info.kernel) * 100, nil
}

func (j *job) kill(timeout time.Duration) ([]Member, error) {
	used, _ := j.cpu(context.Background())
	j.mu.Lock()
	j.cpuAll = used
	err := windows.TerminateJobObject(j.handle, 1)
	j.mu.Unlock()
	_ = j.cmd.Process.Kill() // in case it never got into the job; else it has ended
	var left []Member
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-j.waited:
	case <-timer.C:
		left, _ = j.members(context.Background())
	}
	j.mu.Lock()
	_ = windows.CloseHandle(j.handle)
	j.handle = 0
	j.mu.Unlock()
	if len(left) == 0 {
		<-j.waited
	}
	return left, err
}

// imageName is the path of a process's program.
func imageName(pid uint32) string {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "[?]"
	}
	defer windows.CloseHandle(process)
	buf := make([]uint16, windows.MAX_PATH)
	size := uint32(len(buf))
	if windows.QueryFullProcessImageName(process, 0, &buf[0], &size) != nil {
		return "[?]"
	}
	return windows.UTF16ToString(buf[:size])
}

// Supervise has no work on Windows: the job object does it.
func Supervise() int {
	fmt.Fprintln(os.Stderr, "supervise is not used on Windows")
	return 2
}

func treeReadable() bool { return true }
