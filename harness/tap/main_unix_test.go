//go:build unix

package tap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dshconform/dshconform/harness/protocol"
)

// fakeVariable makes the test's own executable a server that does one thing.
const fakeVariable = "DSHCONFORM_TAP_FAKE"

func TestMain(m *testing.M) {
	if what := os.Getenv(fakeVariable); what != "" {
		os.Exit(fake(what))
	}
	os.Exit(m.Run())
}

// fake is one of the servers that the tests tap.
func fake(what string) int {
	name, argument, _ := strings.Cut(what, ":")
	switch name {
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit":
		code, _ := strconv.Atoi(argument)
		return code
	case "kill": // itself
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "count": // until EOF, and then the answer
		n, _ := io.Copy(io.Discard, os.Stdin)
		fmt.Println(n)
	case "mute": // no stdout any more, and then whatever comes on stdin
		_ = os.Stdout.Close()
		n, _ := io.Copy(io.Discard, os.Stdin)
		return int(n)
	case "deaf": // no stdin any more, until SIGTERM
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGTERM)
		_ = os.Stdin.Close()
		fmt.Println("deaf")
		<-caught
	case "chatter": // until nobody reads, and says how that showed
		signal.Ignore(syscall.SIGPIPE)
		for {
			if _, err := os.Stdout.WriteString("x\n"); err != nil {
				if errors.Is(err, syscall.EPIPE) {
					return 32
				}
				return 1
			}
		}
	case "signals": // names each that comes, and ends at SIGTERM
		caught := make(chan os.Signal, 8)
		signal.Notify(caught, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGUSR1)
		fmt.Println("ready")
		for s := range caught {
			fmt.Println(s)
			if s == syscall.SIGTERM {
				return 5
			}
		}
	case "frame": // one of many MiB
		fmt.Printf(`{"jsonrpc":"2.0","method":"x","params":{"a":%q}}`+"\n", strings.Repeat("x", 8<<20))
	case "leave": // half of a frame, and a child that holds stdout and ends with its stdin
		c := exec.Command(argument)
		c.Env = []string{fakeVariable + "=count"}
		c.Stdin, c.Stdout = os.Stdin, os.Stdout
		if c.Start() != nil {
			return 1
		}
		fmt.Print(`{"jsonrpc":"2.0","met`)
		return 9
	case "answer": // every line, with an error
		return answer()
	case "tap": // as the program does, of the rest of the command line
		r, err := Run(Options{Argv: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Judge: JudgeOptions{Monitor: protocol.Options{Profile: protocol.Directional}}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Fprintf(os.Stderr, "%d\n", r.Lines-len(r.NotJudged))
		return r.Status
	case "env":
		fmt.Print(os.Getenv(argument))
		fmt.Fprint(os.Stderr, "on stderr")
	}
	return 0
}

func answer() int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		_, rest, _ := bytes.Cut(line, []byte(`"id":`))
		id, _, _ := bytes.Cut(rest, []byte(","))
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`+"\n", id)
	}
}

// hang bounds what should have happened long ago; it says nothing about speed.
const hang = 2 * time.Minute

// tapped is a tap that runs, as its client sees it.
type tapped struct {
	t      *testing.T
	in     *os.File // the client's ends
	out    *os.File
	errs   *os.File // what the server writes to its stderr
	report chan Report
}

// tapFake taps a fake server.
func tapFake(t *testing.T, what string, change func(*Options)) *tapped {
	t.Helper()
	t.Setenv(fakeVariable, what)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a fake that was built to find races would wait a second at its end
	inR, inW := pipe(t)
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Argv: []string{self}, Stdin: inR, Stdout: outW, Stderr: errW}
	o.Judge.Monitor.Profile = "directional"
	if change != nil {
		change(&o)
	}
	c := &tapped{t: t, in: inW, out: outR, errs: errR, report: make(chan Report, 1)}
	go func() {
		defer close(c.report)
		r, err := Run(o)
		errW.Close()
		if err != nil {
			t.Errorf("tap: %v", err)
			return
		}
		c.report <- r
	}()
	return c
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// line reads one line of the server.
func (c *tapped) line() string {
	c.t.Helper()
	var got []byte
	one := make([]byte, 1)
	_ = c.out.SetReadDeadline(time.Now().Add(hang))
	for {
		n, err := c.out.Read(one)
		if err != nil {
			c.t.Fatalf("reading a line: %v behind %q", err, got)
		}
		if n > 0 && one[0] == '\n' {
			return string(got)
		}
		got = append(got, one[:n]...)
	}
}

// rest reads up to EOF.
func (c *tapped) rest() []byte {
	c.t.Helper()
	_ = c.out.SetReadDeadline(time.Now().Add(hang))
	got, err := io.ReadAll(c.out)
	if err != nil {
		c.t.Fatalf("reading to the end: %v behind %d bytes", err, len(got))
	}
	return got
}

// ended waits for the end of the tap.
func (c *tapped) ended() Report {
	c.t.Helper()
	select {
	case r := <-c.report:
		return r
	case <-time.After(hang):
		panic("the tap did not end") // shows where everybody stands, and cleaning up would hang too
	}
}
