package tap

import (
	"cmp"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dshconform/dshconform/harness/wire"
)

// Options is one tap.
type Options struct {
	// Argv is the server's command, looked up as a shell would.
	Argv []string
	// Env are variables of the server's, NAME=VALUE, besides the caller's.
	Env []string
	// Dir is the server's working directory, "" for the caller's. A relative command is looked up there.
	Dir string
	// Stdin and Stdout are the client's ends. Run closes them as the server closes its own.
	Stdin, Stdout *os.File
	// Stderr becomes the server's own.
	Stderr *os.File

	Judge JudgeOptions
	// Record gets the recording, nil for none. Its user closes it.
	Record io.Writer
	// RecordLimit bounds the bytes of the conversation that are recorded; 0 for no bound. What
	// comes behind them is a gap in the recording, and is judged here all the same.
	RecordLimit int64

	// Queue bounds the bytes that wait for the judge; 0 means 64 MiB. Line bounds what is
	// kept of a line; 0 means 32 MiB.
	Queue int64
	Line  int
	// Linger is how long the server's output is waited for after the server has ended
	// while a process that it left holds it open, from the last byte; 0 means a second.
	Linger time.Duration
}

const (
	defaultQueue  = 64 << 20
	defaultLine   = 32 << 20
	defaultLinger = time.Second
)

// Report is what a live conversation came to.
type Report struct {
	Result
	// Status is the server's exit status as a shell tells it: 128+n for signal n. End is
	// the same in words.
	Status int
	End    string
	// Blocked is how long bytes had to wait for the queue.
	Blocked time.Duration
	// HeldOpen is set where a process that the server left behind held its stdout open.
	HeldOpen bool
	// RecordErr is why the recording is not whole.
	RecordErr error
}

// Run starts the server and passes bytes until it has ended. The error is a
// *StartError, and then nothing was passed.
//
// Run owns the process's signals while it runs, see [forwarded]. On Windows, where a
// read of stdin can't be interrupted, one goroutine stays with it.
func Run(o Options) (Report, error) {
	t := &tap{o: o, queue: newQueue(cmp.Or(o.Queue, defaultQueue))}
	return t.run()
}

type tap struct {
	o      Options
	queue  *queue
	cmd    *exec.Cmd
	stdin  *os.File // our ends of the server's pipes
	stdout *os.File
	source source // the client's stdin

	in, out *pump
	pumps   sync.WaitGroup
	read    chan struct{} // closed when the server's stdout was read to its end
	over    chan struct{} // closed when the server has ended

	inClosed   chan struct{} // closed when the client's stdin is
	clientDeaf atomic.Bool   // the client was seen to have closed its end of stdout
	serverDeaf atomic.Bool   // the server was seen to have closed its stdin
	heldOpen   atomic.Bool   // a process that the server left holds its stdout, which is read no more
	heldTold   bool          // a note says so; set by serverToClient
}

func (t *tap) run() (Report, error) {
	signals := catch()
	defer signals.release()
	if err := t.start(); err != nil {
		return Report{}, err
	}
	l := &listener{
		queue: t.queue, judge: NewJudge(t.o.Judge), room: cmp.Or(t.o.RecordLimit, math.MaxInt64),
		in: wire.NewSplitter(cmp.Or(t.o.Line, defaultLine)), out: wire.NewSplitter(cmp.Or(t.o.Line, defaultLine)),
	}
	if t.o.Record != nil {
		l.record, l.failed = wire.NewTranscriptWriter(t.o.Record, wire.Header{Profile: string(t.o.Judge.Monitor.Profile), Subject: t.o.Argv})
	}
	var listening sync.WaitGroup
	listening.Go(l.run)
	t.read, t.over, t.inClosed = make(chan struct{}), make(chan struct{}), make(chan struct{})
	t.pump()
	signals.forward(t.cmd.Process, func(name string) {
		t.clientCloses()
		t.note(wire.SignalNote(name))
	})

	waitErr := t.cmd.Wait()
	signals.stop()
	report := Report{HeldOpen: !t.drain()}
	t.heldOpen.Store(report.HeldOpen)
	close(t.over)
	_ = closeQuietly(t.stdout)
	t.source.Interrupt()
	_ = closeQuietly(t.stdin) // what the server left may hold its end, and not read
	t.pumps.Wait()
	report.Status, report.End = status(t.cmd.ProcessState, waitErr)
	if report.HeldOpen && !t.heldTold { // it came to its end at the last moment
		t.note(wire.GapNote(wire.GapHeldOpen))
	}
	t.note(wire.EndNote(report.End))
	t.queue.close()
	listening.Wait()
	report.Result = l.judge.Result()
	report.Blocked, report.RecordErr = t.queue.blocked(), l.failed
	return report, nil
}

