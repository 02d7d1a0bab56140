package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// check is one step of a driver's check.
type check struct {
	name string
	// without says why the step is left out for a driver, "" where it is not.
	without func(h Hello, brief bool) string
	run     func(*checker) error
}

// always is for steps that every driver takes.
func always(Hello, bool) string { return "" }

// unless leaves a step out where a driver does not offer something.
func unless(what string, offered func(Hello) bool) func(Hello, bool) string {
	return func(h Hello, brief bool) string {
		switch {
		case !offered(h):
			return "not offered: " + what
		case brief:
			return "left out of a brief check"
		}
		return ""
	}
}

func full(Hello) bool { return true }

const checkText = `a "q" \ 你好 👩‍👩‍👧 é שלום 𝒳`

var checks = []check{
	{"initialize", always, (*checker).initialize},
	{"prompt", always, (*checker).sound},
	{"content blocks", unless("", full), (*checker).blocks},
	{"an error response", unless("", full), (*checker).remote},
	{"a failed handshake", unless("", full), (*checker).handshakeFails},
	{"the runtime dies", unless("", full), (*checker).dies},
	{"several calls in flight", unless("concurrent", func(h Hello) bool { return h.Concurrent }), (*checker).concurrent},
	{"a callback of prompt", unless("callbacks: prompt", func(h Hello) bool { return slices.Contains(h.Callbacks, "prompt") }), (*checker).callback},
	{"a callback that throws", unless("callbacks: prompt", func(h Hello) bool { return slices.Contains(h.Callbacks, "prompt") }), (*checker).callbackThrows},
	{"request", unless("request", func(h Hello) bool { return h.Offers(CallRequest) }), (*checker).request},
	{"subscribe", unless("subscribe", func(h Hello) bool { return h.Offers(CallSubscribe) }), (*checker).subscribe},
	{"a filter that throws", unless("filters: throw", func(h Hello) bool { return slices.Contains(h.Filters, FilterThrow) }), (*checker).filterThrows},
	{"surface", unless("surface", func(h Hello) bool { return h.Offers(CallSurface) }), (*checker).surface},
	{"the time-out of a call", unless("timeouts: call", func(h Hello) bool { return h.Takes("call") }), (*checker).callTimeout},
	{"the time-out of initialize", unless("timeouts: initialize", func(h Hello) bool { return h.Takes("initialize") }), (*checker).initializeTimeout},
	{"close", unless("close", func(h Hello) bool { return h.Offers(CallClose) }), (*checker).close},
	{"close before start", unless("close", func(h Hello) bool { return h.Offers(CallClose) }), (*checker).closeFirst},
	{"an unknown call", unless("", full), (*checker).unknown},
}

// initialize checks what reaches the runtime of create, and that it is launched where it should be.
func (k *checker) initialize() error {
	c, err := k.client(nil)
	if err != nil {
		return err
	}
	rt, handshake, err := c.Begin(k.ctx, Behaviour{Manual: []string{protocol.MethodInitialize}})
	if err != nil {
		return err
	}
	q, err := rt.Next(k.ctx, protocol.MethodInitialize)
	if err != nil {
		return fmt.Errorf("the handshake did not reach the runtime: %w", err)
	}
	o, _ := wire.AsObject(q.Params())
	err = errors.Join(
		differs("cwd in initialize", c.o.Cwd, wire.Unquote(o["cwd"])),
		differs("provider in initialize", c.o.Provider, wire.Unquote(o["provider"])),
		differs("model in initialize", c.o.Model, wire.Unquote(o["model"])),
		differs("the working directory of the runtime", resolved(c.o.RuntimeDir), resolved(rt.Launch().Dir)),
	)
	err = errors.Join(err, k.early(handshake))
	if writeErr := rt.Write(k.ctx, q.Handshake()); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	raw, callErr := handshake.Result(k.ctx)
	if callErr != nil {
		return errors.Join(err, callErr)
	}
	result, _ := wire.AsObject(raw)
	if info, given := result["serverInfo"]; given && info.Kind() != 'n' {
		name, _ := wire.AsObject(info)
		err = errors.Join(err, differs("serverInfo.name", protocol.ServerName, wire.Unquote(name["name"])))
	}
	return err
}

// early wants a call to wait as long as the runtime does.
func (k *checker) early(call *Call) error {
	reply, err := call.AwaitWithin(k.ctx, k.d.Deadlines().Grace)
	var silent *SilentError
	switch {
	case err == nil:
		return fmt.Errorf("the reply to %s came before the runtime had answered: %w", call.name, over1(reply))
	case errors.As(err, &silent):
		return nil
	}
	return err
}

