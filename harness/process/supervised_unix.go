//go:build linux || darwin

package process

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervised is the harness's side of a process that a supervisor watches.
type supervised struct {
	p       *Process
	cmd     *exec.Cmd
	channel *os.File
	began   time.Time // when Start was called

	first  chan report   // "started" or "failed"
	waited chan struct{} // the supervisor was reaped
	done   chan struct{} // … and all that it had said is known; guards the fields below it
	stuck  []Member      // what nobody could end
	cpuAll time.Duration // of the whole tree
	noise  *ring         // what came over the channel and was no report

	mu      sync.Mutex // one request at a time
	pending []chan signalledReport
}

// wait reaps the supervisor.
func (s *supervised) wait() {
	defer close(s.waited)
	_ = s.cmd.Wait() // its status says no more than its silence
	// Whatever it said is in the socket, and EOF follows, unless a wrong program in its place passed
	// the channel on to a child.
	_ = s.channel.SetReadDeadline(time.Now().Add(strangerGrace))
}

const (
	strangerGrace = 5 * time.Second  // see wait
	answerGrace   = 5 * time.Second  // a live supervisor answers in microseconds; a loaded system in less than this
	reportLimit   = 4 << 20          // bytes of one report
	supervisorLag = 2 * time.Second  // what a supervisor may take beyond the timeout of its kill
	sweepLimit    = 10 * time.Second // for the sweep after a supervisor was lost
)

// listen takes the reports until the supervisor has ended, and owns the state that they make.
func (s *supervised) listen() {
	defer close(s.done)
	said, gone := false, false
	lines := bufio.NewScanner(s.channel)
	lines.Buffer(make([]byte, 4<<10), reportLimit)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			s.noise.write(lines.Bytes())
			s.noise.write([]byte{' '})
			continue
		}
		switch {
		case r.Started != nil || r.Failed != nil:
			if said {
				continue // a second one: no supervisor of ours
			}
			said = true
			if r.Started != nil {
				s.p.pid = r.Started.Pid
				s.p.started = sooner(time.Unix(0, r.Started.At), s.began)
			}
			gone = r.Failed != nil
			s.first <- r
		case r.Signalled != nil:
			s.answer(*r.Signalled)
		case r.Exited != nil:
			s.p.finish(exitOf(*r.Exited, s.p.started))
		case r.Gone != nil:
			gone = true
			s.cpuAll, s.stuck = r.Gone.CPU, r.Gone.Left
		}
	}
	_ = s.cmd.Process.Kill() // it has closed the channel: it is ending, or was never what we think
	<-s.waited
	if !gone {
		s.stuck = s.sweepStrays()
	}
	if len(s.stuck) == 0 {
		close(s.p.gone)
	}
	// Where the exit was not reported, it never will be: nobody may wait for it.
	s.p.finish(Exit{Code: -1, Unknown: true, At: time.Now()})
}

// answer hands the reply to the longest waiting Signal.
func (s *supervised) answer(r signalledReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) > 0 {
		s.pending[0] <- r
		s.pending = s.pending[1:]
	}
}

func (s *supervised) send(r request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.channel.Write(append(line, '\n'))
	return err
}

var errSilent = errors.New("the supervisor does not answer")

func (s *supervised) signal(sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok || number == 0 {
		return fmt.Errorf("no signal of this system: %w", errors.ErrUnsupported)
	}
	reply := make(chan signalledReport, 1)
	s.mu.Lock()
	_ = s.channel.SetWriteDeadline(time.Now().Add(answerGrace))
	err := s.send(request{Signal: int(number)})
	if err == nil {
		s.pending = append(s.pending, reply)
	}
	s.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSilent
	}
	if err != nil {
		return os.ErrProcessDone // the supervisor has ended, which it does after the process
	}
	timer := time.NewTimer(answerGrace)
	defer timer.Stop()
	select {
	case r := <-reply:
		return r.err()
	case <-s.done:
		select {
		case r := <-reply:
			return r.err()
		default:
			return os.ErrProcessDone
		}
	case <-timer.C:
		return errSilent
	}
}

func (r signalledReport) err() error {
	switch {
	case r.Done:
		return os.ErrProcessDone
	case r.Error != "":
		return errors.New(r.Error)
	}
	return nil
}

// kill has the supervisor end the tree; a supervisor that can't (stopped by its subject, say) is
// ended itself, and the listener sweeps up.
func (s *supervised) kill(timeout time.Duration) ([]Member, error) {
	s.mu.Lock()
	_ = s.channel.SetWriteDeadline(time.Now().Add(answerGrace))
	_ = s.send(request{Kill: &timeout}) // fails only where it has ended already
	s.mu.Unlock()
	timer := time.NewTimer(timeout + supervisorLag)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	_ = s.channel.Close()
	return s.stuck, nil
}

func (s *supervised) members(ctx context.Context) ([]Member, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []proc
	var err error
	select {
	case <-s.done:
		found, err = strays(s.p.pid, s.p.nonce)
	default:
		found, err = treeOf(s.cmd.Process.Pid, s.p.pid, s.p.nonce)
	}
	return described(found), err
}

func (s *supervised) cpu(ctx context.Context) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case <-s.done:
		return s.cpuAll, nil
	default:
		return cpuOf(s.cmd.Process.Pid, s.p.nonce)
	}
}

// sweepStrays ends what a supervisor that was itself killed has left.
func (s *supervised) sweepStrays() []Member {
	limit := min(s.p.command.KillTimeout, sweepLimit)
	left := sweep{
		list: func() ([]proc, error) { return strays(s.p.pid, s.p.nonce) },
		kill: func(pid int) error { return unix.Kill(pid, unix.SIGKILL) },
		look: look,
	}.run(limit)
	return described(left)
}

func exitOf(r exitedReport, started time.Time) Exit {
	e := Exit{
		Code: r.Code, SignalNumber: r.Signal, At: sooner(time.Unix(0, r.At), started),
		MaxRSS: r.MaxRSS, User: r.User, System: r.System,
	}
	if r.Signal != 0 {
		e.Code = -1
		if e.Signal = unix.SignalName(syscall.Signal(r.Signal)); e.Signal == "" {
			e.Signal = fmt.Sprintf("signal %d", r.Signal)
		}
	}
	return e
}
