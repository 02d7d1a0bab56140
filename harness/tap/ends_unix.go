//go:build unix

package tap

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// startReader runs f in a goroutine that the group waits for.
func startReader(group *sync.WaitGroup, f func()) { group.Go(f) }

// interruptible makes a source of a file that the Go runtime may not poll, such as
// an inherited stdin. The file is left in the blocking mode that others who share it
// expect.
func interruptible(f *os.File) source {
	s := &polled{File: f}
	s.wake, _ = newWaker() // without one a Read waits for its bytes, as any other does
	return s
}

type polled struct {
	*os.File
	wake *waker
}

func (s *polled) Read(p []byte) (int, error) {
	if s.wake != nil && s.wake.until(s.File, unix.POLLIN) == woken {
		return 0, io.EOF
	}
	return s.File.Read(p)
}

func (s *polled) Interrupt() {
	if s.wake != nil {
		s.wake.now()
	}
}

func (s *polled) Close() error {
	if s.wake != nil {
		s.wake.now()
		s.wake.release()
	}
	return closeQuietly(s.File)
}

// watch waits for the reader of a sink to go away.
type watch struct {
	wake *waker
	done chan struct{}
	went bool
}

// watchSink calls gone once nobody can read what is written to f any more, which a
// writer is otherwise told only by its next write.
func watchSink(f *os.File, gone func()) *watch {
	w := &watch{done: make(chan struct{})}
	var err error
	if w.wake, err = newWaker(); err != nil {
		close(w.done)
		return w
	}
	go func() {
		defer close(w.done)
		if w.wake.until(f, 0) == broken {
			w.went = true
			gone()
		}
	}()
	return w
}

// stop ends the watching and waits for it.
func (w *watch) stop() {
	if w.wake != nil {
		w.wake.now()
	}
	<-w.done
	if w.wake != nil {
		w.wake.release()
	}
}

// gone reports whether the reader went away before the watching was stopped.
func (w *watch) gone() bool { return w.went }

// goneNow reports whether nobody can read what is written to f any more.
func goneNow(f *os.File) bool {
	gone := false
	err := onFd(f, func(fd int) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&unix.POLLNVAL == 0
	})
	return err == nil && gone
}

// waker ends a wait in poll.
type waker struct {
	r, w  *os.File
	once  sync.Once
	freed sync.Once
}

func newWaker() (*waker, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &waker{r: r, w: w}, nil
}

func (w *waker) now()     { w.once.Do(func() { _ = w.w.Close() }) } // r is at its end then
func (w *waker) release() { w.freed.Do(func() { _ = w.r.Close() }) }

// how a wait ended.
type waited int

const (
	woken  waited = iota // by now, or because nothing can be waited for
	ready                // for the events that were asked for
	broken               // the other end is gone
)

// until waits for events on f, or for its other end to go.
func (w *waker) until(f *os.File, events int16) waited {
	how := woken
	err := onFd(f, func(fd int) {
		_ = onFd(w.r, func(wake int) { how = poll(fd, events, wake) })
	})
	if err != nil {
		return woken // closed
	}
	return how
}

func poll(fd int, events int16, wake int) waited {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(wake), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil, fds[1].Revents != 0:
			return woken
		case events != 0: // an end that is gone, or that poll does not know, is told by the read
			return ready
		case fds[0].Revents&unix.POLLNVAL != 0:
			return woken
		}
		return broken
	}
}

// onFd calls f with the descriptor of a file, which stays open meanwhile.
func onFd(file *os.File, f func(fd int)) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}
