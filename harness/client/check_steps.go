package client

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
		want := notificationsOf(p.Notifications())
		if len(o.Notifications) == 0 {
			add(errors.New("no notification was collected"))
		}
		add(inOrder(want, o.Notifications))
	}
	return err
}

// notificationsOf reads notifications from lines.
func notificationsOf(lines [][]byte) (list []Notification) {
	for _, l := range lines {
		m := wire.Parse(wire.Line{Raw: l, Size: int64(len(l))})
		list = append(list, Notification{m.Method, m.Params})
	}
	return list
}

// inOrder wants each notification that came to be one that was written, unchanged and in the order of the wire.
func inOrder(written, got []Notification) error {
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

// remote checks how an error response is told.
func (k *checker) remote() error {
	_, rt, call, q, err := k.prompted(Prompt{SessionID: "s3", Text: "fail"}, nil)
	if err != nil {
		return err
	}
	if err := rt.Write(k.ctx, q.Error(-32123, "out of 运气", map[string]any{"why": "checked"})); err != nil {
		return err
	}
	_, err = call.Result(k.ctx)
	if wrong := raised(err, ClassRemote); wrong != nil {
		return wrong
	}
	e := Raised(err)
	return errors.Join(
		sameJSON("code of the error", []byte("-32123"), e.Code),
		contains("message of the error", e.Message, "out of 运气"),
		sameJSON("data of the error", []byte(`{"why":"checked"}`), e.Data),
	)
}

// handshakeFails checks that the error of a refused initialize is told, and the next client works.
func (k *checker) handshakeFails() error {
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
		return err
	}
	if err := rt.Write(k.ctx, q.Error(-32603, "no such provider")); err != nil {
		return err
	}
	_, err = handshake.Result(k.ctx)
	if err := raised(err, ClassRemote); err != nil {
		return err
	}
	_, _, err = k.launched(Behaviour{}, nil)
	return err
}

// dies checks that the end of the runtime fails a call with class closed.
func (k *checker) dies() error {
	_, rt, call, _, err := k.prompted(Prompt{SessionID: "s4", Text: "die"}, nil)
	if err != nil {
		return err
	}
	if err := rt.WriteStderr(k.ctx, []byte("dying as told\n")); err != nil {
		return err
	}
	if err := rt.Exit(7); err != nil {
		return err
	}
	_, err = call.Result(k.ctx)
	return raised(err, ClassClosed)
}

// concurrent checks that a call does not wait for another.
func (k *checker) concurrent() error {
	c, rt, first, q1, err := k.prompted(Prompt{SessionID: "s5", Text: "first"}, nil)
	if err != nil {
		return err
	}
	second, q2, err := k.prompt(c, rt, Prompt{SessionID: "s6", Text: "second"})
	if err != nil {
		return fmt.Errorf("while another prompt waits: %w", err)
	}
	if err := k.finish(rt, second, q2); err != nil {
		return fmt.Errorf("a prompt that is answered before an earlier one: %w", err)
	}
	return k.finish(rt, first, q1)
}

func (k *checker) callback() error {
	_, rt, call, q, err := k.prompted(Prompt{SessionID: "s7", Text: "listen", Callback: CallbackReport}, nil)
	if err != nil {
		return err
	}
	p := q.Turn(Turn{})
	if err := rt.Write(k.ctx, p.Joined()); err != nil {
		return err
	}
	if _, err := call.Result(k.ctx); err != nil {
		return err
	}
	got := call.Events()
	if len(got) == 0 {
		return errors.New("no event came of the callback before the reply")
	}
	return inOrder(notificationsOf(p.Notifications()), got)
}

func (k *checker) callbackThrows() error {
	_, rt, call, q, err := k.prompted(Prompt{SessionID: "s8", Text: "throw", Callback: CallbackThrow}, nil)
	if err != nil {
		return err
	}
	if err := rt.Write(k.ctx, q.Turn(Turn{}).Joined()); err != nil {
		return err
	}
	reply, err := call.Await(k.ctx) // what the SDK makes of it is not the driver's
	switch {
	case err != nil:
		return err
	case len(call.Events()) == 0:
		return errors.New("no event came: the callback reports before it throws")
	case reply.Err != nil && reply.Err.Class != ClassOther:
		return raised(reply.Err, ClassOther)
	}
	return nil
}

