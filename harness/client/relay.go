package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// RelayOptions say where a relay is kept and what its runtimes are held to.
type RelayOptions struct {
	// Dir is an existing directory of the run's scratch tree: the socket and the executable go into one below it.
	Dir string
	// Program is the executable that runs the relay: that of dshconform, or a test binary that hands its arguments to
	// relay.Run.
	Program string
	// Bytes has bytes passed on also where descriptors could be.
	Bytes bool

	Profile   protocol.Profile
	Deadlines Deadlines
	// OnViolation gets what the monitor finds in what the SDK writes, OnLine every line of both directions and the
	// notes, for transcripts. They are called with the runtime's lock held: they must not call back. Nil is allowed.
	OnViolation func(*Runtime, protocol.Violation)
	OnLine      func(*Runtime, wire.Line)
}

// Relay is where one client of the SDK finds its runtime: a socket, and an executable that leads to it. Each launch of
// it is a Runtime.
type Relay struct {
	o        RelayOptions
	dir      string
	socket   string
	exe      string
	mode     relay.Mode
	listener *net.UnixListener

	mu       sync.Mutex
	driver   *Driver
	launched []*Runtime // in the order of their launches
	accepted int
	halves   map[int]*half // in Bytes: launches whose connections are not all here, by pid
	stir     chan struct{}
	failed   error // of a launch that could not be taken
	closed   bool

	group sync.WaitGroup // the goroutines of this relay
}

// longestSocket is what the path of a Unix socket may have on every platform.
const longestSocket = 100

// NewRelay makes a relay. It has to be closed.
func NewRelay(o RelayOptions) (*Relay, error) {
	r := &Relay{o: o, mode: relay.Descriptors, stir: make(chan struct{}), halves: map[int]*half{}}
	if o.Bytes || runtime.GOOS == "windows" {
		r.mode = relay.Bytes
	}
	if err := r.make(); err != nil {
		if r.dir != "" {
			os.RemoveAll(r.dir)
		}
		return nil, fmt.Errorf("make a relay: %w", err)
	}
	r.group.Go(r.listen)
	return r, nil
}

func (r *Relay) make() (err error) {
	if r.dir, err = os.MkdirTemp(r.o.Dir, "r-"); err != nil {
		return err
	}
	if r.dir, err = filepath.Abs(r.dir); err != nil {
		return err
	}
	if len(r.dir) > longestSocket-2 {
		long := r.dir
		if r.dir, err = os.MkdirTemp("", "dshconform-r-"); err != nil {
			return err
		}
		os.Remove(long) // it is empty
	}
	r.socket = filepath.Join(r.dir, "s")
	if r.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: r.socket, Net: "unix"}); err != nil {
		return err
	}
	if err = r.executable(); err != nil {
		_ = r.listener.Close()
	}
	return err
}

// executable makes the one file that can be launched. SDKs resolve symbolic links, so it is none.
func (r *Relay) executable() (err error) {
	if runtime.GOOS != "windows" {
		r.exe, err = WriteExecutable(filepath.Join(r.dir, "runtime"), r.Argv(), true)
		return err
	}
	r.exe = filepath.Join(r.dir, relay.Executable+".exe")
	if err := os.WriteFile(r.exe+relay.AddressSuffix, []byte(r.address()), 0o644); err != nil {
		return err
	}
	if os.Link(r.o.Program, r.exe) == nil {
		return nil
	}
	program, err := os.ReadFile(r.o.Program)
	if err != nil {
		return err
	}
	return os.WriteFile(r.exe, program, 0o755)
}

// WriteExecutable writes a script that runs a command line in its place, and gives its path, which has a suffix where
// the platform wants one. Arguments that it is given are passed on where added says so, and dropped otherwise.
func WriteExecutable(path string, argv []string, added bool) (string, error) {
	windows := runtime.GOOS == "windows"
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = quote(a)
		if windows {
			quoted[i] = `"` + a + `"`
		}
	}
	script := "#!/bin/sh\nexec " + strings.Join(quoted, " ")
	if windows {
		path += ".cmd"
		script = "@" + strings.Join(quoted, " ")
	}
	switch {
	case added && windows:
		script += " %*"
	case added:
		script += ` "$@"`
	}
	return path, os.WriteFile(path, []byte(script+"\n"), 0o755)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (r *Relay) address() string { return relay.Address(r.socket, r.mode) }

