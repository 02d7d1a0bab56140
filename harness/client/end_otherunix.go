//go:build unix && !linux

package client

import "golang.org/x/sys/unix"

// hungUp is an event that this platform does not have for sockets.
const hungUp = 0

// fionread is _IOR('f', 127, int).
const fionread = 0x4004667f

func unreadBytes(fd int) (int, error) { return unix.IoctlGetInt(fd, fionread) }
