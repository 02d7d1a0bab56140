package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/google/shlex"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// DriverOptions say how a driver is started.
type DriverOptions struct {
	// Command is the program with its arguments (Argv, Dir, ResolveDir, Env, Supervisor); see [ParseDriver].
	Command   process.Command
	Deadlines Deadlines
	// OnMessage gets every line between the suite and the driver, for transcripts: commands as c2s, what the driver
	// writes as s2c. It is called with a lock held: it must not call back. Nil is allowed.
	OnMessage func(wire.Line)
}

// ParseDriver cuts a driver's shell-quoted command line into its arguments.
func ParseDriver(line string) ([]string, error) {
	argv, err := shlex.Split(line)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the driver's command line %q: %w", line, err)
	case len(argv) == 0:
		return nil, errors.New("the driver's command line is empty")
	}
	return argv, nil
}

// Driver is a running driver. Its methods may be called from any goroutine.
type Driver struct {
	o     DriverOptions
	proc  *process.Process
	hello Hello

	writing sync.Mutex // held for the length of one command

	mu       sync.Mutex
	calls    map[int64]*Call // sent, by id; those that are over too where events may follow
	nextID   int64
	clients  int
	relays   map[int]bool // pids of launched processes, which are not the SDK's own
	inFlight int          // commands that are not replied to
	greeted  bool
	moved    time.Time     // when stdout brought a byte last
	stir     chan struct{} // closed and replaced whenever something changed
	fault    *DriverError  // sticky
	readErr  error
	spoiled  string

	ended   chan struct{} // closed when stdout is read no more
	closing sync.Once
}

// StartDriver starts a driver and greets it. The error is a *process.StartError or a *DriverError where the command or
// the driver is at fault. The driver has to be closed.
func StartDriver(ctx context.Context, o DriverOptions) (*Driver, error) {
	p, err := process.Start(ctx, o.Command)
	if err != nil {
		return nil, fmt.Errorf("the driver: %w", err)
	}
	d := &Driver{o: o, proc: p, calls: map[int64]*Call{}, relays: map[int]bool{}, stir: make(chan struct{}), ended: make(chan struct{})}
	go d.read()
	if err := d.greet(ctx); err != nil {
		_, _ = d.Close() // the greeting says it better
		return nil, err
	}
	return d, nil
}

// greet says hello. Whatever goes wrong here is the driver's doing: no SDK was asked for anything.
func (d *Driver) greet(ctx context.Context) error {
	call, err := d.send(ctx, command{Call: CallHello, Protocol: DriverProtocol})
	if err == nil {
		var reply Reply
		reply, err = call.await(ctx, d.o.Deadlines.Start)
		if err == nil {
			err = d.take(reply)
		}
	}
	var silent *SilentError
	var ended *EndedError
	switch {
	case err == nil, ctx.Err() != nil, DriverFault(err):
		return err
	case errors.As(err, &silent):
		return &DriverError{Fault: FaultSilent, Detail: "no reply to hello within " + deadline.Span(silent.After).String(), Stderr: d.stderr()}
	case errors.As(err, &ended):
		e := &DriverError{Fault: FaultDied, Detail: "before it had replied to hello", Stderr: ended.Stderr}
		if ended.Exited {
			e.Exit = &ended.Exit
		}
		return e
	}
	return &DriverError{Fault: FaultRefused, Detail: err.Error(), Stderr: d.stderr()}
}

// take keeps what the driver said of itself.
func (d *Driver) take(r Reply) error {
	if err := decode(r.Result, &d.hello); err != nil {
		return &DriverError{Fault: FaultMalformed, Detail: err.Error(), Said: string(r.Result)}
	}
	if d.hello.Profile == "" {
		d.hello.Profile = protocol.Directional
	}
	d.mu.Lock()
	d.greeted = true
	d.mu.Unlock()
	return nil
}

// Hello is what the driver said of itself.
func (d *Driver) Hello() Hello { return d.hello }

// Process is the process of the driver. The SDK's launches descend from it.
func (d *Driver) Process() *process.Process { return d.proc }

// Deadlines are those that hold for the driver.
func (d *Driver) Deadlines() Deadlines { return d.o.Deadlines }

// InFlight is the number of calls of the SDK that are not over.
func (d *Driver) InFlight() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inFlight
}

// Fit reports whether the driver lives, was never at fault, and was not spoiled.
func (d *Driver) Fit() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault == nil && d.readErr == nil && d.spoiled == ""
}

// Fault is what the driver itself was found to do wrong: a *DriverError, or nil.
func (d *Driver) Fault() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault == nil {
		return nil
	}
	return d.fault
}

// Spoil marks the driver as unfit for another spec: an SDK hangs in it.
func (d *Driver) Spoil(why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spoiled == "" {
		d.spoiled = why
	}
}

// Stderr is what the driver, and SDKs and runtimes that inherit it, wrote to stderr.
func (d *Driver) Stderr() process.StderrInfo { return d.proc.Stderr() }

func (d *Driver) stderr() string { return string(d.proc.Stderr().Tail) }

// Farewell ends the driver's stdin, upon which a sound one exits, and waits for that. It gives how the driver ended;
// the error is a *SilentError where it did not.
func (d *Driver) Farewell(ctx context.Context) (process.Exit, error) {
	d.writing.Lock()
	_ = d.proc.Stdin().Close() // it may be closed already
	d.writing.Unlock()
	timer := time.NewTimer(d.o.Deadlines.Exit)
	defer timer.Stop()
	select {
	case <-d.proc.Exited():
		exit, _ := d.proc.Exit()
		return exit, nil
	case <-ctx.Done():
		return process.Exit{}, context.Cause(ctx)
	case <-timer.C:
		return process.Exit{}, &SilentError{Awaited: "exit of the driver after the end of its stdin", After: d.o.Deadlines.Exit}
	}
}

// Close ends the driver and everything that descends from it, whatever state they are in, and waits for all
// goroutines. left are the processes that were still running.
func (d *Driver) Close() (left []process.Member, err error) {
	d.closing.Do(func() {
		left, err = d.proc.Kill()
		// All that wrote to stdout is gone, so it ends; but where something could not be killed.
		timer := time.NewTimer(d.o.Deadlines.Leave)
		defer timer.Stop()
		select {
		case <-d.ended:
		case <-timer.C:
			d.proc.Stdout().Close()
			<-d.ended
		}
		_, closeErr := d.proc.Close() // joins what Kill left
		err = errors.Join(err, closeErr)
	})
	return left, err
}

func (d *Driver) wake() {
	close(d.stir)
	d.stir = make(chan struct{})
}

// isClosed reports whether an error of a read says that our own end was closed.
func isClosed(err error) bool {
	return errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}
