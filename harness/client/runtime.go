package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Streams of a runtime.
const (
	stdin = iota
	stdout
	stderr
)

// Entry is one line of the conversation with what was made of it. Notes have no message.
type Entry struct {
	wire.Line
	Message wire.Message
}

// Runtime is one process that the SDK launched, whose every byte the suite holds: the read end of its stdin, the write
// ends of its stdout and stderr. Its methods may be called from any goroutine.
type Runtime struct {
	relay     *Relay
	hello     relay.Hello
	deadlines Deadlines

	control    *net.UnixConn
	fromRelay  *bufio.Reader
	sending    sync.Mutex
	ends       [3]end
	writing    [3]sync.Mutex // held for the length of one Write: bytes of two never mix
	closedEnds [3]atomic.Bool
	started    time.Time

	mu       sync.Mutex
	b        Behaviour
	mon      *protocol.ClientMonitor
	log      []Entry
	seq      int
	kept     int64 // what the log holds, in bytes
	moved    time.Time
	stir     chan struct{} // closed and replaced whenever something changed
	unstall  chan struct{} // closed while stdin is read
	pace     pace
	readErr  error
	out      wire.Splitter // of what is written to stdout
	pending  []*Request    // left to the spec
	queue    []*Request    // to be answered by the behaviour
	answered bool          // the queue is being worked on
	sessions map[string]*Session
	ids      int
	steps    []Step
	acked    map[string]bool // streams that the relay has closed
	refused  string          // what the relay could not do
	told     string          // how it was told to end, "" where it was not
	how      string          // how it ended
	begun    bool

	spoken  atomic.Bool   // something came on stdin
	given   atomic.Bool   // it was given up before that
	gone    chan struct{} // closed when the process has ended
	ended   chan struct{} // closed when stdin is read no more
	life    context.Context
	die     context.CancelFunc
	group   sync.WaitGroup
	closing sync.Once
}

// pace is how slowly stdin is read.
type pace struct {
	piece int           // bytes a read; 0 for no bound
	pause time.Duration // before each
}

func newRuntime(r *Relay, hello relay.Hello, control *net.UnixConn, in *bufio.Reader, ends [3]end) *Runtime {
	rt := &Runtime{
		relay: r, hello: hello, deadlines: r.o.Deadlines, control: control, fromRelay: in, ends: ends, started: time.Now(),
		stir: make(chan struct{}), unstall: make(chan struct{}), sessions: map[string]*Session{}, acked: map[string]bool{},
		gone: make(chan struct{}), ended: make(chan struct{}),
	}
	close(rt.unstall)
	rt.life, rt.die = context.WithCancel(context.Background())
	rt.group.Go(rt.listen)
	rt.group.Go(rt.idle)
	return rt
}

// idle is what becomes of a launch before it is accepted: nothing is read, so that what it is to be decides about the
// first byte. One that is given up before anything was written to it ends, as every runtime does at the end of its
// stdin: SDKs look whether a runtime starts before they launch the one that they speak to.
func (rt *Runtime) idle() {
	ended, err := true, error(nil)
	if rt.hello.Converses() {
		ended, err = rt.ends[stdin].await()
	}
	rt.mu.Lock()
	given := err == nil && ended && !rt.begun
	rt.mu.Unlock()
	switch {
	case rt.closedEnds[stdin].Load():
		return // with the process, or by the spec
	case given:
		rt.given.Store(true)
		_ = rt.Exit(0) // it may have ended already
		return
	}
	rt.spoken.Store(true) // or the platform can't tell
	rt.relay.changed()
}

// state is what a launch is that was not accepted yet.
func (rt *Runtime) state() (spoken, lives bool) {
	select {
	case <-rt.gone:
		return false, false
	default:
		return rt.spoken.Load(), rt.hello.Converses() && !rt.given.Load()
	}
}

