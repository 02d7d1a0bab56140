package client

import (
	"context"
	"fmt"
	"time"

	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/wire"
)

// Write writes the pieces to the runtime's stdout, each with a write of its own. They may hold anything: what they form
// as lines passes the monitor before its last byte is written. The error is a *WriteError where the SDK does not take
// them, and a *GoneError where the process has ended.
func (rt *Runtime) Write(ctx context.Context, pieces ...[]byte) error {
	return rt.write(ctx, pieces, false)
}

// WriteApart is Write with each piece written when the pipe is empty again, so that the SDK reads them one by one.
// Where the platform can't tell how much a pipe holds, the pieces may arrive together.
func (rt *Runtime) WriteApart(ctx context.Context, pieces ...[]byte) error {
	return rt.write(ctx, pieces, true)
}

// WriteStderr writes to the runtime's stderr.
func (rt *Runtime) WriteStderr(ctx context.Context, b []byte) error {
	rt.writing[stderr].Lock()
	defer rt.writing[stderr].Unlock()
	rt.mu.Lock()
	kept := b
	if len(kept) > 2048 {
		kept = kept[:2048]
	}
	rt.add(Entry{Line: wire.Line{Seq: rt.seq, At: time.Now(), Dir: wire.StandardError, Raw: append([]byte(nil), kept...), Size: int64(len(b))}})
	rt.seq++
	rt.mu.Unlock()
	return rt.put(ctx, stderr, b)
}

func (rt *Runtime) write(ctx context.Context, pieces [][]byte, apart bool) error {
	rt.writing[stdout].Lock()
	defer rt.writing[stdout].Unlock()
	for i, p := range pieces {
		if apart && i > 0 {
			rt.drained(ctx)
		}
		rt.mu.Lock()
		rt.out.Push(p, func(raw []byte, size int64) {
			line := wire.Line{Seq: rt.seq, At: time.Now(), Dir: wire.ServerToClient, Raw: raw, Size: size}
			rt.seq++
			if rt.mon != nil {
				rt.mon.Server(line)
			}
			rt.add(Entry{line, wire.Message{}})
		})
		rt.mu.Unlock()
		if err := rt.put(ctx, stdout, p); err != nil {
			return err
		}
	}
	return nil
}

func (rt *Runtime) put(ctx context.Context, stream int, p []byte) error {
	written, waited, err := deadline.Write(ctx, rt.ends[stream], p, rt.deadlines.Write, func(int) {
		rt.mu.Lock()
		rt.moved = time.Now() // an SDK that reads is no silent one
		rt.mu.Unlock()
	})
	switch {
	case err == nil:
		return nil
	case waited > 0:
		return &WriteError{Stream: relay.Streams[stream], Written: written, Of: len(p), After: waited, Err: err}
	case ctx.Err() != nil:
		return fmt.Errorf("write to %s: %w", relay.Streams[stream], err)
	}
	if how := rt.ending(); how != "" {
		return &GoneError{Awaited: "reader of its " + relay.Streams[stream], How: how}
	}
	return &WriteError{Stream: relay.Streams[stream], Written: written, Of: len(p), Err: err}
}

// drained waits until the SDK has taken up what is in the pipe. It is a best effort: one that does not read is found
// out by its silence.
func (rt *Runtime) drained(ctx context.Context) {
	for deadline := time.Now().Add(rt.deadlines.Grace); time.Now().Before(deadline) && ctx.Err() == nil; {
		if n, known := rt.ends[stdout].held(); !known || n == 0 {
			return
		}
		time.Sleep(50 * time.Microsecond) //nolint:forbidigo // no event tells when a pipe runs empty
	}
}
