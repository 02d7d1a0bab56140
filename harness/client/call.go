package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/wire"
)

// Call is a command on its way: one call of the SDK.
type Call struct {
	d       *Driver
	id      int64
	name    string
	of      string // what it is about, for errors: the session
	listens bool   // events may come of it
	refused bool   // an error of class driver is what it should get
	within  time.Duration
	done    chan struct{}

	// Guarded by d.mu.
	over   bool
	reply  Reply
	events []Notification
	ended  *SDKError
}

// Reply is what a call of the SDK came to: Err is nil where it returned.
type Reply struct {
	Result jsontext.Value
	Err    *SDKError
	At     time.Time
}

// send writes a command.
func (d *Driver) send(ctx context.Context, m command) (*Call, error) {
	return d.sendCommand(ctx, m, false)
}

// sendRefused writes a command that the driver has to refuse.
func (d *Driver) sendRefused(ctx context.Context, m command) (*Call, error) {
	return d.sendCommand(ctx, m, true)
}

func (d *Driver) sendCommand(ctx context.Context, m command, refused bool) (*Call, error) {
	d.mu.Lock()
	if err := d.unable(m.Call); err != nil {
		d.mu.Unlock()
		return nil, err
	}
	d.nextID++
	m.ID = d.nextID
	c := &Call{d: d, id: m.ID, name: m.Call, refused: refused, done: make(chan struct{}), within: d.patience(m.Call)}
	c.listens = m.Callback != "" || m.Call == CallSubscribe
	if m.SessionID != nil {
		c.of = *m.SessionID
	}
	d.calls[c.id] = c
	if m.Call != CallHello {
		d.inFlight++
	}
	d.mu.Unlock()

	line := append(Encode(m), '\n')
	d.writing.Lock()
	defer d.writing.Unlock()
	d.mu.Lock()
	d.tell(wire.Line{At: time.Now(), Dir: wire.ClientToServer, Raw: line, Size: int64(len(line))})
	d.mu.Unlock()
	return c, d.write(ctx, line)
}

// unable says why no command can be sent. The caller holds mu.
func (d *Driver) unable(awaited string) error {
	switch {
	case d.fault != nil:
		return d.fault
	case d.readErr != nil:
		return d.endedError("a reply to " + awaited)
	}
	return nil
}

// patience is how long a call may take that the runtime does not hold up.
func (d *Driver) patience(call string) time.Duration {
	switch call {
	case CallStart, CallInitialize, CallCreate, CallHello:
		return d.o.Deadlines.Start
	case CallPrompt:
		return d.o.Deadlines.Turn
	case CallClose:
		return d.o.Deadlines.Exit
	}
	return d.o.Deadlines.Call
}

// write writes a command.
func (d *Driver) write(ctx context.Context, line []byte) error {
	written, waited, err := deadline.Write(ctx, d.proc.Stdin(), line, d.o.Deadlines.Write, nil)
	if err == nil {
		return nil
	}
	if fault := d.Fault(); fault != nil {
		return fault
	}
	if waited == 0 && (ctx.Err() != nil || isClosed(err)) {
		if written > 0 {
			d.Spoil("a command was cut")
		}
		return fmt.Errorf("send a command: %w", err)
	}
	if e := d.endedErrorUnlocked("it had read its commands"); e.Exited {
		return e
	}
	e := &DriverError{Fault: FaultDeaf, Detail: fmt.Sprintf("%d of %d bytes were taken: %v", written, len(line), err)}
	d.blame(e)
	return e
}

// Done is closed when the call is over.
func (c *Call) Done() <-chan struct{} { return c.done }

// Over gives the reply if the call is over.
func (c *Call) Over() (Reply, bool) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.reply, c.over
}

// Await waits for the end of the call within the deadline of its kind. The error says that there is none: a
// *SilentError, an *EndedError or a *DriverError. What the SDK raised is in the reply.
func (c *Call) Await(ctx context.Context) (Reply, error) { return c.await(ctx, c.within) }

// AwaitWithin is Await with a deadline of the caller's.
func (c *Call) AwaitWithin(ctx context.Context, within time.Duration) (Reply, error) {
	return c.await(ctx, within)
}