// begin starts the reading of stdin.
func (rt *Runtime) begin(b Behaviour) {
	if b.Profile == "" {
		b.Profile = rt.relay.o.Profile
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.b = b
	rt.mon = protocol.NewClientMonitor(protocol.ClientOptions{Profile: b.Profile, InFlight: rt.relay.inFlight})
	rt.begun = true
	rt.note("launched, arguments %q", rt.hello.Argv)
	rt.group.Go(rt.read)
}

func (r *Relay) inFlight() int {
	r.mu.Lock()
	d := r.driver
	r.mu.Unlock()
	if d == nil {
		return 0
	}
	return d.InFlight()
}

// Launch is how the SDK launched the process: what it added to the arguments, the directory, the names of variables,
// and what kind each of its three streams is.
func (rt *Runtime) Launch() relay.Hello { return rt.hello }

// Started is when the process was here.
func (rt *Runtime) Started() time.Time { return rt.started }

// Profile is what the runtime speaks.
func (rt *Runtime) Profile() protocol.Profile { return rt.b.Profile }

// Deadlines are those that hold for the SDK.
func (rt *Runtime) Deadlines() Deadlines { return rt.deadlines }

// read owns stdin until it ends. It is the only goroutine that reads it.
func (rt *Runtime) read() {
	defer close(rt.ended)
	scan := wire.NewScanner(&stallingInput{rt}, 0)
	scan.Moved = func(int) {
		rt.mu.Lock()
		rt.moved = time.Now()
		rt.mu.Unlock()
	}
	for {
		line, err := scan.Next()
		rt.mu.Lock()
		if err != nil {
			rt.readErr = err
			rt.inputEnded(err)
			rt.wake()
			rt.mu.Unlock()
			return
		}
		line.Dir = wire.ClientToServer
		rt.take(line)
		rt.mu.Unlock()
	}
}

// take gives a line of the SDK to the monitor, the log and the waiters. The caller holds the lock.
func (rt *Runtime) take(line wire.Line) {
	line.Seq = rt.seq
	rt.seq++
	o := rt.mon.Client(line)
	rt.add(Entry{line, o.Message})
	for _, v := range o.Violations {
		if rt.relay.o.OnViolation != nil {
			rt.relay.o.OnViolation(rt, v)
		}
	}
	if o.Message.Kind == wire.Request {
		q := &Request{Line: line, Message: o.Message, rt: rt}
		if q.Method() == protocol.MethodShutdown {
			rt.step(StepShutdown, "")
		}
		rt.dispatch(q)
	}
	rt.wake()
}

// inputEnded notes the end of stdin. The caller holds the lock.
func (rt *Runtime) inputEnded(err error) {
	switch {
	case rt.closedEnds[stdin].Load() || rt.how != "":
		return // by ourselves, or with the process
	case errors.Is(err, io.EOF):
		rt.note(wire.NoteInputClosed)
	default:
		rt.note("%s: %v", wire.NoteInputClosed, err)
	}
	rt.step(StepInputEnded, "")
	if !rt.b.IgnoreEOF {
		rt.enqueue(nil) // exits when all before is answered
	}
}

// add keeps an entry. The caller holds the lock.
func (rt *Runtime) add(e Entry) {
	rt.kept += int64(len(e.Raw))
	rt.log = append(rt.log, e)
	if rt.kept > mostKept { // a flood: what comes last is enough to look at
		half := 0
		for ; rt.kept > mostKept/2; half++ {
			rt.kept -= int64(len(rt.log[half].Raw))
		}
		rt.log = slices.Clone(rt.log[half:])
	}
	if rt.relay.o.OnLine != nil {
		rt.relay.o.OnLine(rt, e.Line)
	}
}

// mostKept bounds the log, in bytes.
const mostKept = 256 << 20

// note records something that is no line of the wire. The caller holds the lock.
func (rt *Runtime) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\n"
	line := wire.Line{Seq: rt.seq, At: time.Now(), Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))}
	rt.seq++
	rt.add(Entry{Line: line})
}

// Note writes a remark into the transcript.
func (rt *Runtime) Note(format string, args ...any) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.note(format, args...)
}

func (rt *Runtime) wake() {
	close(rt.stir)
	rt.stir = make(chan struct{})
}
