//go:build !unix

package client

func vanished(int) (gone, known bool) { return false, false }
