package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// NonceVariable is the environment variable that every process of a subject's tree inherits. Its
// value ([Process.Nonce]) is random per start, so a process that got away from its parents can still
// be told to belong to one subject. It authorises nothing.
const NonceVariable = "DSHCONFORM_SUBJECT"

const (
	// DefaultStderrTail is how many bytes of a subject's stderr are kept where Command does not say.
	DefaultStderrTail = 64 << 10
	// DefaultKillTimeout bounds the killing of a tree where Command does not say. SIGKILL takes
	// microseconds on a healthy system: only a process that the kernel can't end reaches it.
	DefaultKillTimeout = 10 * time.Second
)

// Command says what to start, where, and in which environment. The zero value of every field but
// Argv and Supervisor is usable.
type Command struct {
	// Argv is the program and its arguments, as the subject sees them; but an Argv[0] with a
	// separator is made absolute, because it is relative to ResolveDir and not to Dir. One without
	// a separator is looked up in the PATH of the caller, not in that of Env.
	Argv []string
	// ResolveDir is the directory that a relative Argv[0] starts from; empty for that of the caller.
	ResolveDir string
	// Dir is the working directory of the process; empty for that of the caller.
	Dir string
	// Env is the whole environment (see [Environment]); [NonceVariable] is added to it.
	Env []string
	// Supervisor is the command line that ends in [Supervise], such as {"/path/dshconform",
	// "supervise"}. Windows does not use it.
	Supervisor []string
	// StderrTail is the number of bytes of stderr that are kept. What came before is counted and
	// dropped.
	StderrTail int
	// OnStderr, where set, gets every piece of stderr as it arrives, from one goroutine. The slice
	// is valid during the call alone. A callback that blocks stalls the subject's stderr and Close.
	OnStderr func([]byte)
	// KillTimeout bounds how long Kill and Close try to end the tree.
	KillTimeout time.Duration
}

// Member is a live process of a subject's tree. A zombie is none.
type Member struct {
	Pid     int    `json:"pid"`
	Parent  int    `json:"parent"`
	Command string `json:"command"` // command line, cut; the name in brackets where that can't be read
}

// String is the member as a report shows it.
func (m Member) String() string { return fmt.Sprintf("%d %s", m.Pid, m.Command) }

// control is what a platform does for a process: see supervised_unix.go and job_windows.go.
type control interface {
	signal(os.Signal) error
	// members lists the live processes of the tree.
	members(context.Context) ([]Member, error)
	// cpu is the CPU time of the whole tree as far as the platform can tell it now.
	cpu(context.Context) (time.Duration, error)
	// kill ends the tree and everything that watches it, within timeout and a little; it returns
	// what could not be ended. It is called once.
	kill(timeout time.Duration) ([]Member, error)
}

// Process is a started subject. Its methods may be called from any goroutine. It holds pipes,
// goroutines and a supervisor until Close.
type Process struct {
	command Command
	nonce   string
	pid     int
	started time.Time

	stdin, stdout *os.File
	stderr        *tail
	control       control

	exited chan struct{}
	gone   chan struct{}

	mu      sync.Mutex
	exit    Exit
	dead    bool
	lastCPU time.Duration

	killOnce, closeOnce sync.Once
	left                []Member
	killErr             error
}

// Stdin is the write end of the subject's stdin. The owner writes, sets deadlines, and may close it,
// which is the subject's EOF.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout is the read end of the subject's stdout. The owner reads it and may close it, upon which the
// subject's writes get SIGPIPE or EPIPE. It comes to EOF when every process that holds it has ended
// or closed it, which a child that outlived the launched process may put off.
func (p *Process) Stdout() *os.File { return p.stdout }

// Pid is the process id of the launched process itself, not of its supervisor.
func (p *Process) Pid() int { return p.pid }

// Nonce is the value of [NonceVariable] in the subject's environment.
func (p *Process) Nonce() string { return p.nonce }

// Started is when the subject's program began to run.
func (p *Process) Started() time.Time { return p.started }

