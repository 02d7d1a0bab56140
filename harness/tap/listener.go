package tap

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/wire"
)

// listener is the other end of the queue: it makes lines of pieces, records them and
// has them judged. It runs in one goroutine, which Run waits for.
type listener struct {
	queue  *queue
	judge  *Judge
	record *wire.TranscriptWriter // nil for none
	room   int64                  // bytes of the conversation that the recording still takes
	in     *wire.Splitter
	out    *wire.Splitter

	behind  bool
	skipped int64 // bytes of lines that were not judged while behind
	failed  error // of the recording
}

func (l *listener) run() {
	for {
		p, held, ok := l.queue.take()
		if !ok {
			break
		}
		l.keepUp(held)
		l.piece(p)
		if idle := l.queue.free(p); idle {
			l.flush() // a reader of the recording sees what has passed, and so does one after a kill
		}
	}
	l.caughtUp()
	l.flush()
}

// keepUp decides whether there is time for judging.
func (l *listener) keepUp(held int64) {
	switch {
	case !l.behind && held > l.queue.bound/2:
		l.behind = true
	case l.behind && held <= l.queue.bound/64+pieceCost:
		l.caughtUp()
	}
}

// caughtUp goes on judging, if it had stopped.
func (l *listener) caughtUp() {
	if l.behind && l.skipped > 0 {
		l.judge.Gap(fmt.Sprintf("%.1f MiB that passed faster than they could be judged", float64(l.skipped)/(1<<20)))
	}
	l.behind, l.skipped = false, 0
}

func (l *listener) piece(p piece) {
	if p.note != "" {
		text := p.note + "\n"
		l.line(wire.Line{At: p.at, Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))})
		return
	}
	split := l.in
	if p.dir == wire.ServerToClient {
		split = l.out
	}
	split.Push(p.data, func(raw []byte, size int64) {
		l.line(wire.Line{At: p.at, Dir: p.dir, Raw: raw, Size: size})
	})
	if p.last {
		if raw, size := split.Rest(); size > 0 {
			l.line(wire.Line{At: p.at, Dir: p.dir, Raw: raw, Size: size})
		}
	}
}

func (l *listener) line(line wire.Line) {
	l.keep(line)
	if l.behind && line.Dir != wire.Note {
		l.skipped += line.Size
		return
	}
	l.judge.Line(line)
}

// keep records a line. Behind the limit notes alone are kept, and the first of them says so.
func (l *listener) keep(line wire.Line) {
	if l.record == nil || l.failed != nil {
		return
	}
	if line.Dir != wire.Note {
		if l.room <= 0 {
			return
		}
		if l.room -= line.Size; l.room <= 0 {
			text := wire.GapNote("the recording has reached its limit") + "\n"
			line = wire.Line{At: line.At, Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))}
		}
	}
	l.failed = l.record.Write(line)
}

func (l *listener) flush() {
	if l.record != nil && l.failed == nil {
		l.failed = l.record.Flush()
	}
}
