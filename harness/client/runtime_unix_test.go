//go:build linux || darwin

package client_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// eachMode runs a test with the descriptors passed and with the bytes passed on.
func eachMode(t *testing.T, test func(t *testing.T, bytes bool)) {
	t.Run(string(relay.Descriptors), func(t *testing.T) { test(t, false) })
	t.Run(string(relay.Bytes), func(t *testing.T) { test(t, true) })
}

func (s *stage) launchIn(bytes bool, b client.Behaviour, change func(*client.CreateOptions)) (*client.Client, *client.Runtime) {
	s.t.Helper()
	c := s.create(func(ro *client.RelayOptions, co *client.CreateOptions) {
		ro.Bytes = bytes
		if change != nil {
			change(co)
		}
	})
	rt, err := c.Launch(s.ctx, b)
	s.Expect(err).NotTo(HaveOccurred())
	return c, rt
}

func steps(rt *client.Runtime) (names []string) {
	for _, s := range rt.Steps() {
		names = append(names, s.String())
	}
	return names
}

// The whole ladder is walked down, and each step is seen, in order.
func TestStepsOfClose(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		// What a runtime does at a step it has to do before the next one, on the slowest machine.
		steady := func(o *client.CreateOptions) { o.CloseTimeout = 2 * time.Second }
		for _, c := range []struct {
			name  string
			b     client.Behaviour
			steps []string
		}{
			{"sound", client.Behaviour{}, []string{"shutdown", "exited"}},
			{"lives on after shutdown", client.Behaviour{IgnoreShutdown: true}, []string{"shutdown", "stdin ended", "exited"}},
			{"ignores EOF", client.Behaviour{IgnoreShutdown: true, IgnoreEOF: true}, []string{"shutdown", "stdin ended", "SIGTERM", "exited"}},
			{"stubborn", client.Stubborn(), []string{"shutdown", "stdin ended", "SIGTERM", "killed"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := open(t)
				cl, rt := s.launchIn(bytes, c.b, steady)
				s.Expect(cl.Close(s.ctx)).To(Succeed())
				s.Expect(rt.AwaitVanished(s.ctx, patience)).To(Succeed())
				got := steps(rt)
				if c.name == "sound" { // whether stdin ends before the exit is a race
					got = []string{got[0], got[len(got)-1]}
				}
				s.Expect(got).To(Equal(c.steps))
			})
		}
	})
}

// An SDK sees the exit code and stderr of its runtime, or the signal that ended it, as those of any process.
func TestEndsOfTheProcess(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		for _, c := range []struct {
			name string
			end  func(*client.Runtime) error
			seen string
		}{
			{"exit 37", func(rt *client.Runtime) error { return rt.Exit(37) }, "exit status 37"},
			{"exit 0", func(rt *client.Runtime) error { return rt.Exit(0) }, "exit status 0"},
			{"SIGTERM", func(rt *client.Runtime) error { return rt.Die(syscall.SIGTERM) }, "signal: terminated"},
			{"SIGKILL", func(rt *client.Runtime) error { return rt.Die(syscall.SIGKILL) }, "signal: killed"},
			{"SIGSEGV", func(rt *client.Runtime) error { return rt.Die(syscall.SIGSEGV) }, "signal: segmentation fault"},
			{"SIGABRT", func(rt *client.Runtime) error { return rt.Die(syscall.SIGABRT) }, "signal: aborted"},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := open(t)
				cl, rt := s.launchIn(bytes, client.Behaviour{Manual: []string{"x"}}, nil)
				call, err := cl.GoRequest(s.ctx, "x", nil)
				s.Expect(err).NotTo(HaveOccurred())
				_, err = rt.Next(s.ctx, "x")
				s.Expect(err).NotTo(HaveOccurred())
				s.Expect(rt.WriteStderr(s.ctx, []byte("out of luck\n"))).To(Succeed())
				s.Expect(c.end(rt)).To(Succeed())
				_, err = call.Result(s.ctx)
				s.Expect(err).To(MatchError(And(ContainSubstring(c.seen), ContainSubstring("out of luck"))))
				s.Expect(rt.AwaitVanished(s.ctx, patience)).To(Succeed())
				s.Expect(rt.Write(s.ctx, []byte("{}\n"))).To(BeAssignableToTypeOf(&client.GoneError{}))
				_, err = rt.Next(s.ctx, "x")
				s.Expect(err).To(BeAssignableToTypeOf(&client.GoneError{}))
			})
		}
	})
}