// pump starts both directions.
func (t *tap) pump() {
	t.source = interruptible(t.o.Stdin)
	t.in = &pump{dir: wire.ClientToServer, from: t.source, to: t.stdin, queue: t.queue, first: t.clientCloses}
	t.out = &pump{dir: wire.ServerToClient, from: &pipeSource{File: t.stdout}, to: t.o.Stdout, queue: t.queue, first: t.serverCloses}
	startReader(&t.pumps, t.clientToServer)
	t.pumps.Go(t.serverToClient)
}

// clientCloses passes it on to the server at once that the client has closed its end
// of stdout. The watching would do the same a little later, and a client that closes
// and then asks something may never write again.
func (t *tap) clientCloses() {
	if goneNow(t.o.Stdout) {
		t.clientDeaf.Store(true)
		t.out.from.Interrupt()
	}
}

// serverCloses passes it on to the client at once that the server has closed its stdin.
func (t *tap) serverCloses() {
	if goneNow(t.stdin) {
		t.serverDeaf.Store(true)
		t.source.Interrupt()
		<-t.inClosed
	}
}

func (t *tap) clientToServer() {
	p := t.in
	watch := watchSink(t.stdin, t.source.Interrupt)
	how := p.run()
	watch.stop()
	_ = closeQuietly(t.source) // the client's next write has nobody to read it
	close(t.inClosed)
	t.clientCloses()
	select {
	case <-t.over: // the server has ended: nothing more can be said about its stdin
		how = sinkGone
	default:
	}
	p.ended()
	if how == sourceEnded && !watch.gone() && !t.serverDeaf.Load() {
		p.note(wire.NoteInputClosed) // before the server can see it
	}
	_ = closeQuietly(t.stdin)
}

func (t *tap) serverToClient() {
	defer close(t.read)
	p := t.out
	watch := watchSink(t.o.Stdout, p.from.Interrupt)
	how := p.run()
	watch.stop()
	switch { // what explains that a last line is cut comes before that line
	case how == sinkGone || watch.gone() || t.clientDeaf.Load():
		p.note(wire.NoteOutputClosed)
		p.ended()
	case t.heldOpen.Load():
		p.note(wire.GapNote(wire.GapHeldOpen))
		t.heldTold = true
		p.ended()
	default:
		p.ended()
		p.note(wire.NoteOutputEnded)
	}
	_ = closeQuietly(t.stdout)
	t.serverCloses()
	_ = closeQuietly(t.o.Stdout)
}

// drain waits for the rest of the server's output, which lies in the pipe when the
// server has ended, and ends at once where nobody else holds the pipe. It reports
// whether it came to its end.
func (t *tap) drain() bool {
	linger := cmp.Or(t.o.Linger, defaultLinger)
	ended := time.Now()
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for {
		select {
		case <-t.read:
			return true
		case <-timer.C:
		}
		last := time.Unix(0, t.out.moved.Load())
		if last.Before(ended) {
			last = ended
		}
		rest := time.Until(last.Add(linger))
		if rest <= 0 && !t.out.writing.Load() {
			return false
		}
		timer.Reset(max(rest, linger/4))
	}
}

func (t *tap) note(text string) { t.queue.put(piece{dir: wire.Note, at: time.Now(), note: text}) }

// StartError says that the server could not be started.
type StartError struct {
	Argv []string
	Err  error
}

func (e *StartError) Error() string { return e.Argv[0] + ": " + e.reason() }
func (e *StartError) Unwrap() error { return e.Err }

func (e *StartError) reason() string {
	err := e.Err
	var path *os.PathError
	var lookup *exec.Error
	switch {
	case errors.As(err, &lookup):
		err = lookup.Err
	case errors.As(err, &path):
		err = path.Err
	}
	return err.Error()
}

// Status is the exit status that a shell gives: 127 where there is no such command,
// 126 where it can't be executed.
func (e *StartError) Status() int {
	if errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, os.ErrNotExist) {
		return 127
	}
	return 126
}

// start starts the server on two pipes, and on the caller's stderr, environment,
// working directory and process group.
func (t *tap) start() error {
	fail := func(err error) error { return &StartError{t.o.Argv, err} }
	inR, inW, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return fail(errors.Join(err, inR.Close(), inW.Close()))
	}
	t.stdin, t.stdout = inW, outR
	t.cmd = exec.Command(t.o.Argv[0], t.o.Argv[1:]...)
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = inR, outW, t.o.Stderr
	t.cmd.Dir = t.o.Dir
	if len(t.o.Env) > 0 {
		t.cmd.Env = append(os.Environ(), t.o.Env...)
	}
	err = t.cmd.Start()
	_ = inR.Close() // the server has its own
	_ = outW.Close()
	if err != nil {
		_ = inW.Close()
		_ = outR.Close()
		return fail(err)
	}
	return nil
}
