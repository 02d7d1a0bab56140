package server_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

var errDone = os.ErrProcessDone

// ignoresTerm reports whether the process ignores SIGTERM.
func ignoresTerm(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if mask, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && n&(1<<(syscall.SIGTERM-1)) != 0
		}
	}
	return false
}
