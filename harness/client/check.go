package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// CheckOptions say which driver is checked, and where.
type CheckOptions struct {
	Driver DriverOptions
	// Dir is an existing directory for sockets and working directories; Program is as in RelayOptions.
	Dir, Program string
	// OnFinding gets each finding as it is made; nil is allowed.
	OnFinding func(Finding)
	// Brief makes the first steps alone, up to a prompt: what a run needs before it begins.
	Brief bool
	// Steps names the steps to make besides hello; empty for all.
	Steps []string
}

// Finding is what one step of a check came to.
type Finding struct {
	Step    string
	Problem string // in words; "" where all is well
	Skipped string // why it was not made
	Err     error  // the error behind the problem, nil where there is none
}

// Check tests a driver alone, against a healthy runtime in the driver's own profile. It goes on as long as the driver
// lives, so that one run names everything that is wrong. hello is what the driver said of itself, the zero value where
// it did not come so far.
func Check(ctx context.Context, o CheckOptions) (hello Hello, findings []Finding) {
	k := &checker{o: o, ctx: ctx}
	if !k.step("hello", k.hello) {
		return hello, k.findings
	}
	defer func() { _, _ = k.d.Close() }() // what can't be ended is named by the next who looks
	hello = k.d.Hello()
	for _, s := range checks {
		if len(o.Steps) > 0 && !slices.Contains(o.Steps, s.name) {
			continue
		}
		if why := s.without(hello, o.Brief); why != "" {
			k.report(Finding{Step: s.name, Skipped: why})
			continue
		}
		if err := k.again(); err != nil {
			k.report(Finding{Step: s.name, Skipped: err.Error()})
			continue
		}
		k.step(s.name, func() error { return s.run(k) })
	}
	if k.d.Fit() {
		k.step("the end of stdin", k.farewell)
	}
	return hello, k.findings
}

// again starts the driver anew where it can't go on: one step costs itself alone.
func (k *checker) again() error {
	if k.ctx.Err() != nil {
		return errors.New("stopped")
	}
	if k.d.Fit() {
		return nil
	}
	d, err := StartDriver(k.ctx, k.o.Driver)
	if err != nil {
		return fmt.Errorf("the driver did not start again: %w", err)
	}
	_, _ = k.d.Close() // the new one is what counts
	k.d = d
	return nil
}

// Trouble gives the first problem of findings, nil where there is none.
func Trouble(findings []Finding) *Finding {
	for i := range findings {
		if findings[i].Problem != "" {
			return &findings[i]
		}
	}
	return nil
}

// checker is one check under way.
type checker struct {
	o        CheckOptions
	ctx      context.Context
	d        *Driver
	relays   []*Relay
	findings []Finding
}

func (k *checker) report(f Finding) {
	k.findings = append(k.findings, f)
	if k.o.OnFinding != nil {
		k.o.OnFinding(f)
	}
}

// step makes one step, and ends the runtimes that it has begun.
func (k *checker) step(name string, run func() error) bool {
	err := run()
	var silent *SilentError
	if k.d != nil && errors.As(err, &silent) {
		k.d.Spoil(name) // a call hangs in it
	}
	for _, r := range k.relays {
		r.Close()
	}
	k.relays = nil
	f := Finding{Step: name, Err: err}
	if err != nil {
		f.Problem = Explain(err)
	}
	k.report(f)
	return err == nil
}

// Explain is an error with the last words of the driver, where that is what it is about.
func Explain(err error) string {
	text := err.Error()
	var own *DriverError
	var ended *EndedError
	words := ""
	switch {
	case errors.As(err, &own):
		words = own.Stderr
	case errors.As(err, &ended):
		words = ended.Stderr
	}
	if words = strings.TrimSpace(words); words != "" {
		const last = 600
		if len(words) > last {
			words = "…" + words[len(words)-last:]
		}
		text += "; its stderr ends with:\n" + words
	}
	return text
}

