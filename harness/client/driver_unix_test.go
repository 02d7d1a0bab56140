//go:build linux || darwin

package client_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
)

func TestConversation(t *testing.T) {
	for _, habit := range []string{"directional", "receipt", "by-path"} {
		t.Run(habit, func(t *testing.T) {
			s := open(t, habit)
			c, rt := s.launch(client.Behaviour{})
			out, err := c.Prompt(s.ctx, client.Prompt{SessionID: "s", Text: "你好"})
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(client.Text(out.FinalResponse)).To(Equal("ok"))
			s.Expect(len(out.Notifications)).To(BeNumerically(">=", 4))
			if habit == "by-path" {
				s.Expect(rt.Launch().Argv).To(Equal([]string{"--profile", "sdk"}), "what the SDK has added is recorded")
			}
			s.Expect(rt.Launch().Kinds).To(Equal([]string{"pipe", "pipe", "pipe"}))
			_, err = c.Request(s.ctx, "no/such", nil)
			remote := client.Raised(err)
			s.Expect(remote).NotTo(BeNil())
			s.Expect(remote.Class).To(Equal(client.ClassRemote))
			s.Expect(string(remote.Code)).To(Equal("-32603"))
			s.Expect(c.Close(s.ctx)).To(Succeed())
			s.Expect(rt.AwaitVanished(s.ctx, patience)).To(Succeed())
			how, _ := rt.How()
			s.Expect(how).To(Equal("exit status 0"))
			s.Expect(s.rows()).To(BeEmpty())
			_, err = c.Prompt(s.ctx, client.Prompt{SessionID: "s", Text: "later"})
			s.Expect(client.Raised(err)).To(HaveField("Class", client.ClassClosed))
			exit, err := s.d.Farewell(s.ctx)
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(exit.Success()).To(BeTrue(), exit.String())
		})
	}
}

// Several calls are in flight, and the spec answers them in another order.
func TestRepliesInAnyOrder(t *testing.T) {
	s := open(t)
	c, rt := s.launch(client.Behaviour{Manual: []string{protocol.MethodPrompt}})
	calls := map[string]*client.Call{}
	for _, id := range []string{"a", "b", "c"} {
		call, err := c.GoPrompt(s.ctx, client.Prompt{SessionID: id, Text: "to " + id})
		s.Expect(err).NotTo(HaveOccurred())
		calls[id] = call
	}
	for _, id := range []string{"c", "a", "b"} {
		q, err := rt.NextPrompt(s.ctx, id)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(q.Text()).To(Equal("to " + id))
		s.Expect(rt.Write(s.ctx, q.Turn(client.Turn{Text: "from " + id}).Joined())).To(Succeed())
		out, err := calls[id].Outcome(s.ctx)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(client.Text(out.FinalResponse)).To(Equal("from " + id))
		s.Expect(client.Text(out.Status)).To(Equal("ok"))
	}
	s.Expect(s.d.InFlight()).To(BeZero())
}

func TestEventsOfCallbacksAndSubscriptions(t *testing.T) {
	s := open(t)
	c, rt := s.launch(client.Behaviour{})
	sub, err := c.Subscribe(s.ctx, client.FilterAll, "", client.CallbackReport)
	s.Expect(err).NotTo(HaveOccurred())
	call, err := c.GoPrompt(s.ctx, client.Prompt{SessionID: "s", Text: "hi", Callback: client.CallbackReport})
	s.Expect(err).NotTo(HaveOccurred())
	_, err = call.Outcome(s.ctx)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(call.Events()).To(HaveLen(4))
	s.Expect(rt.Write(s.ctx, client.NotificationLine("some/thing", map[string]any{"a": 1}))).To(Succeed())
	s.Expect(sub.AwaitEvents(s.ctx, "the notification", func(n []client.Notification) bool {
		return len(n) == 5 && n[4].Method == "some/thing" && string(n[4].Params) == `{"a":1}`
	})).To(Succeed())
	s.Expect(c.Unsubscribe(s.ctx, sub)).To(Succeed())
	members, err := s.d.Surface(s.ctx)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(members).To(ContainElement("Client.prompt"))
}

