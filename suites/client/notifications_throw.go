package client

import (
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// throwingCallback has a callback throw, at a subscription and at a prompt, where it can be
// given there.
func throwingCallback(t *T) {
	filter, offered := t.listening()
	subscription := offered && slices.Contains(t.Hello.Callbacks, harness.CallSubscribe)
	prompt := slices.Contains(t.Hello.Callbacks, harness.CallPrompt)
	if !subscription && !prompt {
		t.Lacking("driver-callbacks", "no subscription can be made that would call one")
	}
	if subscription {
		throwingSubscription(t, filter, harness.CallbackThrow)
	}
	if prompt && !t.Failed() {
		throwingPrompt(t)
	}
}

// listening is a filter that lets the notifications of a session through, and whether one is
// offered.
func (t *T) listening() (filter string, offered bool) {
	for _, filter := range []string{harness.FilterAll, harness.FilterSession} {
		if t.Hello.Subscribes(filter) {
			return filter, true
		}
	}
	return "", false
}

// throwingSubscription begins a subscription whose filter or callback throws, beside
// one that does not. The other one and the calls have to go on.
func throwingSubscription(t *T, filter, callback string) {
	const expected = "code of the caller that throws hurts its own subscription alone"
	p := t.Launch(protocol.MethodPrompt)
	session := t.Session()
	subscribe := func(filter, callback string) *harness.Call {
		of := ""
		if filter == harness.FilterSession {
			of = session
		}
		c, err := p.Subscribe(t.Ctx, filter, of, callback)
		t.Need("subscribe", err)
		return c
	}
	throwing := subscribe(filter, callback)
	var other *harness.Call
	if sound, offered := t.listening(); offered {
		other = subscribe(sound, harness.CallbackReport)
	}
	a := p.AskWith(harness.Prompt{SessionID: session, Text: t.Text("prompt")})
	answer := a.Turn(harness.Turn{})
	if !a.Settles(expected+": the call in flight settles", answer) || !p.Works(expected+": the next call works") {
		return
	}
	if callback == harness.CallbackThrow {
		t.Need("the callback is called", throwing.AwaitEvents(t.Ctx, "notification at the subscription whose callback throws",
			func(got []harness.Notification) bool { return len(got) > 0 }))
	}
	if other == nil {
		return
	}
	last := harness.NotificationsOf(answer.Notifications())
	want := last[len(last)-1]
	err := other.AwaitEvents(t.Ctx, "last notification of the turn at the other subscription", func(got []harness.Notification) bool {
		return slices.ContainsFunc(got, func(n harness.Notification) bool {
			return n.Method == want.Method && wire.SameValue(n.Params, want.Params)
		})
	})
	t.Judge(err, expected+": the other one goes on", a.Shown.frames()...)
}

// throwingPrompt has the callback of a prompt throw, beside another prompt where there
// can be one. What the SDK makes of its own call is its own affair, as long as that
// ends.
func throwingPrompt(t *T) {
	const expected = "code of the caller that throws hurts its own call alone"
	p := t.Launch(protocol.MethodPrompt)
	a := p.AskWith(harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt"), Callback: harness.CallbackThrow})
	var other *Asked
	if t.Hello.Concurrent {
		other = p.AskWith(harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt"), Callback: harness.CallbackReport})
	}
	if !a.Write(expected, a.Turn(harness.Turn{}).Joined()) {
		return
	}
	if reply, ok := t.Ended(a.Call, expected+": it ends", a.Shown); !ok {
		return
	} else if reply.Err != nil && !t.failed(reply, expected+": it fails with what was thrown, if it fails", a.Shown, harness.ClassOther) {
		return
	}
	if other != nil && !other.Settles(expected+": another call in flight settles", other.Turn(harness.Turn{})) {
		return
	}
	p.Works(expected + ": the next call works")
}
