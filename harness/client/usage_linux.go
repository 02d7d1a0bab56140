package client

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// canMeasure is whether Usage works on this platform.
const canMeasure = true

// ticks is the unit of CPU times in /proc: 100 a second on every Linux.
const ticks = 100

// Usage is what the driver's processes use: the SDK's own among them, the runtimes that it has launched left out.
func (d *Driver) Usage(ctx context.Context) (Usage, error) {
	members, err := d.proc.Tree(ctx)
	if err != nil {
		return Usage{}, err
	}
	d.mu.Lock()
	relays := d.relays
	var u Usage
	for _, m := range members {
		if relays[m.Pid] {
			continue
		}
		rss, cpu, err := processUsage(m.Pid)
		if err != nil {
			continue // it has ended meanwhile
		}
		u.Memory += rss
		u.CPU += cpu
	}
	d.mu.Unlock()
	if u.Memory == 0 {
		return u, fmt.Errorf("measure the driver: no process of it can be seen")
	}
	return u, nil
}

// processUsage reads the resident memory and the CPU time of a process.
func processUsage(pid int) (memory int64, cpu time.Duration, err error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	rest := string(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name before may hold anything
	fields := strings.Fields(rest)
	const state, utime, stime, rss = 0, 11, 12, 21
	if len(fields) <= rss || fields[state] == "Z" {
		return 0, 0, fmt.Errorf("process %d is a zombie", pid)
	}
	var n [3]int64
	for i, f := range []int{utime, stime, rss} {
		if n[i], err = strconv.ParseInt(fields[f], 10, 64); err != nil {
			return 0, 0, err
		}
	}
	return n[2] * int64(os.Getpagesize()), time.Duration(n[0]+n[1]) * time.Second / ticks, nil
}
