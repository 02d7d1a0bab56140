package tap

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dshconform/dshconform/harness/wire"
)

// pump passes the bytes of one direction.
type pump struct {
	dir   wire.Direction
	from  source
	to    *os.File
	queue *queue
	// first is called before bytes are written on: what their writer did before it wrote
	// them is to be seen by the other end before them.
	first func()

	moved   atomic.Int64 // when a byte last moved, Unix nanoseconds
	writing atomic.Bool  // a write waits for the reader of to
}

// source is an end that is read. Interrupt makes a Read that waits return, and every
// later one.
type source interface {
	io.ReadCloser
	Interrupt()
}

// pipeSource is an end that the Go runtime polls, so that closing it interrupts.
type pipeSource struct {
	*os.File
	once sync.Once
}

// Interrupt closes the end. When it returns the end is closed, also where another
// caller has begun to close it, which os.File does not promise.
func (s *pipeSource) Interrupt() { s.once.Do(func() { _ = closeQuietly(s.File) }) }

// pieceSize is what is read at once: what a pipe holds.
const pieceSize = 64 << 10

// smallPiece is how much is copied rather than kept in the buffer that it was read
// into, so that the memory of the queue is what it counts.
const smallPiece = pieceSize / 4

var buffers = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// how a pump ended.
type pumped int

const (
	sourceEnded pumped = iota // EOF, or the source was closed by us
	sinkGone                  // nobody reads
)

// run passes bytes until an end is gone. It leaves the closing to its caller.
func (p *pump) run() pumped {
	for {
		buf := buffers.Get().(*[pieceSize]byte)
		n, err := p.from.Read(buf[:])
		if n == 0 {
			buffers.Put(buf)
		} else {
			p.moved.Store(time.Now().UnixNano())
			if !p.pass(buf, n) {
				return sinkGone
			}
		}
		if err != nil {
			return sourceEnded
		}
	}
}

// pass queues what was read and writes it on. It reports whether somebody took it.
func (p *pump) pass(buf *[pieceSize]byte, n int) bool {
	data := buf[:n]
	piece := piece{dir: p.dir, at: time.Now(), data: data}
	var users atomic.Int32
	release := func() {
		if users.Add(-1) == 0 {
			buffers.Put(buf)
		}
	}
	users.Store(1)
	if n <= smallPiece {
		piece.data = append([]byte(nil), data...)
	} else {
		users.Store(2)
		piece.done = release
	}
	p.queue.put(piece)
	p.first()
	p.writing.Store(true)
	_, err := p.to.Write(data)
	p.writing.Store(false)
	p.moved.Store(time.Now().UnixNano())
	release()
	return err == nil
}

// ended tells that the direction brings nothing any more.
func (p *pump) ended() { p.queue.put(piece{dir: p.dir, at: time.Now(), last: true}) }

func (p *pump) note(text string) { p.queue.put(piece{dir: wire.Note, at: time.Now(), note: text}) }

// closeQuietly closes a file that may have been closed already.
func closeQuietly(f io.Closer) error {
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
