package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// Client is one client object of the SDK under test.
type Client struct {
	d    *Driver
	name string
	o    CreateOptions
}

// Create makes a client of the SDK. Nothing is launched, if the SDK can wait with it.
func (d *Driver) Create(ctx context.Context, o CreateOptions) (*Client, error) {
	d.mu.Lock()
	d.clients++
	c := &Client{d: d, name: fmt.Sprintf("c%d", d.clients), o: o}
	d.mu.Unlock()
	m := command{
		Call: CallCreate, Client: c.name, Cwd: &o.Cwd, Provider: &o.Provider, Model: &o.Model,
		Launch: o.launch(),
	}
	t := timeouts{Call: o.CallTimeout.Milliseconds(), Initialize: o.InitializeTimeout.Milliseconds(), Close: o.CloseTimeout.Milliseconds()}
	for name, set := range map[string]int64{"call": t.Call, "initialize": t.Initialize, "close": t.Close} {
		if set > 0 && !d.hello.Takes(name) {
			return nil, fmt.Errorf("set the time-out of %s: %w", name, errNotOffered)
		}
	}
	if t != (timeouts{}) {
		m.Timeouts = &t
	}
	if o.Relay != nil {
		o.Relay.serve(d)
	}
	call, err := d.send(ctx, m)
	if err != nil {
		return nil, err
	}
	_, err = call.Result(ctx)
	return c, err
}

// Driver is the driver that the client lives in.
func (c *Client) Driver() *Driver { return c.d }

// Relay is where the client finds its runtime.
func (c *Client) Relay() *Relay { return c.o.Relay }

func (c *Client) send(ctx context.Context, m command) (*Call, error) {
	m.Client = c.name
	if !c.d.hello.Offers(m.Call) {
		return nil, fmt.Errorf("call %s: %w", m.Call, errNotOffered)
	}
	return c.d.send(ctx, m)
}

func (c *Client) do(ctx context.Context, m command) (jsontext.Value, error) {
	call, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	return call.Result(ctx)
}

// GoStart has the SDK launch the runtime, where that is a call of its own; started is nil where it is not.
func (c *Client) GoStart(ctx context.Context) (started *Call, err error) {
	if !c.d.hello.Offers(CallStart) {
		return nil, nil
	}
	return c.send(ctx, command{Call: CallStart})
}

// GoInitialize has the SDK do the handshake. A runtime that was not launched before is launched.
func (c *Client) GoInitialize(ctx context.Context) (*Call, error) {
	return c.send(ctx, command{Call: CallInitialize})
}

// Begin starts the SDK's runtime up to the point where its handshake waits for an answer: it calls start, where that
// exists, and initialize, and accepts the launch. b must leave initialize to the spec if the spec is to answer it.
func (c *Client) Begin(ctx context.Context, b Behaviour) (*Runtime, *Call, error) {
	started, err := c.GoStart(ctx)
	if err != nil {
		return nil, nil, err
	}
	if started != nil {
		if _, err := started.Result(ctx); err != nil {
			return nil, nil, fmt.Errorf("start: %w", err)
		}
	}
	handshake, err := c.GoInitialize(ctx)
	if err != nil {
		return nil, nil, err
	}
	rt, err := c.o.Relay.accept(ctx, b, handshake)
	if err != nil {
		return nil, handshake, err
	}
	return rt, handshake, nil
}

// Accept waits for a launch that a call brings about, and gives nil where the call was over without one.
func (c *Client) Accept(ctx context.Context, b Behaviour, launching *Call) (*Runtime, error) {
	rt, err := c.o.Relay.accept(ctx, b, launching)
	if errors.Is(err, errNoLaunch) {
		return nil, nil
	}
	return rt, err
}

// Launch starts the SDK's runtime and completes the handshake.
func (c *Client) Launch(ctx context.Context, b Behaviour) (*Runtime, error) {
	rt, handshake, err := c.Begin(ctx, b)
	if err != nil {
		return rt, err
	}
	if _, err := handshake.Result(ctx); err != nil {
		return rt, fmt.Errorf("initialize: %w", err)
	}
	return rt, nil
}

// GoPrompt has the SDK prompt.
func (c *Client) GoPrompt(ctx context.Context, p Prompt) (*Call, error) {
	return c.send(ctx, command{Call: CallPrompt, SessionID: &p.SessionID, Blocks: p.blocks(), Callback: p.Callback})
}

// Prompt has the SDK prompt, and waits for what that comes to.
func (c *Client) Prompt(ctx context.Context, p Prompt) (Outcome, error) {
	call, err := c.GoPrompt(ctx, p)
	if err != nil {
		return Outcome{}, err
	}
	return call.Outcome(ctx)
}

// GoRequest has the SDK send any request. Params that are nil are left out.
func (c *Client) GoRequest(ctx context.Context, method string, params any) (*Call, error) {
	m := command{Call: CallRequest, Method: &method}
	if params != nil {
		m.Params = Encode(params)
	}
	return c.send(ctx, m)
}

// Request has the SDK send any request, and waits for its result.
func (c *Client) Request(ctx context.Context, method string, params any) (jsontext.Value, error) {
	call, err := c.GoRequest(ctx, method, params)
	if err != nil {
		return nil, err
	}
	raw, err := call.Result(ctx)
	o, _ := wire.AsObject(raw)
	return o["result"], err
}

// Subscribe has the SDK listen to notifications. The events are those of the call that it gives.
func (c *Client) Subscribe(ctx context.Context, filter, sessionID, callback string) (*Call, error) {
	m := command{Call: CallSubscribe, Filter: filter, Callback: callback}
	if sessionID != "" {
		m.SessionID = &sessionID
	}
	call, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	_, err = call.Result(ctx)
	return call, err
}

// Unsubscribe ends a subscription.
func (c *Client) Unsubscribe(ctx context.Context, subscription *Call) error {
	_, err := c.do(ctx, command{Call: CallUnsubscribe, Of: subscription.id})
	return err
}

// GoClose has the SDK close the client.
func (c *Client) GoClose(ctx context.Context) (*Call, error) {
	call, err := c.send(ctx, command{Call: CallClose})
	if call != nil {
		call.within += c.Graces()
	}
	return call, err
}

// Close has the SDK close the client, and waits for that within the graces that the driver declares and one deadline.
func (c *Client) Close(ctx context.Context) error {
	call, err := c.GoClose(ctx)
	if err != nil {
		return err
	}
	_, err = call.Result(ctx)
	return err
}

// Graces is how long the client's close takes at most of a runtime that ignores everything.
func (c *Client) Graces() time.Duration { return c.d.hello.Graces.Total(c.o.CloseTimeout) }

// Surface lists the public members of the SDK.
func (d *Driver) Surface(ctx context.Context) ([]string, error) {
	if !d.hello.Offers(CallSurface) {
		return nil, fmt.Errorf("call %s: %w", CallSurface, errNotOffered)
	}
	call, err := d.send(ctx, command{Call: CallSurface})
	if err != nil {
		return nil, err
	}
	raw, err := call.Result(ctx)
	if err != nil {
		return nil, err
	}
	o, _ := wire.AsObject(raw)
	var members []string
	list, _ := wire.AsArray(o["members"])
	for _, m := range list {
		members = append(members, wire.Unquote(m))
	}
	return members, nil
}

// NotOffered reports whether an error says that the driver does not offer a call.
func NotOffered(err error) bool { return errors.Is(err, errNotOffered) }