func (k *checker) hello() (err error) {
	k.d, err = StartDriver(k.ctx, k.o.Driver)
	if err != nil {
		return err
	}
	h := k.d.Hello()
	switch {
	case h.Offers(CallSubscribe) != h.Offers(CallUnsubscribe):
		return errors.New("subscribe and unsubscribe are offered together, or not at all")
	case len(h.Filters) > 0 != h.Offers(CallSubscribe):
		return errors.New("filters are offered where subscribe is, and only there")
	case !h.Offers(CallClose) && h.Graces != (Graces{}):
		return errors.New("graces without the call close")
	case h.Profile == protocol.Receipt && h.Settles && h.Layer == "low" && !h.Gives("notifications"):
		return errors.New("settles is true, and nothing of the turn is given: a raw client in receipt returns with the receipt")
	}
	return nil
}

func (k *checker) farewell() error {
	exit, err := k.d.Farewell(k.ctx)
	if err != nil {
		return err
	}
	if !exit.Success() {
		return &DriverError{Fault: FaultDied, Detail: "at the end of its stdin it should exit with 0", Exit: &exit, Stderr: k.d.stderr()}
	}
	return nil
}

// client makes a client with a relay of its own.
func (k *checker) client(change func(*CreateOptions)) (*Client, error) {
	dir, err := os.MkdirTemp(k.o.Dir, "w-")
	if err != nil {
		return nil, err
	}
	r, err := NewRelay(RelayOptions{Dir: k.o.Dir, Program: k.o.Program, Profile: k.d.Hello().Profile, Deadlines: k.d.Deadlines()})
	if err != nil {
		return nil, err
	}
	k.relays = append(k.relays, r)
	o := CreateOptions{Relay: r, RuntimeDir: dir, Cwd: dir, Provider: "deepseek-official", Model: "dshconform-check"}
	if change != nil {
		change(&o)
	}
	return k.d.Create(k.ctx, o)
}

// launched is a client with its runtime.
func (k *checker) launched(b Behaviour, change func(*CreateOptions)) (*Client, *Runtime, error) {
	c, err := k.client(change)
	if err != nil {
		return nil, nil, err
	}
	rt, err := c.Launch(k.ctx, b)
	return c, rt, err
}

// prompted is a prompt that the runtime has, and that waits for its answer.
func (k *checker) prompted(p Prompt, change func(*CreateOptions)) (*Client, *Runtime, *Call, *Request, error) {
	c, rt, err := k.launched(Behaviour{Manual: []string{protocol.MethodPrompt}}, change)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	call, q, err := k.prompt(c, rt, p)
	return c, rt, call, q, err
}

func (k *checker) prompt(c *Client, rt *Runtime, p Prompt) (*Call, *Request, error) {
	call, err := c.GoPrompt(k.ctx, p)
	if err != nil {
		return nil, nil, err
	}
	q, err := rt.NextPrompt(k.ctx, p.SessionID)
	if err == nil {
		return call, q, nil
	}
	if reply, over := call.Over(); over {
		return call, nil, fmt.Errorf("the prompt was over before it reached the runtime: %w", over1(reply))
	}
	return call, nil, fmt.Errorf("the prompt did not reach the runtime: %w", err)
}

func over1(r Reply) error {
	if r.Err != nil {
		return r.Err
	}
	return errors.New("it gave " + short(string(r.Result)))
}

// raised wants a call to fail with one of the classes.
func raised(err error, classes ...Class) error {
	e := Raised(err)
	switch {
	case err == nil:
		return fmt.Errorf("the call succeeded, where an error of class %s is right", classes[0])
	case e == nil:
		return err
	}
	for _, c := range classes {
		if e.Class == c {
			return nil
		}
	}
	return fmt.Errorf("the class is %s, where %s is right: %s", e.Class, classes[0], short(e.Message))
}

// differs compares what was given to the driver with what came on the wire.
func differs(what, want, got string) error {
	if want == got {
		return nil
	}
	return fmt.Errorf("%s: %s, where %s is right", what, short(got), short(want))
}

// sameJSON compares JSON by meaning.
func sameJSON(what string, want, got []byte) error {
	if wire.SameValue(want, got) {
		return nil
	}
	text := string(got)
	if text == "" {
		text = "nothing"
	}
	return fmt.Errorf("%s: %s, where %s is right", what, short(text), short(string(want)))
}

// shortTimeout is one that a check waits for to pass. It holds for the handshake before, too.
const shortTimeout = time.Second
