//go:build linux || darwin

package server_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/server"
)

// TestMain makes the test binary its own supervisor and its own subjects.
func TestMain(m *testing.M) {
	// A binary with the race detector sleeps for a second before it exits, supervisors included.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	switch {
	case len(os.Args) > 2 && os.Args[1] == "subject":
		os.Exit(play(os.Args[2]))
	case len(os.Args) > 1 && os.Args[1] == "supervise":
		os.Exit(process.Supervise())
	}
	os.Exit(m.Run())
}

// patience bounds waits for what must happen; no test passes by its running out.
const patience = 5 * time.Minute

// soon bounds what a test wants to see not happening: it passes by this running out.
const soon = 150 * time.Millisecond

// Bounds of a flood that are soon reached.
const (
	mostJunk = 4 << 20
	mostKept = 16 << 20
)

// subject is a started subject with what was found of it.
type subject struct {
	*server.Server

	mu    sync.Mutex
	found []protocol.Violation
}

// begin starts the subject that plays the role. When the test is over nothing of
// it may be left: no process, and no goroutine of this side.
func begin(t *testing.T, role string, change func(*server.Deadlines)) (*subject, *WithT, context.Context) {
	t.Helper()
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	before := gleak.Goroutines()
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	d := deadline.New(5)
	if change != nil {
		change(&d)
	}
	s := &subject{}
	l := server.Launch{
		Command: process.Command{
			Argv: []string{self, "subject", role}, Dir: t.TempDir(), Supervisor: []string{self, "supervise"},
			Env: process.Environment(process.EnvOptions{Set: []string{"GORACE=atexit_sleep_ms=0"}}),
		},
		Deadlines: d, Cwd: "/", Provider: "p", Model: "m",
		OnViolation: func(_ *server.Server, v protocol.Violation) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.found = append(s.found, v)
		},
	}
	l.Limit(mostJunk, mostKept)
	s.Server, err = l.Start(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		defer cancel()
		s.Stop(context.Background())
		g.Expect(s.Process().Gone()).To(BeClosed(), "the whole tree is gone")
		cancel()
		g.Eventually(gleak.Goroutines, patience).ShouldNot(gleak.HaveLeaked(before))
	})
	return s, g, ctx
}

// rows are the requirements that the subject was found to violate.
func (s *subject) rows() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := []string{}
	for _, v := range s.found {
		rows = append(rows, v.Row)
	}
	return rows
}

// initialized is begin with the handshake done.
func initialized(t *testing.T, role string, change func(*server.Deadlines)) (*subject, *WithT, context.Context) {
	t.Helper()
	s, g, ctx := begin(t, role, change)
	g.Expect(s.Initialize(ctx)).To(Succeed())
	return s, g, ctx
}