// A response that is in the pipe when the process ends reaches the SDK.
func TestResponseBeforeTheEnd(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		s := open(t)
		cl, rt := s.launchIn(bytes, client.Behaviour{Manual: []string{"x"}}, nil)
		call, err := cl.GoRequest(s.ctx, "x", nil)
		s.Expect(err).NotTo(HaveOccurred())
		q, err := rt.Next(s.ctx, "x")
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(rt.Write(s.ctx, q.Result(map[string]any{"pad": strings.Repeat("x", 30_000)}))).To(Succeed())
		s.Expect(rt.Exit(3)).To(Succeed())
		_, err = call.Result(s.ctx)
		s.Expect(err).NotTo(HaveOccurred())
	})
}

// Each stream can be closed alone while the process lives.
func TestStreamsCloseAlone(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		t.Run("stdout", func(t *testing.T) {
			s := open(t)
			cl, rt := s.launchIn(bytes, client.Behaviour{Manual: []string{"x"}}, nil)
			call, err := cl.GoRequest(s.ctx, "x", nil)
			s.Expect(err).NotTo(HaveOccurred())
			_, err = rt.Next(s.ctx, "x")
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(rt.CloseOutput(s.ctx)).To(Succeed())
			// The SDK waits for the exit once its stdout is at the end; the process still lives.
			_, err = call.AwaitWithin(s.ctx, 200*time.Millisecond)
			s.Expect(err).To(BeAssignableToTypeOf(&client.SilentError{}))
			s.Expect(rt.Gone()).NotTo(BeClosed())
			s.Expect(rt.Exit(5)).To(Succeed())
			_, err = call.Result(s.ctx)
			s.Expect(err).To(MatchError(ContainSubstring("exit status 5")))
		})
		t.Run("stdin", func(t *testing.T) {
			s := open(t)
			cl, rt := s.launchIn(bytes, client.Behaviour{}, nil)
			s.Expect(rt.CloseInput(s.ctx)).To(Succeed())
			s.Eventually(func() error { // where bytes are passed on, the relay notices by its next one
				_, err := cl.Request(s.ctx, "x", strings.Repeat("x", 100_000))
				return err
			}, patience).Should(HaveField("Class", client.ClassClosed))
			s.Expect(rt.Gone()).NotTo(BeClosed())
			s.Expect(steps(rt)).To(BeEmpty(), "it was not the SDK who ended it")
		})
	})
}

// A runtime that does not read fills the pipe; what was written arrives whole when it reads again, or reads slowly.
func TestStalledAndSlowReading(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		s := open(t)
		cl, rt := s.launchIn(bytes, client.Behaviour{Manual: []string{"x"}}, nil)
		resume := rt.Stall()
		big := strings.Repeat("é", 1<<20)
		call, err := cl.GoRequest(s.ctx, "x", map[string]any{"text": big})
		s.Expect(err).NotTo(HaveOccurred())
		_, err = call.AwaitWithin(s.ctx, 200*time.Millisecond)
		s.Expect(err).To(BeAssignableToTypeOf(&client.SilentError{}))
		s.Expect(rt.Waiting()).To(BeZero())
		rt.Pace(100_000, time.Millisecond)
		resume()
		q, err := rt.Next(s.ctx, "x")
		s.Expect(err).NotTo(HaveOccurred())
		o, _ := wire.AsObject(q.Params())
		s.Expect(wire.Unquote(o["text"]) == big).To(BeTrue(), "it arrives whole")
		rt.Pace(0, 0)
		s.Expect(rt.WriteApart(s.ctx, split(q.Result("fine"), 3)...)).To(Succeed())
		_, err = call.Result(s.ctx)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(s.rows()).To(BeEmpty())
	})
}

func split(b []byte, n int) (pieces [][]byte) {
	for len(b) > n {
		pieces = append(pieces, b[:n])
		b = b[n:]
	}
	return append(pieces, b)
}

