package sdk

import (
	"context"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// VisitOptions say whose visit it is and who hears of it.
type VisitOptions struct {
	// Name is what the spec is called where the driver is spoiled by it.
	Name    string
	Profile protocol.Profile
	// OnViolation gets what the monitor finds in what the SDK writes, OnLine every line
	// of both directions. They must not call back. Nil is allowed.
	OnViolation func(protocol.Violation)
	OnLine      func(wire.Line)
}

// Visit is what one spec does with an SDK.
type Visit struct {
	sdk    *SDK
	o      VisitOptions
	d      *harness.Driver // used last
	relays []*harness.Relay
	calls  []*harness.Call
}

// Visit begins one. It has to be left.
func (s *SDK) Visit(o VisitOptions) *Visit { return &Visit{sdk: s, o: o} }

// Use gives the driver.
func (v *Visit) Use(ctx context.Context) (*harness.Driver, error) {
	d, err := v.sdk.driver(ctx)
	if err == nil {
		v.d = d
	}
	return d, err
}

// Create has the SDK make a client, with a relay of its own unless change gives it a
// real server.
func (v *Visit) Create(ctx context.Context, change func(*harness.CreateOptions)) (*harness.Client, error) {
	d, err := v.Use(ctx)
	if err != nil {
		return nil, err
	}
	o := harness.CreateOptions{RuntimeDir: v.sdk.o.Work, Cwd: v.sdk.o.Work, Provider: Provider, Model: Model}
	if change != nil {
		change(&o)
	}
	if o.Server == nil {
		relay, err := harness.NewRelay(v.relayOptions())
		if err != nil {
			return nil, err
		}
		v.relays = append(v.relays, relay)
		o.Relay = relay
	}
	return d.Create(ctx, o)
}

func (v *Visit) relayOptions() harness.RelayOptions {
	o := harness.RelayOptions{Dir: v.sdk.o.Scratch, Program: v.sdk.o.Program, Profile: v.o.Profile, Deadlines: v.sdk.o.Deadlines}
	if hear := v.o.OnViolation; hear != nil {
		o.OnViolation = func(_ *harness.Runtime, found protocol.Violation) { hear(found) }
	}
	if hear := v.o.OnLine; hear != nil {
		o.OnLine = func(_ *harness.Runtime, l wire.Line) { hear(l) }
	}
	return o
}

// Own has a call looked after when the spec is over.
func (v *Visit) Own(c *harness.Call) *harness.Call {
	v.calls = append(v.calls, c)
	return c
}

// Driver is the driver that was used last, nil where none was.
func (v *Visit) Driver() *harness.Driver { return v.d }

// Spoil gives the driver up: something hangs in it that must not meet the next spec.
func (v *Visit) Spoil(why string) {
	if v.d != nil {
		v.d.Spoil(why)
	}
}

// Release ends the runtimes, and lets the calls that waited for them come to their
// end. One that does not is not this spec's to judge, and no other's to meet. The
// error is what the driver itself was found to do wrong.
func (v *Visit) Release(ctx context.Context) error {
	for _, relay := range v.relays {
		relay.Close()
	}
	v.relays = nil
	if v.d == nil {
		return nil
	}
	for _, c := range v.calls {
		if !v.d.Fit() {
			break
		}
		v.settle(ctx, c)
	}
	v.calls = nil
	select {
	case <-ctx.Done():
		return nil // what is found then is the stop's doing
	default:
		return v.d.Fault()
	}
}

func (v *Visit) settle(ctx context.Context, c *harness.Call) {
	timer := time.NewTimer(v.sdk.o.Deadlines.Leave)
	defer timer.Stop()
	select {
	case <-c.Done():
	case <-timer.C:
		v.Spoil("a call of " + v.o.Name + " goes on")
	case <-ctx.Done():
	}
}
