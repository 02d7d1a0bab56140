package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/process"
)

// Exit has the process exit with a code. Its pipes close with it, as those of any process do. It does not wait for the
// end; see [Runtime.AwaitGone]. It is an error where the process has ended already.
func (rt *Runtime) Exit(code int) error {
	return rt.end(fmt.Sprintf("exit status %d", code), relay.ToRelay{Exit: &code})
}

// Die has the process die by a signal that it sends itself.
func (rt *Runtime) Die(sig os.Signal) error {
	name := process.SignalName(sig)
	return rt.end("killed by "+name, relay.ToRelay{Die: name})
}

func (rt *Runtime) end(how string, m relay.ToRelay) error {
	rt.mu.Lock()
	if rt.told == "" {
		rt.told = how
	}
	rt.release()
	rt.mu.Unlock()
	// Our copies go first. The relay's are the last ones, which the kernel closes together with the exit; where it
	// pumps bytes, the ends of ours say that no more come.
	for _, i := range []int{stdout, stderr} {
		if !rt.closedEnds[i].Swap(true) {
			_ = rt.ends[i].Finish()
		}
	}
	if rt.relay.mode == relay.Descriptors {
		rt.closeEnd(stdin)
	}
	return rt.send(m)
}

// CloseOutput closes stdout for good: the SDK reads to the end and finds EOF, while the process lives on.
func (rt *Runtime) CloseOutput(ctx context.Context) error {
	return rt.closeStream(ctx, stdout, "stdout closed by the runtime")
}

// CloseStderr closes stderr for good.
func (rt *Runtime) CloseStderr(ctx context.Context) error {
	return rt.closeStream(ctx, stderr, "stderr closed by the runtime")
}

// CloseInput closes stdin for good: the SDK's next write there fails.
func (rt *Runtime) CloseInput(ctx context.Context) error {
	return rt.closeStream(ctx, stdin, "stdin closed by the runtime")
}

func (rt *Runtime) closeStream(ctx context.Context, stream int, note string) error {
	rt.writing[stream].Lock()
	defer rt.writing[stream].Unlock()
	rt.mu.Lock()
	rt.note("%s", note)
	if stream == stdin {
		rt.release()
	}
	rt.mu.Unlock()
	if !rt.closedEnds[stream].Swap(true) {
		_ = rt.ends[stream].Finish()
		if stream == stdin {
			_ = rt.ends[stream].Close() // a connection's reading half too
		}
	}
	if err := rt.send(relay.ToRelay{Close: relay.Streams[stream]}); err != nil {
		return err
	}
	return rt.awaitClosed(ctx, relay.Streams[stream])
}

func (rt *Runtime) awaitClosed(ctx context.Context, stream string) error {
	timer := time.NewTimer(rt.deadlines.Write)
	defer timer.Stop()
	for {
		rt.mu.Lock()
		acked, refused, how, stir := rt.acked[stream], rt.refused, rt.how, rt.stir
		rt.mu.Unlock()
		switch {
		case acked:
			return nil
		case how != "":
			return &GoneError{Awaited: "close of its " + stream, How: how}
		case refused != "":
			return errors.New("the relay: " + refused)
		}
		select {
		case <-stir:
		case <-ctx.Done():
			return fmt.Errorf("close %s: %w", stream, context.Cause(ctx))
		case <-timer.C:
			return &SilentError{Awaited: "close of the runtime's " + stream, After: rt.deadlines.Write}
		}
	}
}

// send tells the relay something.
func (rt *Runtime) send(m relay.ToRelay) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	rt.sending.Lock()
	defer rt.sending.Unlock()
	_ = rt.control.SetWriteDeadline(time.Now().Add(rt.deadlines.Write)) // a Unix socket has deadlines
	if _, err := rt.control.Write(append(line, '\n')); err != nil {
		if how := rt.ending(); how != "" {
			return &GoneError{Awaited: "connection to it", How: how}
		}
		return fmt.Errorf("tell the relay: %w", err)
	}
	return nil
}

// Close ends the process, whatever state it is in, and waits for all goroutines. A relay whose connection ends does
// so itself.
func (rt *Runtime) Close() {
	rt.closing.Do(func() {
		rt.mu.Lock()
		if rt.told == "" && rt.how == "" {
			rt.told = "ended by the suite"
		}
		rt.release()
		rt.mu.Unlock()
		rt.die()
		_ = rt.control.CloseWrite() // it may have ended
		timer := time.NewTimer(rt.deadlines.Leave)
		defer timer.Stop()
		select {
		case <-rt.gone:
		case <-timer.C: // stopped, or stuck: who owns the driver kills it
			_ = rt.control.Close()
		}
		rt.group.Wait()
	})
}
