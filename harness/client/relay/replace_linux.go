package relay

import "golang.org/x/sys/unix"

// replace makes to a copy of from. Not every processor has dup2.
func replace(from, to int) error { return unix.Dup3(from, to, 0) }
