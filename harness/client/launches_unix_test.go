//go:build linux || darwin

package client_test

import (
	"context"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/client/relay"
)

// launcher launches the runtime of a relay in ways of its own.
type launcher struct {
	*WithT
	relay *client.Relay
	ctx   context.Context
}

func newLauncher(t *testing.T, bytes bool) *launcher {
	g := NewWithT(t)
	r, err := client.NewRelay(client.RelayOptions{Dir: t.TempDir(), Program: self(t), Deadlines: driverOptions(t).Deadlines, Bytes: bytes})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(r.Close)
	return &launcher{g, r, t.Context()}
}

func (l *launcher) command(added ...string) (*exec.Cmd, io.WriteCloser) {
	c := exec.CommandContext(l.ctx, l.relay.Executable(), added...)
	in, err := c.StdinPipe()
	l.Expect(err).NotTo(HaveOccurred())
	return c, in
}

// The runtime that the SDK goes on with is the one that is accepted, whatever it launches before to look at.
func TestRuntimesThatAreOnlyLookedAt(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		for name, look := range map[string]func(*launcher){
			"its version": func(l *launcher) {
				out, err := exec.CommandContext(l.ctx, l.relay.Executable(), "--version").Output()
				l.Expect(err).NotTo(HaveOccurred())
				l.Expect(string(out)).To(MatchRegexp(`^\d+\.\d+\.\d+\n$`))
				l.Expect(l.relay.Launches()).To(BeZero())
			},
			"stdin is the null device": func(l *launcher) {
				l.Expect(exec.CommandContext(l.ctx, l.relay.Executable(), "--check").Run()).To(Succeed())
				l.Expect(l.relay.Launches()).To(BeZero())
			},
			"stdin ends at once": func(l *launcher) {
				c, in := l.command("--check")
				l.Expect(c.Start()).To(Succeed())
				l.Expect(in.Close()).To(Succeed())
				l.Expect(c.Wait()).To(Succeed())
			},
			"killed before it says who it is": func(l *launcher) {
				conn, err := net.Dial("unix", strings.TrimPrefix(l.relay.Argv()[2], string(relay.Bytes)+":"))
				l.Expect(err).NotTo(HaveOccurred())
				l.Expect(conn.Close()).To(Succeed())
			},
			"killed": func(l *launcher) {
				c, _ := l.command()
				l.Expect(c.Start()).To(Succeed())
				l.Eventually(l.relay.Launches, patience).Should(Equal(1))
				l.Expect(c.Process.Kill()).To(Succeed())
				l.Expect(c.Wait()).NotTo(Succeed())
				<-l.relay.Runtimes()[0].Gone()
			},
		} {
			t.Run(name, func(t *testing.T) {
				l := newLauncher(t, bytes)
				look(l)
				c, in := l.command("the", "real", "one")
				l.Expect(c.Start()).To(Succeed())
				rt, err := l.relay.Accept(l.ctx, client.Behaviour{})
				l.Expect(err).NotTo(HaveOccurred())
				l.Expect(rt.Launch().Argv).To(Equal([]string{"the", "real", "one"}))
				_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`+"\n")
				l.Expect(err).NotTo(HaveOccurred())
				l.Expect(c.Wait()).To(Succeed())
			})
		}
	})
}

// A runtime that nobody accepts is a sound one in how it ends.
func TestRuntimeThatNobodyAccepts(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		l := newLauncher(t, bytes)
		c, _ := l.command()
		l.Expect(c.Start()).To(Succeed())
		l.Eventually(l.relay.Launches, patience).Should(Equal(1))
		l.Expect(c.Process.Signal(syscall.SIGTERM)).To(Succeed())
		l.Expect(c.Wait()).To(Succeed())
	})
}
