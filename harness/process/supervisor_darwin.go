package process

import (
	"bytes"
	"errors"
	"os"
	"sort"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxRSSUnit is the unit of ru_maxrss in bytes.
const maxRSSUnit = 1

// prepare keeps the descriptors from the subject. macOS has no subreaper.
func prepare() {
	for fd := controlFD; fd <= stderrFD; fd++ {
		unix.CloseOnExec(fd)
	}
}

func subjectAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// watch waits for the launched process. Nothing tells of the others, so they are looked for, ever more
// seldom, until none is found.
func (s *supervisor) watch() {
	defer close(s.gone)
	var status unix.WaitStatus
	var usage unix.Rusage
	for {
		if _, err := unix.Wait4(s.pid, &status, 0, &usage); err != unix.EINTR {
			break
		}
	}
	s.mu.Lock()
	s.reaped(status, usage)
	s.mu.Unlock()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if found, err := treeOf(os.Getpid(), s.pid, s.nonce); err == nil && len(found) == 0 {
			return
		}
		time.Sleep(wait)
	}
}

// treeOf finds the launched process's group, what carries the nonce in its environment, and the
// descendants of those. A process that left the group, lost its parent and cleaned its environment is missed.
func treeOf(supervisor, launched int, nonce string) ([]proc, error) {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	mark := []byte(NonceVariable + "=" + nonce)
	all := map[int]proc{}
	found := map[int]proc{}
	for _, k := range table {
		pid := int(k.Proc.P_pid)
		p := procOf(&k)
		if pid == supervisor || pid <= 1 || p.dead {
			continue
		}
		all[pid] = p
		if p.parent == supervisor || (launched > 1 && p.group == launched) {
			found[pid] = p
			continue
		}
		// The arguments and the environment, of the caller's own processes alone.
		if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil && bytes.Contains(raw, mark) {
			found[pid] = p
		}
	}
	for grew := true; grew; {
		grew = false
		for pid, p := range all {
			_, in := found[pid]
			_, parentIn := found[p.parent]
			if !in && parentIn {
				found[pid] = p
				grew = true
			}
		}
	}
	list := make([]proc, 0, len(found))
	for _, p := range found {
		list = append(list, p)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].pid < list[j].pid })
	return list, nil
}

func procOf(k *unix.KinfoProc) proc {
	const zombie = 5 // SZOMB
	return proc{
		pid: int(k.Proc.P_pid), name: processName(k), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		dead: k.Proc.P_stat == zombie,
	}
}

// look gives one process.
func look(pid int) (proc, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return proc{}, err
	}
	return procOf(k), nil
}

// glance is treeOf: there is nothing faster.
func glance(supervisor, launched int, nonce string) ([]proc, error) {
	return treeOf(supervisor, launched, nonce)
}

func strays(launched int, nonce string) ([]proc, error) { return treeOf(-1, launched, nonce) }

// cpuOf has no counterpart of /proc: the CPU time is known once the tree is gone.
func cpuOf(int, string) (time.Duration, error) {
	return 0, errors.Join(errors.New("the CPU time of a running tree is not known on macOS"), errors.ErrUnsupported)
}

// commandLine is the name alone: the arguments would need the parsing of another kernel structure.
func commandLine(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return "[" + processName(k) + "]"
}

func processName(k *unix.KinfoProc) string {
	name := make([]byte, 0, len(k.Proc.P_comm))
	for _, c := range k.Proc.P_comm {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return strings.ToValidUTF8(oneLine(string(name)), "\uFFFD")
}

func treeReadable() bool { return true }
