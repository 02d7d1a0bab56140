//go:build linux || darwin

package client_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// TestMain makes the test binary its own supervisor, its own relay and its own drivers.
func TestMain(m *testing.M) {
	// A binary with the race detector sleeps for a second before it exits, supervisors included.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	switch {
	case relay.Wanted(os.Args):
		os.Exit(relay.Run(os.Args))
	case len(os.Args) > 1 && os.Args[1] == "driver":
		os.Exit(drive(os.Args[2:]))
	case len(os.Args) > 1 && os.Args[1] == "supervise":
		os.Exit(process.Supervise())
	}
	os.Exit(m.Run())
}

// patience bounds waits for what must happen; no test passes by its running out.
const patience = 5 * time.Minute

// stage is a driver with what it needs, for one test.
type stage struct {
	*WithT
	t   *testing.T
	ctx context.Context
	d   *client.Driver

	mu    sync.Mutex
	found []string // rows
	lines []wire.Line
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return path
}

func driverOptions(t *testing.T, args ...string) client.DriverOptions {
	return client.DriverOptions{
		Command: process.Command{
			Argv: append([]string{self(t), "driver"}, args...), Dir: t.TempDir(), Supervisor: []string{self(t), "supervise"},
			Env: process.Environment(process.EnvOptions{Set: []string{"GORACE=atexit_sleep_ms=0"}}),
		},
		Deadlines: deadline.New(5),
	}
}

// open starts the test driver. When the test is over nothing of it may be left: no process, and no goroutine.
func open(t *testing.T, args ...string) *stage {
	t.Helper()
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	before := gleak.Goroutines()
	d, err := client.StartDriver(ctx, driverOptions(t, args...))
	g.Expect(err).NotTo(HaveOccurred())
	s := &stage{WithT: g, t: t, ctx: ctx, d: d}
	t.Cleanup(func() {
		defer cancel()
		_, err := d.Close()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.Process().Gone()).To(BeClosed(), "the whole tree is gone")
		cancel()
		g.Eventually(gleak.Goroutines, patience).ShouldNot(gleak.HaveLeaked(before))
	})
	return s
}

// create makes a client of the SDK with a relay of its own.
func (s *stage) create(change func(*client.RelayOptions, *client.CreateOptions)) *client.Client {
	s.t.Helper()
	ro := client.RelayOptions{
		Dir: s.t.TempDir(), Program: self(s.t), Profile: s.d.Hello().Profile, Deadlines: s.d.Deadlines(),
		OnViolation: func(_ *client.Runtime, v protocol.Violation) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.found = append(s.found, v.Row)
		},
		OnLine: func(_ *client.Runtime, l wire.Line) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lines = append(s.lines, l)
		},
	}
	co := client.CreateOptions{RuntimeDir: s.t.TempDir(), Cwd: "/w", Provider: "p", Model: "m"}
	if change != nil {
		change(&ro, &co)
	}
	r, err := client.NewRelay(ro)
	s.Expect(err).NotTo(HaveOccurred())
	s.t.Cleanup(r.Close)
	co.Relay = r
	c, err := s.d.Create(s.ctx, co)
	s.Expect(err).NotTo(HaveOccurred())
	return c
}

// launch makes a client of the SDK and has it launch its runtime.
func (s *stage) launch(b client.Behaviour) (*client.Client, *client.Runtime) {
	s.t.Helper()
	c := s.create(nil)
	rt, err := c.Launch(s.ctx, b)
	s.Expect(err).NotTo(HaveOccurred())
	return c, rt
}

func (s *stage) rows() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.found...)
}
