package tap

import (
	"sync"
	"time"

	"github.com/dshconform/dshconform/harness/wire"
)

// piece is what one read of a stream brought, or a note between pieces.
type piece struct {
	dir  wire.Direction
	at   time.Time
	data []byte
	note string
	last bool // the stream of dir has ended
	done func()
}

// pieceCost is what a piece takes besides its bytes.
const pieceCost = 128

// queue hands pieces from the pumps to the judge, in the order in which they were
// put. Its memory is bounded: put waits where it is full.
type queue struct {
	bound int64

	mu     sync.Mutex
	room   sync.Cond // there is more of it
	more   sync.Cond // there are more pieces
	pieces []piece
	head   int
	cost   int64
	closed bool
	waited time.Duration
}

func newQueue(bound int64) *queue {
	q := &queue{bound: bound}
	q.room.L, q.more.L = &q.mu, &q.mu
	return q
}

func (p piece) cost() int64 { return int64(len(p.data)) + pieceCost }

// put adds a piece. One that is larger than the whole bound is taken when the queue
// is empty.
func (q *queue) put(p piece) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cost > 0 && q.cost+p.cost() > q.bound {
		start := time.Now()
		for q.cost > 0 && q.cost+p.cost() > q.bound {
			q.room.Wait()
		}
		q.waited += time.Since(start)
	}
	q.cost += p.cost()
	q.pieces = append(q.pieces, p)
	q.more.Signal()
}

// close tells that nothing is put any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Signal()
}

// take gives the next piece and what the queue held with it; ok is false when it is
// closed and empty. The room of the piece is free when it was given back.
func (q *queue) take() (p piece, held int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head == len(q.pieces) && !q.closed {
		q.more.Wait()
	}
	if q.head == len(q.pieces) {
		return piece{}, 0, false
	}
	p = q.pieces[q.head]
	q.pieces[q.head] = piece{}
	if q.head++; q.head == len(q.pieces) {
		q.pieces, q.head = q.pieces[:0], 0
	} else if q.head > 1024 && q.head > len(q.pieces)/2 {
		n := copy(q.pieces, q.pieces[q.head:])
		clear(q.pieces[n:])
		q.pieces, q.head = q.pieces[:n], 0
	}
	return p, q.cost, true
}

// free gives the room of a piece back. It reports whether the queue is empty.
func (q *queue) free(p piece) bool {
	if p.done != nil {
		p.done()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cost -= p.cost()
	q.room.Broadcast()
	return q.cost == 0
}

// blocked is how long the pumps waited for room so far.
func (q *queue) blocked() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waited
}
