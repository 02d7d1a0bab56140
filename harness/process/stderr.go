package process

import (
	"os"
	"sync"
	"time"
)

// StderrInfo is what a subject wrote to stderr.
type StderrInfo struct {
	Total int64  // bytes written so far
	Tail  []byte // the last of them, at most Command.StderrTail
}

// ring keeps the last bytes of a stream in a buffer that never grows.
type ring struct {
	buf   []byte
	next  int // where the next byte goes
	total int64
}

func newRing(size int) *ring { return &ring{buf: make([]byte, size)} }

func (r *ring) write(b []byte) {
	r.total += int64(len(b))
	if len(b) > len(r.buf) {
		b = b[len(b)-len(r.buf):]
	}
	n := copy(r.buf[r.next:], b)
	copy(r.buf, b[n:])
	if len(r.buf) > 0 {
		r.next = (r.next + len(b)) % len(r.buf)
	}
}

func (r *ring) tail() []byte {
	if r.total < int64(len(r.buf)) {
		return append([]byte(nil), r.buf[:r.next]...)
	}
	return append(append([]byte(nil), r.buf[r.next:]...), r.buf[:r.next]...)
}

// tail reads a pipe to its end at full speed, so that a subject never blocks on its diagnostics, and
// keeps the last of it.
type tail struct {
	file *os.File
	tap  func([]byte)
	done chan struct{} // closed at the end of the stream

	mu   sync.Mutex
	ring *ring
}

// newTail starts the reading; close ends and joins it.
func newTail(file *os.File, size int, tap func([]byte)) *tail {
	t := &tail{file: file, tap: tap, done: make(chan struct{}), ring: newRing(size)}
	go t.read()
	return t
}

func (t *tail) read() {
	defer close(t.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.file.Read(buf)
		if n > 0 {
			t.mu.Lock()
			t.ring.write(buf[:n])
			t.mu.Unlock()
			if t.tap != nil {
				t.tap(buf[:n])
			}
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) info() StderrInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return StderrInfo{Total: t.ring.total, Tail: t.ring.tail()}
}

// close waits for the end of the stream, which has come once the tree is dead. Where somebody is
// left who holds the pipe (held), or a stranger got hold of it, it takes what is in the pipe now and
// gives up on the rest.
func (t *tail) close(held bool) {
	grace := stderrGrace
	if held {
		grace = stderrGrace / 50
	}
	if t.file.SetReadDeadline(time.Now().Add(grace)) != nil { // a platform whose pipes have no deadlines
		select {
		case <-t.done:
		case <-time.After(grace):
		}
		_ = t.file.Close()
	}
	<-t.done
	_ = t.file.Close()
}

// stderrGrace bounds the wait for what a dead tree left in the stderr pipe, at most 64 KiB. It is
// only reached where a process outside the tree was passed the descriptor.
const stderrGrace = 5 * time.Second