// sound checks one prompt from end to end.
func (k *checker) sound() error {
	c, rt, call, q, err := k.prompted(Prompt{SessionID: "s1", Text: checkText}, nil)
	if err != nil {
		return err
	}
	err = differs("the text of the prompt on the wire", checkText, q.Text())
	if early := k.early(call); early != nil {
		return errors.Join(err, early)
	}
	played := q.Turn(Turn{Text: "answer: " + checkText})
	if writeErr := rt.Write(k.ctx, played.Joined()); writeErr != nil {
		return errors.Join(err, writeErr)
	}
	reply, callErr := call.Await(k.ctx)
	switch {
	case callErr != nil:
		return errors.Join(err, callErr)
	case reply.Err != nil:
		return errors.Join(err, reply.Err)
	}
	return errors.Join(err, k.outcome(c, played, reply.Outcome()))
}

// outcome checks an outcome against the turn that was played and what the driver said that it can give.
func (k *checker) outcome(c *Client, p Played, o Outcome) (err error) {
	h := k.d.Hello()
	members, _ := wire.AsObject(o.Raw)
	for _, name := range []string{"status", "reason", "kind", "finalResponse", "events", "notifications", "messageId"} {
		v, given := members[name]
		given = given && v.Kind() != 'n'
		switch {
		case given && !h.Gives(name):
			err = errors.Join(err, fmt.Errorf("an outcome has %s, which hello does not list", name))
		case !given && h.Gives(name):
			err = errors.Join(err, fmt.Errorf("an outcome has no %s, which hello lists", name))
		}
	}
	if err != nil {
		return err
	}
	add := func(e error) { err = errors.Join(err, e) }
	if h.Gives("status") {
		add(differs("status", "ok", Text(o.Status)))
	}
	if h.Gives("reason") && h.Profile == protocol.Directional {
		add(sameJSON("reason", []byte(`{"kind":"completed"}`), o.Reason))
	}
	if h.Gives("finalResponse") {
		add(differs("finalResponse", "answer: "+checkText, Text(o.FinalResponse)))
	}
	if h.Gives("messageId") && h.Profile == protocol.Receipt {
		add(differs("messageId", p.MessageID, Text(o.MessageID)))
	}
	if h.Gives("notifications") && h.Settles {
		want := NotificationsOf(p.Notifications())
		if len(o.Notifications) == 0 {
			add(errors.New("no notification was collected"))
		}
		add(InOrder(want, o.Notifications))
	}
	return err
}

// NotificationsOf reads notifications from lines.
func NotificationsOf(lines [][]byte) (list []Notification) {
	for _, l := range lines {
		m := wire.Parse(wire.Line{Raw: l, Size: int64(len(l))})
		list = append(list, Notification{m.Method, m.Params})
	}
	return list
}

// InOrder wants each notification that came to be one that was written, unchanged and in the order of the wire.
func InOrder(written, got []Notification) error {
	at := 0
	for i, n := range got {
		for at < len(written) && (written[at].Method != n.Method || !wire.SameValue(written[at].Params, n.Params)) {
			at++
		}
		if at == len(written) {
			return fmt.Errorf("notification %d of an outcome (%s) is not what the runtime wrote, or is out of order: %s", i+1, n.Method, short(string(n.Params)))
		}
		at++
	}
	return nil
}

// blocks checks that content blocks reach the wire as they are given.
func (k *checker) blocks() error {
	given := jsontext.Value(`[{"type":"text","text":"one"},{"type":"dshconform/unknown","n":[1,{"a":null}]},{"type":"text","text":"\u4e2d"}]`)
	_, rt, call, q, err := k.prompted(Prompt{SessionID: "s/2 é", Blocks: given}, nil)
	if err != nil {
		return err
	}
	params, _ := wire.AsObject(q.Params())
	err = sameJSON("contentBlocks on the wire", given, params["contentBlocks"])
	return errors.Join(err, k.finish(rt, call, q))
}

// finish lets a prompt settle.
func (k *checker) finish(rt *Runtime, call *Call, q *Request) error {
	if err := rt.Write(k.ctx, q.Turn(Turn{}).Joined()); err != nil {
		return err
	}
	_, err := call.Result(k.ctx)
	return err
}
