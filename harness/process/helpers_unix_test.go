//go:build linux || darwin

package process_test

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/process"
)

// patience bounds waits for what must happen; no test passes by its running out.
const patience = 5 * time.Minute

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command is a subject with the test binary as supervisor.
func command(t testing.TB, argv ...string) process.Command {
	t.Helper()
	return process.Command{
		Argv:       argv,
		Dir:        t.TempDir(),
		Env:        process.Environment(process.EnvOptions{}),
		Supervisor: []string{self(t), "supervise"},
	}
}

// role is a subject that is played by the test binary: see subject.
func role(t testing.TB, args ...string) process.Command {
	t.Helper()
	return command(t, append([]string{self(t), "subject"}, args...)...)
}

func start(t testing.TB, c process.Command) *process.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p, err := process.Start(ctx, c)
	if err != nil {
		t.Fatalf("start %q: %v", c.Argv, err)
	}
	t.Cleanup(func() { _, _ = p.Close() })
	return p
}

// exit waits for the end of the launched process.
func exit(t testing.TB, p *process.Process) process.Exit {
	t.Helper()
	wait(t, p.Exited(), "the launched process to exit")
	e, ok := p.Exit()
	if !ok {
		t.Fatal("Exited is closed, but Exit does not know")
	}
	return e
}

func wait(t testing.TB, what <-chan struct{}, name string) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", name)
	}
}

// line reads what a subject prints when it is ready, up to the LF.
func line(t testing.TB, p *process.Process) string {
	t.Helper()
	if err := p.Stdout().SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for one := make([]byte, 1); ; {
		if _, err := p.Stdout().Read(one); err != nil {
			t.Fatalf("read a line of the subject: %v after %q; its stderr: %s", err, got, p.Stderr().Tail)
		}
		if one[0] == '\n' {
			return string(got)
		}
		got = append(got, one[0])
	}
}

func readAll(t testing.TB, p *process.Process) string {
	t.Helper()
	if err := p.Stdout().SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatalf("read the subject's stdout: %v", err)
	}
	return string(all)
}

// closed closes p and asserts that nothing of it is left.
func closed(t testing.TB, p *process.Process) []process.Member {
	t.Helper()
	g := NewWithT(t)
	left, err := p.Close()
	g.Expect(err).NotTo(HaveOccurred(), "Close has ended everything")
	wait(t, p.Gone(), "the tree to be gone")
	return left
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatalf("no number: %v", err)
	}
	return n
}