// What the SDK writes passes the monitor, and everything is in the transcript.
func TestRuntimeIsMonitored(t *testing.T) {
	s := open(t)
	cl, rt := s.launch(client.Behaviour{})
	_, err := cl.Request(s.ctx, "x", []any{})
	s.Expect(err).To(HaveField("Class", client.ClassRemote))
	s.Expect(s.rows()).To(Equal([]string{"C-MSG-02"}))
	rt.Inspect(func(mon *protocol.ClientMonitor) { s.Expect(mon.Exercised("C-DIR-01")).To(Equal(2)) })
	s.Expect(rt.Write(s.ctx, client.RequestLine(rt.NewID(), "permission/ask", nil))).To(Succeed())
	s.Expect(cl.Close(s.ctx)).To(Succeed())
	s.Expect(rt.AwaitGone(s.ctx, patience)).To(Succeed())
	s.mu.Lock()
	defer s.mu.Unlock()
	var all bytes.Buffer
	for _, l := range s.lines {
		all.WriteString(string(l.Dir) + " ")
		all.Write(l.Raw)
	}
	s.Expect(all.String()).To(And(
		ContainSubstring(`c2s {"id":1,"jsonrpc":"2.0","method":"initialize"`), ContainSubstring(protocol.ServerName),
		ContainSubstring(`s2c {"jsonrpc":"2.0","id":"stray-1","method":"permission/ask"}`),
		ContainSubstring("note process ended: exit status 0")))
}

// Requests that wait for the spec can be given back.
func TestManualAndAuto(t *testing.T) {
	s := open(t)
	cl, rt := s.launch(client.Behaviour{})
	rt.Manual("x")
	call, err := cl.GoRequest(s.ctx, "x", nil)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(rt.Await(s.ctx, "the request", rt.Mark(), patience, func([]client.Entry) bool { return true })).To(Succeed())
	s.Eventually(rt.Waiting, patience).Should(Equal(1))
	rt.Auto("x")
	_, err = call.Result(s.ctx)
	s.Expect(err).To(HaveField("Class", client.ClassRemote))
}

// The driver is killed while its SDK has a runtime: the relay goes with it.
func TestNothingIsLeft(t *testing.T) {
	s := open(t)
	_, rt := s.launch(client.Stubborn())
	_, err := s.d.Close()
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(rt.AwaitVanished(s.ctx, patience)).To(Succeed())
}

// A relay whose suite goes away ends by itself, also where the SDK would leave it.
func TestRelayEndsWithItsSuite(t *testing.T) {
	s := open(t)
	cl, rt := s.launch(client.Stubborn())
	cl.Relay().Close()
	s.Expect(rt.AwaitGone(s.ctx, patience)).To(Succeed())
	s.Expect(cl.Relay().Launches()).To(Equal(1))
}

func TestRelayInADeepDirectory(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir() + "/" + strings.Repeat("d", 100)
	g.Expect(syscall.Mkdir(dir, 0o755)).To(Succeed())
	r, err := client.NewRelay(client.RelayOptions{Dir: dir, Program: self(t), Deadlines: driverOptions(t).Deadlines})
	g.Expect(err).NotTo(HaveOccurred())
	r.Close()
	g.Expect(r.Executable()).NotTo(BeAnExistingFile())
}

func TestSoundTurnsPassTheServersMonitor(t *testing.T) {
	for _, profile := range protocol.Profiles {
		t.Run(string(profile), func(t *testing.T) {
			s := open(t, string(profile))
			family := client.Turn{Text: "done", Between: func(s *client.Session) [][]byte {
				return append(s.Child(s.ID+"-child", "child's text"), s.Chunk("do"), s.Event("some/thing", map[string]any{}))
			}}
			cl, rt := s.launch(client.Behaviour{Profile: profile, Turn: family})
			for _, turn := range []client.Turn{{Text: "done"}, {Silent: true, Reason: client.Reason("error")}, {Blocks: []any{}, Reason: client.Reason("max-tokens")}} {
				out, err := cl.Prompt(s.ctx, client.Prompt{SessionID: "s", Text: "hi"})
				if profile != protocol.Accepted { // which the tiny SDK does not speak
					s.Expect(err).NotTo(HaveOccurred())
					s.Expect(client.Text(out.FinalResponse)).To(BeElementOf("done", ""))
				}
				rt.Behave(client.Behaviour{Turn: turn})
			}
			s.Expect(cl.Close(s.ctx)).To(Succeed())
			s.Expect(rt.AwaitGone(s.ctx, patience)).To(Succeed())
			m := protocol.NewMonitor(protocol.Options{Profile: profile})
			var found []protocol.Violation
			for _, e := range rt.Since(0) {
				switch e.Dir {
				case wire.ClientToServer:
					m.Client(e.Line)
				case wire.ServerToClient:
					found = append(found, m.Server(e.Line).Violations...)
				}
			}
			found = append(found, m.End(protocol.Ended{Told: true})...)
			s.Expect(found).To(BeEmpty())
			s.Expect(m.Exercised("S-MSG-05")).To(BeNumerically(">", 12))
			s.Expect(m.Exercised("S-SUB-02")).To(BeNumerically(">", 0))
		})
	}
}