// Signal sends sig to the launched process alone, as an SDK does: a shell wrapper that did not exec
// the server gets it in the server's place. It returns os.ErrProcessDone once the process was reaped;
// a pid is never signalled after that.
func (p *Process) Signal(sig os.Signal) error {
	select {
	case <-p.exited:
		return os.ErrProcessDone
	default:
	}
	if err := p.control.signal(sig); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			return os.ErrProcessDone
		}
		return fmt.Errorf("send %v to %s (pid %d): %w", sig, p.command.Argv[0], p.pid, err)
	}
	return nil
}

// Exited is closed when the launched process has ended and was reaped. Its children may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when no process of the tree is left. On Linux that is an event of the kernel, so
// waiting on it proves that nothing was left behind; elsewhere it is found by looking now and then.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Exit is how the launched process ended; false while it runs.
func (p *Process) Exit() (Exit, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit, p.dead
}

// Tree lists the live processes that descend from the launched process, itself included, also those
// that left its group or session, in the order of their pids.
func (p *Process) Tree(ctx context.Context) ([]Member, error) {
	select {
	case <-p.gone:
		return nil, nil
	default:
	}
	members, err := p.control.members(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the processes of %s: %w", p.command.Argv[0], err)
	}
	return members, nil
}

// CPU is the CPU time, user and system together, that the tree has used so far: live processes and
// those that were reaped. It never decreases. The kernel counts it in ticks of 10 ms; after the tree
// is gone it is exact.
func (p *Process) CPU(ctx context.Context) (time.Duration, error) {
	used, err := p.control.cpu(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of %s: %w", p.command.Argv[0], err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// A process that ends between two reads of one sum moves its time to a parent that was already
	// read: the sum then falls short, and the earlier one is nearer to the truth.
	p.lastCPU = max(p.lastCPU, used)
	return p.lastCPU, nil
}

// Stderr is what the subject wrote to stderr so far. A process that has just exited may have written
// more than was read yet: see WaitStderr.
func (p *Process) Stderr() StderrInfo { return p.stderr.info() }

// WaitStderr waits until stderr has come to its end, so that Stderr is complete. Children that hold
// stderr open put that off: bound it with ctx.
func (p *Process) WaitStderr(ctx context.Context) error {
	select {
	case <-p.stderr.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of stderr of %s: %w", p.command.Argv[0], ctx.Err())
	}
}

// Kill ends whatever is left of the tree with SIGKILL, children that left the group or session
// included, and reaps it. It leaves the pipes open, so that their owner reads what is in them up to
// EOF. left is what still ran when Kill was first called; err is a *LeftError where something could
// not be ended within Command.KillTimeout. Later calls wait for the first and return the same.
func (p *Process) Kill() (left []Member, err error) {
	p.killOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), p.command.KillTimeout)
		defer cancel()
		p.left, _ = p.Tree(ctx) // a tree that can't be listed can still be killed
		stuck, err := p.control.kill(p.command.KillTimeout)
		switch {
		case len(stuck) > 0:
			p.killErr = &LeftError{Argv: p.command.Argv, Members: stuck}
		case err != nil:
			p.killErr = fmt.Errorf("kill the processes of %s: %w", p.command.Argv[0], err)
		}
	})
	return p.left, p.killErr
}

// Close is Kill, and then closes the pipes and waits for every goroutine of the process. It is
// idempotent and bounded: by Command.KillTimeout, by twice that and a few seconds where the supervisor
// itself was wedged or killed.
func (p *Process) Close() (left []Member, err error) {
	left, err = p.Kill()
	p.closeOnce.Do(func() {
		// The owner may have closed either: nothing is lost then.
		_ = p.stdin.Close()
		_ = p.stdout.Close()
		p.stderr.close(err != nil)
	})
	return left, err
}

// finish records how the launched process ended. Only the first call counts.
func (p *Process) finish(e Exit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	p.exit, p.dead = e, true
	close(p.exited)
}