func TestTimeoutOfTheSDK(t *testing.T) {
	s := open(t)
	// Its runtime has to be started in it, on the slowest machine.
	c := s.create(func(_ *client.RelayOptions, o *client.CreateOptions) { o.CallTimeout = 2 * time.Second })
	rt, handshake, err := c.Begin(s.ctx, client.Behaviour{Manual: []string{client.All}})
	s.Expect(err).NotTo(HaveOccurred())
	q, err := rt.Next(s.ctx, protocol.MethodInitialize)
	s.Expect(err).NotTo(HaveOccurred())
	_, err = handshake.Result(s.ctx)
	s.Expect(client.Raised(err)).To(HaveField("Class", client.ClassTimeout))
	// It reaps the runtime: by SIGTERM or an end of stdin, as the behaviour allows.
	s.Expect(rt.AwaitVanished(s.ctx, patience)).To(Succeed())
	s.Expect(rt.Write(s.ctx, q.Handshake())).To(MatchError(ContainSubstring("gone")))
}

func TestWhatTheDriverDoesNotOffer(t *testing.T) {
	s := open(t)
	r, err := client.NewRelay(client.RelayOptions{Dir: t.TempDir(), Program: self(t), Deadlines: s.d.Deadlines()})
	s.Expect(err).NotTo(HaveOccurred())
	defer r.Close()
	_, err = s.d.Create(s.ctx, client.CreateOptions{Relay: r, InitializeTimeout: time.Second})
	s.Expect(client.NotOffered(err)).To(BeTrue())
	have := s.d.Hello().Capabilities()
	s.Expect(have["driver-call-timeout"]).To(BeTrue())
	s.Expect(have["driver-initialize-timeout"]).To(BeFalse())
	s.Expect(have["driver-filters"]).To(BeFalse(), "no filter that throws")
	s.Expect(s.d.Hello().Graces.Total(0)).To(Equal(3 * time.Second))
	s.Expect(s.d.Hello().Graces.Total(time.Millisecond)).To(Equal(3 * time.Millisecond))
}

// A driver that is not one is told apart from each other, at the greeting.
func TestDriversThatAreNone(t *testing.T) {
	for habit, want := range map[string]struct {
		fault client.Fault
		says  string
	}{
		"dies":       {client.FaultDied, "exit status 4"},
		"silent":     {client.FaultSilent, ""},
		"deaf":       {client.FaultSilent, ""},
		"echo":       {client.FaultEchoes, `"call":"hello"`},
		"banner":     {client.FaultJunk, "Welcome to the SDK"},
		"old":        {client.FaultVersion, "dshconform.driver/v0"},
		"incomplete": {client.FaultMalformed, "graces"},
		"refuses":    {client.FaultRefused, "I do not want to"},
	} {
		t.Run(habit, func(t *testing.T) {
			g := NewWithT(t)
			o := driverOptions(t, habit)
			if want.fault == client.FaultSilent {
				o.Deadlines.Start = 300 * time.Millisecond
			}
			_, err := client.StartDriver(t.Context(), o)
			var e *client.DriverError
			g.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
			g.Expect(e.Fault).To(Equal(want.fault))
			g.Expect(err.Error()).To(ContainSubstring(want.says))
			g.Expect(client.DriverFault(err)).To(BeTrue())
			if habit == "dies" {
				g.Expect(e.Stderr).To(ContainSubstring("no such module"))
			}
		})
	}
	t.Run("not there", func(t *testing.T) {
		o := driverOptions(t)
		o.Command.Argv = []string{"/nonexistent/driver"}
		_, err := client.StartDriver(t.Context(), o)
		var start *process.StartError
		NewWithT(t).Expect(errors.As(err, &start)).To(BeTrue(), "%v", err)
		NewWithT(t).Expect(client.DriverFault(err)).To(BeTrue())
	})
}

