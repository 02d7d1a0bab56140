package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// MaxLine is the longest line that is kept whole, in bytes. The largest frame
// that a requirement asks for is 16 MiB of text, which escaping can multiply by
// six; a longer line is a fault of its own.
const MaxLine = 128 << 20

// Direction says who wrote a line.
type Direction string

const (
	ClientToServer Direction = "c2s"    // the subject's stdin
	ServerToClient Direction = "s2c"    // the subject's stdout
	ModelCall      Direction = "model"  // a request that reached the stub of the model
	StandardError  Direction = "stderr" // the subject's stderr
	Note           Direction = "note"   // said by the suite: "stdin closed", "SIGTERM sent", …
)

// Line is one line of one direction as it was on the wire.
type Line struct {
	Seq  int       // position in its conversation, from 0, over both directions
	At   time.Time // when its last byte was read, or its first byte written
	Dir  Direction
	Raw  []byte // the bytes, with the LF that ended them
	Size int64  // the number of bytes; more than len(Raw) where the line was cut at the bound
}

// Terminated reports whether an LF ended the line. Only the last line of a
// stream can lack it.
func (l Line) Terminated() bool {
	return l.Size > int64(len(l.Raw)) || bytes.HasSuffix(l.Raw, lf)
}

// Cut reports whether the line was longer than the bound, so that Raw holds its
// beginning alone.
func (l Line) Cut() bool { return l.Size > int64(len(l.Raw)) }

// Blank reports whether the line holds JSON white space alone. Other members of
// Unicode's white space are content.
func (l Line) Blank() bool { return len(bytes.Trim(l.Raw, " \t\r\n")) == 0 }

var lf = []byte{'\n'}

// Splitter cuts pushed bytes into lines. The zero value is ready to use, and keeps
// [MaxLine] bytes of a line.
type Splitter struct {
	max  int
	part []byte
	size int64
}

// NewSplitter makes a splitter that keeps maxLine bytes of a line; 0 means [MaxLine].
func NewSplitter(maxLine int) *Splitter { return &Splitter{max: maxLine} }

// Push adds p and calls line for each line that it completes. The slice that
// line gets is its own.
func (s *Splitter) Push(p []byte, line func(raw []byte, size int64)) {
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		if n == 0 {
			s.keep(p)
			return
		}
		s.keep(p[:n])
		line(s.part, s.size)
		s.part, s.size = nil, 0
		p = p[n:]
	}
}

func (s *Splitter) keep(p []byte) {
	limit := s.max
	if limit == 0 {
		limit = MaxLine
	}
	s.size += int64(len(p))
	if room := limit - len(s.part); len(p) > room {
		p = p[:max(room, 0)]
	}
	s.part = append(s.part, p...)
}

// Rest returns the bytes after the last LF and forgets them, with the size that
// they had. It is how the unterminated last line of a stream is got.
func (s *Splitter) Rest() (raw []byte, size int64) {
	raw, size = s.part, s.size
	s.part, s.size = nil, 0
	return raw, size
}

// Pending is the number of bytes of the line that is not yet terminated.
func (s *Splitter) Pending() int64 { return s.size }

// Scanner reads lines from a stream. It owns its buffer; one goroutine may use it.
type Scanner struct {
	r     io.Reader
	split Splitter
	buf   []byte
	lines []scanned
	err   error
	// Moved, where set, is called with the number of bytes of each read: what a
	// deadline that counts "from the last byte that moved" needs.
	Moved func(n int)
}

type scanned struct {
	raw  []byte
	size int64
	at   time.Time
}

// NewScanner reads from r with the given bound of a line in bytes; 0 means
// [MaxLine].
func NewScanner(r io.Reader, maxLine int) *Scanner {
	return &Scanner{r: r, split: Splitter{max: maxLine}, buf: make([]byte, 64<<10)}
}

// Next returns the next line. At the end of the stream it returns what stands
// behind the last LF, if anything, as an unterminated line, and then the error
// of the stream: io.EOF, or what the read said, wrapped.
func (s *Scanner) Next() (Line, error) {
	for len(s.lines) == 0 {
		if s.err != nil {
			return Line{}, s.err
		}
		n, err := s.r.Read(s.buf)
		if n > 0 {
			if s.Moved != nil {
				s.Moved(n)
			}
			now := time.Now()
			s.split.Push(s.buf[:n], func(raw []byte, size int64) {
				s.lines = append(s.lines, scanned{raw, size, now})
			})
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			err = fmt.Errorf("read a line: %w", err)
		}
		s.err = err
		if raw, size := s.split.Rest(); size > 0 {
			s.lines = append(s.lines, scanned{raw, size, time.Now()})
		}
	}
	l := s.lines[0]
	s.lines = s.lines[1:]
	return Line{At: l.at, Raw: l.raw, Size: l.size}, nil
}

// Pending is the number of bytes read of a line that has not ended yet.
func (s *Scanner) Pending() int64 { return s.split.Pending() }