// Result is Await for who treats what the SDK raised as any other error.
func (c *Call) Result(ctx context.Context) (jsontext.Value, error) {
	r, err := c.Await(ctx)
	if err == nil && r.Err != nil {
		err = r.Err
	}
	return r.Result, err
}

// Outcome is Result for a prompt.
func (c *Call) Outcome(ctx context.Context) (Outcome, error) {
	raw, err := c.Result(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return outcomeOf(raw), nil
}

// Outcome of a reply to a prompt; the zero one where it failed.
func (r Reply) Outcome() Outcome { return outcomeOf(r.Result) }

func (c *Call) awaited() string {
	text := "end of the SDK's call of " + c.name
	if c.name == CallHello {
		text = "reply to hello"
	}
	return text
}

func (c *Call) await(ctx context.Context, within time.Duration) (Reply, error) {
	var r Reply
	err := c.d.wait(ctx, c.awaited(), within, func() bool {
		r = c.reply
		return c.over
	})
	return r, err
}

// wait waits until found gives true, which is called with the lock held. The deadline counts from the last byte that
// the driver wrote; what brings bytes for ever is given up after twenty.
func (d *Driver) wait(ctx context.Context, awaited string, within time.Duration, found func() bool) error {
	return deadline.Wait(ctx, awaited, within, func() deadline.Sight {
		d.mu.Lock()
		defer d.mu.Unlock()
		sight := deadline.Sight{Done: found(), Moved: d.moved, Stir: d.stir}
		switch fault := d.fault; {
		case fault != nil:
			sight.Ended = func() error { return fault }
		case d.readErr != nil:
			sight.Ended = func() error { return d.endedErrorUnlocked(awaited) }
		}
		return sight
	})
}

// endedError tells how the process ended. The caller holds mu.
func (d *Driver) endedError(awaited string) *EndedError {
	d.mu.Unlock()
	defer d.mu.Lock()
	return d.endedErrorUnlocked(awaited)
}

// endedErrorUnlocked waits a moment for the exit, and for the last words: stdout ends before either is known.
func (d *Driver) endedErrorUnlocked(awaited string) *EndedError {
	e := &EndedError{Awaited: awaited}
	ctx, cancel := context.WithTimeout(context.Background(), d.o.Deadlines.Leave)
	defer cancel()
	select {
	case <-d.proc.Exited():
		_ = d.proc.WaitStderr(ctx) // a runtime that outlives the driver may hold it: what came is shown
	case <-ctx.Done():
	}
	e.Exit, e.Exited = d.proc.Exit()
	e.Stderr = d.stderr()
	return e
}

// Events are the notifications that the callback of this call, or the subscription that it began, got so far.
func (c *Call) Events() []Notification {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return append([]Notification(nil), c.events...)
}

// AwaitEvents waits until found is satisfied with the events so far. It fails where the subscription has ended.
func (c *Call) AwaitEvents(ctx context.Context, awaited string, found func([]Notification) bool) error {
	var ended *SDKError
	err := c.d.wait(ctx, awaited, c.d.o.Deadlines.Call, func() bool {
		ended = nil
		if found(c.events) {
			return true
		}
		ended = c.ended
		return ended != nil
	})
	if err == nil && ended != nil {
		return fmt.Errorf("waiting for %s: the subscription has ended: %w", awaited, ended)
	}
	return err
}

// Ended is the error with which the SDK ended the subscription, nil while it goes on.
func (c *Call) Ended() *SDKError {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.ended
}

// AwaitEnded waits until the SDK has ended the subscription.
func (c *Call) AwaitEnded(ctx context.Context) (*SDKError, error) {
	var ended *SDKError
	err := c.d.wait(ctx, "end of the subscription", c.d.o.Deadlines.Call, func() bool {
		ended = c.ended
		return ended != nil
	})
	return ended, err
}

var errNotOffered = errors.New("the driver does not offer it")

func decode(v jsontext.Value, into any) error {
	return json.Unmarshal(v, into, json.MatchCaseInsensitiveNames(false))
}