// A driver that lies in the middle of a run is told apart from an SDK that hangs, or takes its caller along.
func TestDriversThatLie(t *testing.T) {
	for habit, want := range map[string]client.Fault{
		"wrong-id": client.FaultUnasked, "twice": client.FaultUnasked, "malformed": client.FaultMalformed,
		"junk": client.FaultJunk, "strange-event": client.FaultUnasked,
	} {
		t.Run(habit, func(t *testing.T) {
			s := open(t, habit)
			c, _ := s.launch(client.Behaviour{})
			call, err := c.GoPrompt(s.ctx, client.Prompt{SessionID: "s", Text: "hi"})
			s.Expect(err).NotTo(HaveOccurred())
			if habit == "twice" {
				_, err = call.Await(s.ctx) // the first reply may be in before the second
				if err == nil {
					s.Eventually(s.d.Fit, patience).Should(BeFalse())
				}
				_, err = c.GoPrompt(s.ctx, client.Prompt{SessionID: "s", Text: "hi"})
			} else {
				_, err = call.Await(s.ctx)
			}
			var e *client.DriverError
			s.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
			s.Expect(e.Fault).To(Equal(want))
			s.Expect(e.Said).NotTo(BeEmpty())
			s.Expect(s.d.Fit()).To(BeFalse())
		})
	}
	t.Run("crashes", func(t *testing.T) {
		s := open(t, "crashes")
		c, _ := s.launch(client.Behaviour{})
		_, err := c.Prompt(s.ctx, client.Prompt{SessionID: "s", Text: "hi"})
		var e *client.EndedError
		s.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
		s.Expect(e.Exit.Code).To(Equal(9))
		s.Expect(e.Stderr).To(ContainSubstring("segmentation fault"))
		s.Expect(client.DriverFault(err)).To(BeFalse(), "an SDK may do that")
	})
	t.Run("hangs", func(t *testing.T) {
		s := open(t, "hangs")
		c, _ := s.launch(client.Behaviour{})
		call, err := c.GoPrompt(s.ctx, client.Prompt{SessionID: "s", Text: "hi"})
		s.Expect(err).NotTo(HaveOccurred())
		_, err = call.AwaitWithin(s.ctx, 100*time.Millisecond)
		var e *client.SilentError
		s.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
		s.Expect(client.DriverFault(err)).To(BeFalse())
	})
	t.Run("stays", func(t *testing.T) {
		o := driverOptions(t, "stays")
		o.Deadlines.Exit = 100 * time.Millisecond
		g := NewWithT(t)
		d, err := client.StartDriver(t.Context(), o)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = d.Farewell(t.Context())
		g.Expect(err).To(MatchError(ContainSubstring("no exit of the driver")))
		left, err := d.Close()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left).To(HaveLen(1))
	})
	t.Run("reads no more", func(t *testing.T) {
		s := open(t)
		c, _ := s.launch(client.Behaviour{})
		s.Expect(s.d.Process().Signal(syscall.SIGSTOP)).To(Succeed())
		ctx, cancel := context.WithCancelCause(s.ctx)
		interrupted := errors.New("interrupted")
		soon := time.AfterFunc(20*time.Millisecond, func() { cancel(interrupted) })
		defer soon.Stop()
		_, err := c.GoPrompt(ctx, client.Prompt{SessionID: "s", Text: strings.Repeat("x", 1<<20)})
		s.Expect(err).To(MatchError(interrupted), "nobody waits for its deadline of writes")
		s.Expect(client.DriverFault(err)).To(BeFalse())
	})
	t.Run("is deaf", func(t *testing.T) {
		o := driverOptions(t)
		o.Deadlines.Write = 100 * time.Millisecond
		g := NewWithT(t)
		d, err := client.StartDriver(t.Context(), o)
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _, _ = d.Close() }()
		g.Expect(d.Process().Signal(syscall.SIGSTOP)).To(Succeed())
		_, err = d.Create(t.Context(), client.CreateOptions{Relay: &client.Relay{}, Cwd: strings.Repeat("x", 1<<20)})
		var e *client.DriverError
		g.Expect(errors.As(err, &e)).To(BeTrue(), "%v", err)
		g.Expect(e.Fault).To(Equal(client.FaultDeaf))
	})
	t.Run("launches nothing", func(t *testing.T) {
		s := open(t, "launches-nothing")
		c := s.create(nil)
		_, err := c.Launch(s.ctx, client.Behaviour{})
		s.Expect(err).To(MatchError(ContainSubstring("launched no runtime")))
		s.Expect(client.Raised(err)).To(HaveField("Class", client.ClassClosed))
	})
}

func TestParseDriver(t *testing.T) {
	g := NewWithT(t)
	argv, err := client.ParseDriver(`python3 'my driver.py' --layer "high"`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(argv).To(Equal([]string{"python3", "my driver.py", "--layer", "high"}))
	_, err = client.ParseDriver(`python3 'my driver.py`)
	g.Expect(err).To(HaveOccurred())
	_, err = client.ParseDriver(strings.Repeat(" ", 3))
	g.Expect(err).To(HaveOccurred())
}

func TestUsageIsTheDriversAlone(t *testing.T) {
	s := open(t)
	if !s.d.Hello().Capabilities()["driver-process"] {
		t.Skip("a process can't be measured on this platform")
	}
	before, err := s.d.Usage(s.ctx)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(before.Memory).To(BeNumerically(">", 1<<20))
	_, rt := s.launch(client.Behaviour{})
	after, err := s.d.Usage(s.ctx)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(after.CPU).To(BeNumerically(">=", before.CPU))
	members, err := s.d.Process().Tree(s.ctx)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(members).To(HaveLen(2), "the runtime is a part of the tree, and not of the usage")
	s.Expect(rt.Launch().Pid).To(Equal(members[1].Pid))
}
