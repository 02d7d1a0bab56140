package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// procStat is what /proc/PID/stat tells.
type procStat struct {
	proc
	own      time.Duration // CPU time of the process
	children time.Duration // … of the descendants that were waited for
}

// tick is the unit of CPU times in /proc: USER_HZ, which is 100 on every architecture that Go has.
const tick = 10 * time.Millisecond

// readStat reads the entry of one process. A process that ends meanwhile gives fs.ErrNotExist.
func readStat(pid int) (procStat, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(err, unix.ESRCH) {
			err = fs.ErrNotExist
		}
		return procStat{}, err
	}
	return parseStat(raw)
}

// look gives one process.
func look(pid int) (proc, error) {
	s, err := readStat(pid)
	return s.proc, err
}

// parseStat reads "PID (NAME) STATE PPID PGRP SESSION …". The name may hold spaces and parentheses,
// so the fields are counted from the last parenthesis.
func parseStat(raw []byte) (procStat, error) {
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 1 || end < open {
		return procStat{}, fmt.Errorf("unreadable process entry %q", raw)
	}
	fields := strings.Fields(string(raw[end+1:]))
	const needed = 18 // up to num_threads, the 20th field of the entry
	if len(fields) < needed {
		return procStat{}, fmt.Errorf("short process entry %q", raw)
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64) // the kernel wrote it
		return n
	}
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(raw[:open])))
	s := procStat{proc: proc{pid: pid, parent: int(number(1)), group: int(number(2)), session: int(number(3))}}
	s.name = strings.ToValidUTF8(oneLine(string(raw[open+1:end])), "\uFFFD")
	s.own = time.Duration(number(11)+number(12)) * tick
	s.children = time.Duration(number(13)+number(14)) * tick
	// A process whose first thread has ended shows as a zombie while its other threads run on.
	state, threads := fields[0], number(17)
	s.dead = state == "X" || state == "x" || (state == "Z" && threads <= 1)
	return s, nil
}

// treeOf lists the descendants of a supervisor. It is their subreaper, so none has another ancestor.
func treeOf(supervisor, _ int, _ string) ([]proc, error) {
	stats, err := descendants(supervisor)
	found := make([]proc, len(stats))
	for i := range stats {
		found[i] = stats[i].proc
	}
	return found, err
}

// glance is treeOf at half the price: one walk, for a sweep that looks again anyway.
func glance(supervisor, _ int, _ string) ([]proc, error) {
	walk := walkChildren
	if !hasChildrenFiles() {
		walk = walkTable
	}
	stats, err := walk(supervisor)
	found := make([]proc, 0, len(stats))
	for _, s := range stats {
		found = append(found, s.proc)
	}
	return found, err
}

// descendants lists every process below root, root excluded, in the order of their pids.
//
// A process that forks and exits while the tree is walked hands its child to root, whose children were
// read already: so the walk is repeated until two in a row agree.
func descendants(root int) ([]procStat, error) {
	walk := walkChildren
	if !hasChildrenFiles() {
		walk = walkTable
	}
	before, err := walk(root)
	const tries = 5
	for range tries {
		if err != nil {
			return nil, err
		}
		var now map[int]procStat
		if now, err = walk(root); err != nil {
			return nil, err
		}
		same := len(now) == len(before)
		for pid := range now {
			_, ok := before[pid]
			same = same && ok
		}
		before = now
		if same {
			break
		}
	}
	list := make([]procStat, 0, len(before))
	for _, s := range before {
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].pid < list[j].pid })
	return list, nil
}

// hasChildrenFiles is whether the kernel lists children by parent (CONFIG_PROC_CHILDREN): a walk then
// costs what the tree costs, not what the machine's whole table does.
func hasChildrenFiles() bool {
	pid := strconv.Itoa(os.Getpid())
	_, err := os.Stat("/proc/" + pid + "/task/" + pid + "/children")
	return err == nil
}

func walkChildren(root int) (map[int]procStat, error) {
	found := map[int]procStat{}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		dir := "/proc/" + strconv.Itoa(queue[0]) + "/task"
		threads, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended, and its children are another's
		}
		for _, thread := range threads {
			raw, err := os.ReadFile(dir + "/" + thread.Name() + "/children")
			if err != nil {
				continue
			}
			for _, field := range bytes.Fields(raw) {
				pid, err := strconv.Atoi(string(field))
				if err != nil || pid == root {
					continue
				}
				if _, seen := found[pid]; seen {
					continue
				}
				if s, err := readStat(pid); err == nil {
					found[pid] = s
					queue = append(queue, pid)
				}
			}
		}
	}
	return found, nil
}

func walkTable(root int) (map[int]procStat, error) {
	pids, err := allPids()
	if err != nil {
		return nil, err
	}
	byParent := map[int][]procStat{}
	for _, pid := range pids {
		if s, err := readStat(pid); err == nil {
			byParent[s.parent] = append(byParent[s.parent], s)
		}
	}
	found := map[int]procStat{}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, s := range byParent[queue[0]] {
			if _, seen := found[s.pid]; !seen && s.pid != root {
				found[s.pid] = s
				queue = append(queue, s.pid)
			}
		}
	}
	return found, nil
}

func allPids() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	sort.Ints(pids)
	return pids, nil
}

// strayPatience bounds the reading of all environments of the machine.
const strayPatience = 5 * time.Second

// strays finds a tree whose supervisor is no more: what carries the nonce in its environment or is
// in the session of the launched process, and the descendants of those.
func strays(launched int, nonce string) ([]proc, error) {
	pids, err := allPids()
	if err != nil {
		return nil, err
	}
	mark := []byte(NonceVariable + "=" + nonce)
	bound := newBound(strayPatience)
	defer bound.stop()
	found := map[int]procStat{}
	for _, pid := range pids {
		s, err := readStat(pid)
		if err != nil {
			continue
		}
		belongs := launched > 1 && s.session == launched
		if !belongs {
			env, _ := within(bound, func() []byte {
				env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
				return env
			})
			belongs = bytes.Contains(env, mark)
		}
		if !belongs {
			continue
		}
		found[pid] = s
		below, err := descendants(pid)
		if err != nil {
			continue
		}
		for _, child := range below {
			found[child.pid] = child
		}
	}
	list := make([]proc, 0, len(found))
	for _, s := range found {
		list = append(list, s.proc)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].pid < list[j].pid })
	return list, nil
}

// cpuOf sums the tree below a supervisor: each process with what it waited for, and the supervisor's
// own children that were reaped.
func cpuOf(supervisor int, _ string) (time.Duration, error) {
	top, err := readStat(supervisor)
	if err != nil {
		return 0, err
	}
	sum := top.children
	below, err := descendants(supervisor)
	for _, s := range below {
		sum += s.own + s.children
	}
	return sum, err
}

// commandLine is a process's command line in one line of bounded length; empty where it has none.
func commandLine(pid int) string {
	const most = 200
	dir := "/proc/" + strconv.Itoa(pid)
	raw, err := os.ReadFile(dir + "/cmdline")
	if err != nil || len(raw) == 0 {
		return ""
	}
	line := strings.ToValidUTF8(oneLine(strings.ReplaceAll(strings.TrimRight(string(raw), "\x00"), "\x00", " ")), "\uFFFD")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// treeReadable is whether the table of processes can be read at all.
func treeReadable() bool {
	_, err := readStat(os.Getpid())
	return err == nil
}
