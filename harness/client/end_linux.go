package client

import "golang.org/x/sys/unix"

// hungUp is the event that the other side of a socket writes no more.
const hungUp = unix.POLLRDHUP

func unreadBytes(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCINQ) }
