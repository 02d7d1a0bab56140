//go:build linux || darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dshconform/dshconform/harness/deadline"
)

// launch starts the supervisor, has it start the subject, and waits until that runs.
func (p *Process) launch(ctx context.Context, spec launch) error {
	if len(p.command.Supervisor) == 0 {
		return errors.New("start: Command.Supervisor is empty")
	}
	ours, theirs, err := channel()
	if err != nil {
		return fmt.Errorf("make the channel to the supervisor: %w", err)
	}
	s := &supervised{
		p: p, channel: ours, began: time.Now(),
		first: make(chan report, 1), waited: make(chan struct{}), done: make(chan struct{}),
		noise: newRing(1 << 10),
	}
	s.cmd = exec.Command(p.command.Supervisor[0], p.command.Supervisor[1:]...)
	s.cmd.Env = supervisorEnv()
	s.cmd.Stderr = theirs
	s.cmd.ExtraFiles = []*os.File{theirs, spec.files[0], spec.files[1], spec.files[2]}
	// A session of its own: Ctrl-C at a terminal reaches the harness alone, which then decides.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = s.cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return fmt.Errorf("start the supervisor %q: %w", p.command.Supervisor[0], err)
	}
	p.control = s
	go s.wait()
	go s.listen()

	defer deadline.CutAtEnd(ctx, ours)()
	sendErr := s.send(request{Start: &startRequest{
		Path: spec.path, Dir: spec.dir, Argv: toBytes(spec.argv), Env: toBytes(spec.env), Nonce: p.nonce,
	}})
	if sendErr == nil {
		select {
		case r := <-s.first:
			return s.begin(r, spec)
		case <-s.done:
		case <-ctx.Done():
		}
	}
	// A supervisor that dies takes the launched process with it; what that had started in
	// the meantime is swept up by the listener.
	s.abandon()
	select {
	case r := <-s.first: // it was on its way when the supervisor ended
		if ctx.Err() == nil {
			return s.begin(r, spec)
		}
	default:
	}
	if ctx.Err() != nil {
		return fmt.Errorf("start %s: %w", p.command.Argv[0], context.Cause(ctx))
	}
	said := oneLine(string(s.noise.tail()))
	if said == "" {
		said = s.cmd.ProcessState.String()
	}
	return fmt.Errorf("the supervisor %q ended before it had started %s: %s", p.command.Supervisor[0], p.command.Argv[0], said)
}

// begin takes the supervisor's first report.
func (s *supervised) begin(r report, spec launch) error {
	if r.Failed != nil {
		s.abandon()
		reason := startReason(*r.Failed, spec.path)
		if r.Failed.Own {
			return fmt.Errorf("start %s: %w", s.p.command.Argv[0], reason)
		}
		return &StartError{Argv: s.p.command.Argv, Err: reason}
	}
	return nil
}

// abandon ends a supervisor whose subject never ran, and joins its goroutines.
func (s *supervised) abandon() {
	_ = s.cmd.Process.Kill()
	<-s.done
	_ = s.channel.Close()
}

// channel makes the two ends of the control channel, neither of which any other child inherits.
func channel() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil { // for deadlines
		_ = unix.Close(pair[0])
		_ = unix.Close(pair[1])
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control"), nil
}

// supervisorEnv is all that a supervisor gets: its subject can read it, so no credential is in it.
func supervisorEnv() []string {
	env := []string{
		// One small process, no garbage to speak of: starting fast is all that counts. More than
		// one P, because with one the wake-up after a blocking call waits for the runtime's monitor.
		"GOMAXPROCS=4", "GOGC=off", "GOMEMLIMIT=256MiB",
	}
	for _, name := range []string{"PATH", "GOCOVERDIR", "GORACE"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
