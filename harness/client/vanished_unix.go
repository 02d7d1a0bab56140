//go:build unix

package client

import (
	"errors"

	"golang.org/x/sys/unix"
)

// vanished reports whether there is no process of that id, also no zombie.
func vanished(pid int) (gone, known bool) {
	return errors.Is(unix.Kill(pid, 0), unix.ESRCH), true
}
