package client

import (
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// throwingCallback has a callback throw, at a subscription where there are such, and at
// a prompt.
func throwingCallback(t *T) {
	if t.Hello.Offers(harness.CallSubscribe) && slices.Contains(t.Hello.Filters, harness.FilterAll) {
		throwingSubscription(t, harness.FilterAll, harness.CallbackThrow)
	}
	if slices.Contains(t.Hello.Callbacks, harness.CallPrompt) && !t.Failed() {
		throwingPrompt(t)
	}
}

// throwingSubscription begins a subscription whose filter or callback throws, beside
// one that does not. The other one and the calls have to go on.
func throwingSubscription(t *T, filter, callback string) {
	const expected = "code of the caller that throws hurts its own subscription alone"
	p := t.Launch(protocol.MethodPrompt)
	_, err := p.Subscribe(t.Ctx, filter, "", callback)
	t.Need("subscribe", err)
	var other *harness.Call
	if slices.Contains(t.Hello.Filters, harness.FilterAll) {
		other, err = p.Subscribe(t.Ctx, harness.FilterAll, "", harness.CallbackReport)
		t.Need("subscribe", err)
	}
	a := p.Ask()
	answer := a.Turn(harness.Turn{})
	if !a.Settles(expected+": the call in flight settles", answer) || !p.Works(expected+": the next call works") || other == nil {
		return
	}
	last := harness.NotificationsOf(answer.Notifications())
	want := last[len(last)-1]
	err = other.AwaitEvents(t.Ctx, "last notification of the turn at the other subscription", func(got []harness.Notification) bool {
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
