package client

import (
	"context"
	"fmt"
	"time"

	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/wire"
)

// StepKind is a step that an SDK takes to end its runtime.
type StepKind string

const (
	StepShutdown   StepKind = "shutdown"    // the request came
	StepInputEnded StepKind = "stdin ended" // by the SDK
	StepSignal     StepKind = "signal"      // one that can be caught came; Detail names it
	StepKilled     StepKind = "killed"      // the process ended without being told to: SIGKILL
	StepExited     StepKind = "exited"      // the process ended as it was told; Detail says how
)

// Step is a step with its time. Steps are in the order in which they happened.
type Step struct {
	Kind   StepKind
	Detail string
	At     time.Time
}

func (s Step) String() string {
	if s.Kind == StepSignal {
		return s.Detail
	}
	return string(s.Kind)
}

// step records one. The caller holds the lock.
func (rt *Runtime) step(kind StepKind, detail string) {
	rt.steps = append(rt.steps, Step{kind, detail, time.Now()})
}

// Steps are what the SDK did so far to end the process, and its end.
func (rt *Runtime) Steps() []Step {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return append([]Step(nil), rt.steps...)
}

// AwaitStep waits until a step of the kind was taken: with a detail, one with that detail.
func (rt *Runtime) AwaitStep(ctx context.Context, kind StepKind, detail string, within time.Duration) (Step, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	awaited := Step{Kind: kind, Detail: detail}.String()
	for {
		rt.mu.Lock()
		stir, how := rt.stir, rt.how
		for _, s := range rt.steps {
			if s.Kind == kind && (detail == "" || s.Detail == detail) {
				rt.mu.Unlock()
				return s, nil
			}
		}
		rt.mu.Unlock()
		if how != "" {
			return Step{}, &GoneError{Awaited: awaited, How: how}
		}
		select {
		case <-stir:
		case <-ctx.Done():
			return Step{}, fmt.Errorf("waiting for %s: %w", awaited, context.Cause(ctx))
		case <-timer.C:
			return Step{}, &SilentError{Awaited: awaited, After: within}
		}
	}
}

// listen owns the control connection until the process has ended.
func (rt *Runtime) listen() {
	for {
		var m relay.FromRelay
		if err := readLine(rt.fromRelay, &m); err != nil {
			rt.finish()
			return
		}
		switch {
		case m.Signal != "":
			rt.signalled(m.Signal)
		case m.Closed != "":
			rt.mu.Lock()
			rt.acked[m.Closed] = true
			rt.wake()
			rt.mu.Unlock()
		case m.Failed != "":
			rt.mu.Lock()
			rt.refused = m.Failed
			rt.note("the relay: %s", m.Failed)
			rt.wake()
			rt.mu.Unlock()
		}
	}
}

// signalled notes a signal. What the SDK wrote before it, and whether it ended stdin before it, came on another channel
// and is looked at first.
func (rt *Runtime) signalled(name string) {
	rt.settleInput()
	rt.mu.Lock()
	rt.note("%s", wire.SignalNote(name))
	rt.step(StepSignal, name)
	ignore := rt.b.IgnoreTerm
	rt.wake()
	rt.mu.Unlock()
	if !ignore {
		_ = rt.Exit(0) // it may have ended meanwhile
	}
}

// settleInput waits until what is in the pipe of stdin was read, the end of it included.
func (rt *Runtime) settleInput() {
	for deadline := time.Now().Add(rt.deadlines.Grace); time.Now().Before(deadline); {
		rt.mu.Lock()
		done := rt.readErr != nil || rt.stalled() || !rt.begun
		stir := rt.stir
		rt.mu.Unlock()
		n, known := rt.ends[stdin].held()
		ended, _ := rt.ends[stdin].over()
		if done || !known || n == 0 && !ended {
			return
		}
		timer := time.NewTimer(time.Millisecond)
		select {
		case <-stir:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// finish notes the end of the process, and closes what only it held open.
func (rt *Runtime) finish() {
	rt.settleInput()
	rt.mu.Lock()
	rt.how = rt.told
	if rt.how == "" {
		rt.how = "killed by SIGKILL"
		rt.step(StepKilled, "")
	} else {
		rt.step(StepExited, rt.how)
	}
	rt.note("%s", wire.EndNote(rt.how))
	rt.release()
	rt.wake()
	rt.mu.Unlock()
	rt.die()
	for i := range rt.ends {
		rt.closeEnd(i)
	}
	_ = rt.control.Close()
	close(rt.gone)
	rt.relay.changed()
}

// closeEnd closes our end of a stream. It is idempotent.
func (rt *Runtime) closeEnd(stream int) {
	if !rt.closedEnds[stream].Swap(true) {
		_ = rt.ends[stream].Close()
	}
}

// ending is how the process ended, "" while it lives.
func (rt *Runtime) ending() string {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.how
}

// How is how the process ended in words, and whether it did.
func (rt *Runtime) How() (how string, ended bool) {
	how = rt.ending()
	return how, how != ""
}

// Gone is closed when the process has ended.
func (rt *Runtime) Gone() <-chan struct{} { return rt.gone }

// AwaitGone waits until the process has ended.
func (rt *Runtime) AwaitGone(ctx context.Context, within time.Duration) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-rt.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of the runtime: %w", context.Cause(ctx))
	case <-timer.C:
		return &SilentError{Awaited: "end of the runtime's process", After: within}
	}
}

// Vanished reports whether nothing is left of the process, also no zombie that its parent has not waited for; known is
// false where the platform can't tell.
func (rt *Runtime) Vanished() (gone, known bool) { return vanished(rt.hello.Pid) }

// AwaitVanished waits until nothing is left of the process. Where the platform can't tell, it waits for its end alone.
func (rt *Runtime) AwaitVanished(ctx context.Context, within time.Duration) error {
	start := time.Now()
	if err := rt.AwaitGone(ctx, within); err != nil {
		return err
	}
	for {
		if gone, known := rt.Vanished(); gone || !known {
			return nil
		}
		if time.Since(start) > within {
			return &SilentError{Awaited: "wait of the SDK for its runtime's exit status", After: within}
		}
		timer := time.NewTimer(time.Millisecond) // no event tells when a zombie is waited for
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("waiting for the end of the runtime: %w", context.Cause(ctx))
		}
	}
}
