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
	return InOrder(NotificationsOf(p.Notifications()), got)
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
	call, err := c.GoRequest(k.ctx, "dshconform/ask", params)
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
		want := NotificationsOf([][]byte{line})[0]
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
	if Raised(err) == nil {
		return err
	}
	return nil // what it makes of a filter that throws is the SDK's own affair
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
	later, err := c.GoPrompt(k.ctx, Prompt{SessionID: "s11", Text: "later"})
	if err != nil {
		return err
	}
	if _, err := c.Relay().accept(k.ctx, Behaviour{}, later); err == nil {
		return nil // it launches another runtime, which is the SDK's own affair
	}
	_, err = later.Result(k.ctx)
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
	call, err := k.d.sendRefused(k.ctx, command{Call: "dshconform/no-such-call", Client: "none"})
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