// Argv is the runtime as a command line.
func (r *Relay) Argv() []string { return []string{r.o.Program, relay.Name, r.address()} }

// Executable is the runtime as one executable file, which needs no arguments and no environment.
func (r *Relay) Executable() string { return r.exe }

// serve tells which driver's SDK launches this relay.
func (r *Relay) serve(d *Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.driver = d
}

// Accept gives the next launch that lives, for which it waits. The runtime is read from now on, and behaves like b.
func (r *Relay) Accept(ctx context.Context, b Behaviour) (*Runtime, error) {
	return r.accept(ctx, b, nil)
}

// accept is Accept for the launch of a call, and given up when that is over without one. An SDK may launch more than
// the runtime that it goes on with: one that it only looks at, one that it gives up. The one that is meant is spoken
// to, or there when the call is over.
func (r *Relay) accept(ctx context.Context, b Behaviour, launching *Call) (*Runtime, error) {
	const awaited = "launch of the runtime"
	timer := time.NewTimer(r.o.Deadlines.Start)
	defer timer.Stop()
	over := make(<-chan struct{})
	if launching != nil {
		over = launching.Done()
	}
	for last := launching == nil; ; {
		r.mu.Lock()
		stir, failed, driver := r.stir, r.failed, r.driver
		rt := r.next(last)
		r.mu.Unlock()
		switch {
		case rt != nil:
			rt.begin(b)
			return rt, nil
		case failed != nil:
			return nil, failed
		case last && launching != nil:
			return nil, errors.Join(errNoLaunch, overError(launching), r.unused())
		}
		ended := make(<-chan struct{})
		if driver != nil {
			ended = driver.ended
		}
		select {
		case <-stir:
		case <-over:
			last = true // look once more: it may have been launched before
		case <-ended:
			return nil, driver.endedErrorUnlocked(awaited)
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the %s: %w", awaited, context.Cause(ctx))
		case <-timer.C:
			return nil, errors.Join(&SilentError{Awaited: awaited, After: r.o.Deadlines.Start}, r.unused())
		}
	}
}

// next takes the next launch that lives: one that was spoken to, or else the newest where silent ones count too. The
// caller holds the lock.
func (r *Relay) next(silent bool) *Runtime {
	at := -1
	for i := r.accepted; i < len(r.launched); i++ {
		switch spoken, lives := r.launched[i].state(); {
		case lives && spoken:
			r.accepted = i + 1
			return r.launched[i]
		case lives && silent:
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	r.accepted = at + 1
	return r.launched[at]
}

// unused tells of launches that nobody spoke to, nil where there are none.
func (r *Relay) unused() error {
	r.mu.Lock()
	rest := append([]*Runtime(nil), r.launched[r.accepted:]...) // their locks come before this one
	r.mu.Unlock()
	var said []error
	for _, rt := range rest {
		if how, ended := rt.How(); ended {
			said = append(said, fmt.Errorf("a runtime with the arguments %q was launched, and ended before anything was written to it: %s", rt.hello.Argv, how))
		}
	}
	return errors.Join(said...)
}

var errNoLaunch = errors.New("the SDK launched no runtime")

func overError(c *Call) error {
	reply, _ := c.Over()
	if reply.Err == nil {
		return nil
	}
	return reply.Err
}

// Launches is the number of launches so far, without those that nobody could have spoken to.
func (r *Relay) Launches() (n int) {
	for _, rt := range r.Runtimes() {
		if rt.hello.Converses() {
			n++
		}
	}
	return n
}

// Runtimes are the launches so far, those that nobody accepted too.
func (r *Relay) Runtimes() []*Runtime {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Runtime(nil), r.launched...)
}

// Close ends all launched processes and forgets the socket and the executable.
func (r *Relay) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	launched := append([]*Runtime(nil), r.launched...)
	for _, h := range r.halves {
		h.close()
	}
	r.mu.Unlock()
	_ = r.listener.Close()
	for _, rt := range launched {
		rt.Close()
	}
	r.group.Wait()
	for _, rt := range r.Runtimes()[len(launched):] { // taken while this was closing
		rt.Close()
	}
	os.RemoveAll(r.dir)
}

// changed tells who waits for a launch that one of them is another one now.
func (r *Relay) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
}

// wake needs the lock.
func (r *Relay) wake() {
	close(r.stir)
	r.stir = make(chan struct{})
}
