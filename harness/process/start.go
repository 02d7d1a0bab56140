package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Start starts the command with its stdin, stdout and stderr on pipes. It returns once the program
// runs: a program that exits at once is no error of Start, its Exited closes and Exit tells. A
// *StartError says that the command can't be run; every other error is the suite's own.
//
// ctx bounds the start alone, not the life of the process. Nothing is left running or open where
// Start fails.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", strings.Join(c.Argv, " "), err)
	}
	path, argv, err := resolve(c)
	if err == nil {
		err = directory(c.Dir)
	}
	if err == nil {
		err = noNul(argv, c.Env)
	}
	if err != nil {
		return nil, &StartError{Argv: c.Argv, Err: err}
	}
	if c.StderrTail == 0 {
		c.StderrTail = DefaultStderrTail
	}
	if c.KillTimeout <= 0 {
		c.KillTimeout = DefaultKillTimeout
	}
	p := &Process{
		command: c,
		nonce:   rand.Text(),
		exited:  make(chan struct{}),
		gone:    make(chan struct{}),
	}
	subject, err := p.pipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: make its pipes: %w", c.Argv[0], err)
	}
	spec := launch{
		path:  path,
		argv:  argv,
		dir:   c.Dir,
		env:   append(without(c.Env, NonceVariable), NonceVariable+"="+p.nonce),
		files: subject,
	}
	err = p.launch(ctx, spec)
	for _, file := range subject {
		_ = file.Close() // the subject has its own copies; ours would hide its EOF
	}
	if err != nil {
		_ = p.stdin.Close()
		_ = p.stdout.Close()
		p.stderr.close(true)
		return nil, err
	}
	return p, nil
}

// launch is a command made ready for the platform.
type launch struct {
	path      string
	argv, env []string
	dir       string
	files     [3]*os.File // the subject's ends of stdin, stdout and stderr
}

// pipes makes the three pipes: ours go into p, the subject's are returned.
func (p *Process) pipes() (subject [3]*os.File, err error) {
	var ours [3]*os.File
	for i := range subject {
		r, w, err := os.Pipe()
		if err != nil {
			for j := range i {
				_ = ours[j].Close()
				_ = subject[j].Close()
			}
			return subject, err
		}
		if i == 0 {
			subject[i], ours[i] = r, w
		} else {
			subject[i], ours[i] = w, r
		}
	}
	p.stdin, p.stdout = ours[0], ours[1]
	p.stderr = newTail(ours[2], p.command.StderrTail, p.command.OnStderr)
	return subject, nil
}

// noNul refuses what no kernel can pass on.
func noNul(argv, env []string) error {
	for _, a := range argv {
		if strings.ContainsRune(a, 0) {
			return fmt.Errorf("the argument %q holds a NUL character", a)
		}
	}
	for _, e := range env {
		if strings.ContainsRune(e, 0) {
			return fmt.Errorf("the environment variable %s holds a NUL character", nameOf(e))
		}
	}
	return nil
}

// without copies an environment, leaving one name out.
func without(env []string, name string) []string {
	kept := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !sameName(nameOf(e), name) {
			kept = append(kept, e)
		}
	}
	return kept
}

// sameName compares names of variables as the platform does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// sooner is the time t of this system's clock, as a reading that also works for durations: never
// before earliest, never after now.
func sooner(t time.Time, earliest time.Time) time.Time {
	now := time.Now()
	age := now.Round(0).Sub(t)
	if age < 0 {
		age = 0
	}
	at := now.Add(-age)
	if at.Before(earliest) {
		return earliest
	}
	return at
}
