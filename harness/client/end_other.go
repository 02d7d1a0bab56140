//go:build !unix

package client

import (
	"errors"
	"io"
	"net"
)

// receive reads the first byte of a connection. Descriptors can't come with it here.
func receive(conn *net.UnixConn, first []byte) ([]end, error) {
	n, err := conn.Read(first)
	if err == nil && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// awaitReadable can't tell here.
func awaitReadable(any) (ended bool, err error) { return false, errors.ErrUnsupported }