func (k *checker) request() error {
	c, rt, err := k.launched(Behaviour{Manual: []string{"dshconform/ask"}}, nil)
	if err != nil {
		return err
	}
	params := jsontext.Value(`{"a":[1,"é",null],"b":{"c":true}}`)
	call, err := c.GoRequest("dshconform/ask", params)
	if err != nil {
		return err
	}
	q, err := rt.Next(k.ctx, "dshconform/ask")
	if err != nil {
		return err
	}
	err = sameJSON("params on the wire", params, q.Params())
	result := jsontext.Value(`{"d":[1.5,"文"],"e":null}`)
	if err := rt.Write(k.ctx, q.Result(result)); err != nil {
		return err
	}
	raw, callErr := call.Result(k.ctx)
	if callErr != nil {
		return errors.Join(err, callErr)
	}
	o, _ := wire.AsObject(raw)
	return errors.Join(err, sameJSON("result", result, o["result"]))
}

func (k *checker) subscribe() error {
	c, rt, err := k.launched(Behaviour{}, nil)
	if err != nil {
		return err
	}
	for _, filter := range k.d.Hello().Filters {
		if filter == FilterThrow {
			continue
		}
		id := "s-" + filter
		sub, err := c.Subscribe(k.ctx, filter, id, CallbackReport)
		if err != nil {
			return fmt.Errorf("filter %s: %w", filter, err)
		}
		s := rt.Session(id)
		line := s.Event("dshconform/check", map[string]any{"filter": filter})
		if err := rt.Write(k.ctx, line); err != nil {
			return err
		}
		want := notificationsOf([][]byte{line})[0]
		err = sub.AwaitEvents(k.ctx, "event of a subscription, filter "+filter, func(got []Notification) bool {
			return slices.ContainsFunc(got, func(n Notification) bool {
				return n.Method == want.Method && wire.SameValue(n.Params, want.Params)
			})
		})
		if err != nil {
			return err
		}
		if err := c.Unsubscribe(k.ctx, sub); err != nil {
			return fmt.Errorf("unsubscribe: %w", err)
		}
	}
	return nil
}

func (k *checker) filterThrows() error {
	c, rt, err := k.launched(Behaviour{}, nil)
	if err != nil {
		return err
	}
	if _, err := c.Subscribe(k.ctx, FilterThrow, "", CallbackReport); err != nil {
		return err
	}
	if err := rt.Write(k.ctx, rt.Session("s9").Event("dshconform/check", map[string]any{})); err != nil {
		return err
	}
	_, err = c.Prompt(k.ctx, Prompt{SessionID: "s9", Text: "and on"})
	if Raised(err) != nil {
		return nil // the SDK's own affair
	}
	return err
}

func (k *checker) surface() error {
	members, err := k.d.Surface(k.ctx)
	if err == nil && len(members) == 0 {
		err = errors.New("no member at all")
	}
	return err
}

func (k *checker) callTimeout() error {
	_, _, call, _, err := k.prompted(Prompt{SessionID: "s10", Text: "silence"}, func(o *CreateOptions) { o.CallTimeout = shortTimeout })
	if err != nil {
		return err
	}
	_, err = call.Result(k.ctx)
	return raised(err, ClassTimeout)
}

func (k *checker) initializeTimeout() error {
	c, err := k.client(func(o *CreateOptions) { o.InitializeTimeout = shortTimeout })
	if err != nil {
		return err
	}
	_, handshake, err := c.Begin(k.ctx, Behaviour{Manual: []string{protocol.MethodInitialize}})
	if err != nil {
		return err
	}
	_, err = handshake.Result(k.ctx)
	return raised(err, ClassTimeout)
}

// close checks that it returns when the runtime has ended, and that later use fails.
func (k *checker) close() error {
	c, rt, err := k.launched(Behaviour{}, nil)
	if err != nil {
		return err
	}
	if err := c.Close(k.ctx); err != nil {
		return err
	}
	if err := rt.AwaitGone(k.ctx, k.d.Deadlines().Leave); err != nil {
		return fmt.Errorf("close has returned: %w", err)
	}
	_, err = c.Prompt(k.ctx, Prompt{SessionID: "s11", Text: "later"})
	if c.Relay().Launches() > 1 {
		return errors.New("a prompt after close launched another runtime")
	}
	return raised(err, ClassClosed, ClassUsage)
}

func (k *checker) closeFirst() error {
	c, err := k.client(nil)
	if err != nil {
		return err
	}
	return c.Close(k.ctx)
}

// unknown checks that a driver refuses what it does not know.
func (k *checker) unknown() error {
	call, err := k.d.sendRefused(command{Call: "dshconform/no-such-call", Client: "none"})
	if err != nil {
		return err
	}
	reply, err := call.Await(k.ctx)
	if err != nil {
		return err
	}
	if reply.Err == nil {
		return fmt.Errorf("an unknown call succeeded, where an error of class %s is right", classDriver)
	}
	return raised(reply.Err, classDriver)
}

// resolved is a path without symbolic links, as far as there are any.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func contains(what, text, part string) error {
	if strings.Contains(text, part) {
		return nil
	}
	return fmt.Errorf("%s: %s, which does not hold %s", what, short(text), part)
}
