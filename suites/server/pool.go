package server

import (
	"context"
	"sync"

	harness "github.com/dshconform/dshconform/harness/server"
)

// pool starts processes ahead of need: while one spec runs, the process of the
// next that wants one of its own gets ready to serve. Nothing is sent to it.
type pool struct {
	start func(context.Context) (*harness.Server, error)
	ready chan started
	mu    sync.Mutex
	want  int // processes that are still to be started for the specs to come
	under int // processes that start or wait to be taken
	ctx   context.Context
	stop  context.CancelFunc
	done  sync.WaitGroup
}

type started struct {
	s   *harness.Server
	err error
}

// ahead is how many processes wait ready, and how many start at a time. Two keep
// both cores of a small machine busy and no more.
const ahead = 2

func newPool(ctx context.Context, want int, start func(context.Context) (*harness.Server, error)) *pool {
	p := &pool{start: start, ready: make(chan started), want: want}
	p.ctx, p.stop = context.WithCancel(ctx)
	for range min(ahead, want) {
		p.done.Go(p.work)
	}
	return p
}

// work starts processes one after the other and holds each until it is taken.
func (p *pool) work() {
	for {
		p.mu.Lock()
		if p.want <= 0 {
			p.mu.Unlock()
			return
		}
		p.want--
		p.under++
		p.mu.Unlock()
		s, err := p.start(p.ctx)
		select {
		case p.ready <- started{s, err}:
		case <-p.ctx.Done():
			if s != nil {
				s.Stop(p.ctx)
			}
			return
		}
	}
}

// take gives a process that is ready, or starts one where the specs take more
// than they announced.
func (p *pool) take(ctx context.Context) (*harness.Server, error) {
	p.mu.Lock()
	spent := p.want+p.under <= 0
	if !spent {
		p.under--
	}
	p.mu.Unlock()
	if spent {
		return p.start(ctx)
	}
	select {
	case r := <-p.ready:
		return r.s, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close ends what was not taken.
func (p *pool) close() {
	p.stop()
	p.done.Wait()
}