func TestWriteExecutable(t *testing.T) {
	for added, want := range map[bool]string{true: "it's [a b] [--profile] [sdk] ", false: "it's [a b] "} {
		g := NewWithT(t)
		path, err := client.WriteExecutable(t.TempDir()+"/it's here", []string{"sh", "-c", `printf "it's "; printf '[%s] ' "$@"`, "sh", "a b"}, added)
		g.Expect(err).NotTo(HaveOccurred())
		out, err := exec.Command(path, "--profile", "sdk").Output()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(out)).To(Equal(want))
	}
}

// An SDK that does not read is told by a write, and a write ends with its context.
func TestWriteToAnSDKThatDoesNotRead(t *testing.T) {
	s := open(t)
	cl := s.create(func(ro *client.RelayOptions, _ *client.CreateOptions) { ro.Deadlines.Write = 200 * time.Millisecond })
	rt, err := cl.Launch(s.ctx, client.Behaviour{})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(syscall.Kill(s.d.Process().Pid(), syscall.SIGSTOP)).To(Succeed())
	err = rt.Write(s.ctx, bytes.Repeat([]byte("x"), 1<<20))
	var wrong *client.WriteError
	s.Expect(errors.As(err, &wrong)).To(BeTrue(), "%v", err)
	s.Expect(wrong.Written).To(BeNumerically("<", 1<<20))
	err = rt.WriteStderr(s.ctx, bytes.Repeat([]byte("x"), 1<<20))
	s.Expect(errors.As(err, &wrong)).To(BeTrue(), "%v", err)
	s.Expect(syscall.Kill(s.d.Process().Pid(), syscall.SIGCONT)).To(Succeed())
}

// Large frames pass in both directions, through the driver too.
func TestHugeFrames(t *testing.T) {
	eachMode(t, func(t *testing.T, bytes bool) {
		s := open(t)
		cl, rt := s.launchIn(bytes, client.Behaviour{Manual: []string{protocol.MethodPrompt}}, nil)
		big := strings.Repeat("0123456789abcdef", 1<<16)
		call, err := cl.GoPrompt(s.ctx, client.Prompt{SessionID: "s", Text: big})
		s.Expect(err).NotTo(HaveOccurred())
		q, err := rt.Next(s.ctx, protocol.MethodPrompt)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(q.Text() == big).To(BeTrue(), "the prompt arrives whole")
		s.Expect(rt.Write(s.ctx, q.Turn(client.Turn{Text: big}).Joined())).To(Succeed())
		out, err := call.Outcome(s.ctx)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(client.Text(out.FinalResponse) == big).To(BeTrue(), "the answer arrives whole")
	})
}

// A flood of requests passes, and is not kept.
func TestFloodOfStrayRequests(t *testing.T) {
	s := open(t)
	cl, rt := s.launch(client.Behaviour{Manual: []string{"x"}})
	call, err := cl.GoRequest(s.ctx, "x", nil)
	s.Expect(err).NotTo(HaveOccurred())
	q, err := rt.Next(s.ctx, "x")
	s.Expect(err).NotTo(HaveOccurred())
	var flood bytes.Buffer
	for range 10_000 {
		flood.Write(client.RequestLine(rt.NewID(), "permission/ask", map[string]any{"tool": "x"}))
	}
	s.Expect(rt.Write(s.ctx, flood.Bytes(), q.Result(1))).To(Succeed())
	_, err = call.Result(s.ctx)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.rows()).To(BeEmpty())
}
