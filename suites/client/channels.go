package client

import (
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// channel is a way in which an SDK hands the notifications of a call to its caller.
type channel string

const (
	inResult       channel = "in the result of the call"
	toCallback     channel = "at the callback of the prompt"
	toSubscription channel = "at a subscription to the session"
	inEvents       channel = "among the events in the result of the call"
)

// channel is the one of those that the SDK offers that tells most of a call. One is
// offered where the capability driver-events is.
func (t *T) channel() channel {
	h := t.Hello
	subscription := h.Subscribes(harness.FilterSession)
	switch {
	case t.returnsEarly() && subscription:
		return toSubscription
	case h.Gives("notifications"):
		return inResult
	case slices.Contains(h.Callbacks, harness.CallPrompt):
		return toCallback
	case subscription:
		return toSubscription
	}
	return inEvents
}

// returnsEarly says whether calls return with the receipt: what comes behind that is not
// the call's.
func (t *T) returnsEarly() bool { return !t.Hello.Settles && t.Profile == protocol.Receipt }

// listened is a prompt with a callback, where one can be given.
func (t *T) listened(prompt harness.Prompt) harness.Prompt {
	if slices.Contains(t.Hello.Callbacks, harness.CallPrompt) {
		prompt.Callback = harness.CallbackReport
	}
	return prompt
}

// Heard is a prompt whose notifications are listened to.
type Heard struct {
	*Asked
	via          channel
	subscription *harness.Call
}

// Hear has the SDK prompt, and listens.
func (p *Peer) Hear(via channel, prompt harness.Prompt) *Heard {
	h := &Heard{via: via}
	switch via {
	case toCallback:
		prompt.Callback = harness.CallbackReport
	case toSubscription:
		var err error
		h.subscription, err = p.Subscribe(p.t.Ctx, harness.FilterSession, prompt.SessionID, harness.CallbackReport)
		p.t.Need("subscribe", err)
	}
	h.Asked = p.AskWith(prompt)
	return h
}

// got is what was handed over when the call had returned. What a subscription gets may come
// later: it is waited for until the wanted ones are there.
func (h *Heard) got(wanted []harness.Notification) (list []harness.Notification) {
	reply, _ := h.Over()
	switch h.via {
	case inResult:
		return reply.Outcome().Notifications
	case toCallback:
		return h.Events()
	case inEvents:
		for _, e := range reply.Outcome().Events {
			list = append(list, harness.Notification{Method: protocol.NotificationEvent, Params: e})
		}
		return list
	}
	err := h.subscription.AwaitEvents(h.t.Ctx, "notifications at a subscription", func(got []harness.Notification) bool {
		return len(got) >= len(wanted) && len(without(wanted, got)) == 0
	})
	if err != nil {
		h.t.Conclude(err) // what is missing shows
	}
	return h.subscription.Events()
}

// through is the same prompt with another channel looked at, which needs no subscription.
func (h *Heard) through(c channel) *Heard {
	return &Heard{Asked: h.Asked, via: c, subscription: h.subscription}
}

// follow finds out how many of the wanted ones were handed over, one behind the other. It
// looks at each but once: there may be very many.
func (h *Heard) follow(wanted []harness.Notification) (found int) {
	looked := 0
	all := func(got []harness.Notification) bool {
		for ; looked < len(got) && found < len(wanted); looked++ {
			if same(got[looked], wanted[found]) {
				found++
			}
		}
		return found == len(wanted)
	}
	if h.via != toSubscription {
		all(h.got(nil))
		return found
	}
	if err := h.subscription.AwaitEvents(h.t.Ctx, "notifications at a subscription", all); err != nil {
		h.t.Conclude(err) // what is missing shows
	}
	return found
}

// form gives notifications as the channel hands them over: an event in a result does not
// say whose it is.
func (c channel) form(list []harness.Notification) []harness.Notification {
	if c != inEvents {
		return list
	}
	var out []harness.Notification
	for _, n := range list {
		if o, _ := wire.AsObject(n.Params); n.Method == protocol.NotificationEvent {
			out = append(out, harness.Notification{Method: n.Method, Params: o["event"]})
		}
	}
	return out
}
