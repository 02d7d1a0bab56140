package server

import (
	"os"

	"golang.org/x/sys/unix"
)

// held is the number of bytes that wait in a pipe.
func held(f *os.File) (n int, known bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	err2 := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n, err == nil && err2 == nil
}
