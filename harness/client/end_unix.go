//go:build unix

package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dshconform/dshconform/harness/client/relay"
)

// receive reads the first byte of a connection, and the descriptors that come with it.
func receive(conn *net.UnixConn, first []byte) (ends []end, err error) {
	control := make([]byte, unix.CmsgSpace(3*4))
	n, used, _, _, err := conn.ReadMsgUnix(first, control) // which has children not inherit them
	fds, parseErr := descriptorsIn(control[:max(used, 0)])
	if err == nil && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = parseErr
	}
	for i, fd := range fds {
		ends = append(ends, newDescriptor(fd, relay.Streams[min(i, 2)], i < 2))
	}
	return ends, err
}

func descriptorsIn(control []byte) (fds []int, err error) {
	if len(control) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, fmt.Errorf("read the descriptors: %w", err)
	}
	for _, m := range messages {
		got, err := unix.ParseUnixRights(&m)
		if err != nil {
			return fds, fmt.Errorf("read the descriptors: %w", err)
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

// newDescriptor makes an end of a descriptor. Its mode belongs to everybody who shares it: stdin and stdout of the
// runtime are nobody else's, but stderr may be the driver's own, whose writes must not begin to fail.
func newDescriptor(fd int, name string, own bool) end {
	if own && unix.SetNonblock(fd, true) == nil {
		return fileEnd{os.NewFile(uintptr(fd), name)}
	}
	return &patient{fileEnd: fileEnd{os.NewFile(uintptr(fd), name)}}
}

// fileEnd is a descriptor that the relay handed over.
type fileEnd struct{ *os.File }

func (f fileEnd) Finish() error { return f.Close() }

// Close closes the descriptor. A process that is being forked by somebody else has a copy of it until it executes its
// program, so forks wait.
func (f fileEnd) Close() error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return f.File.Close()
}

func (f fileEnd) await() (bool, error) { return awaitReadable(f) }

// awaitReadable waits for the first byte or the end, without taking anything.
func awaitReadable(c any) (ended bool, err error) {
	conn, ok := c.(syscall.Conn)
	if !ok {
		return false, errors.ErrUnsupported
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return false, err
	}
	err = raw.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(p, 0); n == 0 || err != nil {
			return err != nil && !errors.Is(err, unix.EINTR)
		}
		n, err := unreadBytes(int(fd))
		ended = n == 0 && err == nil
		return true
	})
	return ended, err
}

func (f fileEnd) held() (n int, known bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	err2 := raw.Control(func(fd uintptr) { n, err = unreadBytes(int(fd)) })
	return n, err == nil && err2 == nil
}

func (f fileEnd) over() (ended, known bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, false
	}
	err2 := raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | hungUp}}
		_, err = unix.Poll(p, 0)
		ended = p[0].Revents&(unix.POLLHUP|hungUp) != 0
	})
	return ended, err == nil && err2 == nil
}

// patient is a descriptor in blocking mode. It is asked before each write whether there is room.
type patient struct {
	fileEnd
	mu       sync.Mutex
	deadline time.Time
}

func (p *patient) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return nil
}

// Write writes in pieces that fit where there is room at all.
func (p *patient) Write(b []byte) (written int, err error) {
	const room = 4096 // a pipe that is not full takes this much
	for written < len(b) {
		if err := p.writable(); err != nil {
			return written, err
		}
		n, err := p.File.Write(b[written:min(written+room, len(b))])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func (p *patient) writable() error {
	raw, err := p.SyscallConn()
	if err != nil {
		return err
	}
	for {
		p.mu.Lock()
		deadline := p.deadline
		p.mu.Unlock()
		if !deadline.IsZero() && !time.Now().Before(deadline) {
			return os.ErrDeadlineExceeded
		}
		ready := false
		// Short waits, so that a deadline that is moved, and a close, take effect.
		err2 := raw.Control(func(fd uintptr) {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			n, pollErr := unix.Poll(fds, 20)
			if pollErr != nil && !errors.Is(pollErr, unix.EINTR) {
				err = pollErr
			}
			ready = n > 0
		})
		if err2 != nil || err != nil {
			return errors.Join(err2, err)
		}
		if ready {
			return nil
		}
	}
}
