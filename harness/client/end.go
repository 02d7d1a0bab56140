package client

import (
	"net"
	"time"
)

// end is one end of a stream between the SDK and its runtime, whatever it consists of.
type end interface {
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	// SetReadDeadline and SetWriteDeadline end waits that are under way, too.
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
	// Finish ends what is written, where Close would cut it.
	Finish() error
	Close() error
	// await waits until there is something to read, and leaves it there, or until the other side has ended it without
	// a byte. It is an error where the platform can't tell, and where the end is closed.
	await() (ended bool, err error)
	// held is the number of bytes that wait in it, known where the platform tells; over is whether the other side
	// has ended it, which can be known before the bytes are read.
	held() (n int, known bool)
	over() (ended, known bool)
}

// connEnd is a connection that the relay pumps.
type connEnd struct{ net.Conn }

func (c connEnd) Finish() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

func (c connEnd) await() (bool, error) {
	if b, ok := c.Conn.(*buffered); ok && b.in.Buffered() > 0 {
		return false, nil
	}
	return awaitReadable(c.Conn)
}

func (connEnd) held() (int, bool)  { return 0, false }
func (connEnd) over() (bool, bool) { return false, false }
