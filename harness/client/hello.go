package client

import (
	"slices"
	"time"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
)

// DriverProtocol names the protocol that drivers speak. docs/driver.md is its page.
const DriverProtocol = "dshconform.driver/v1"

// The calls of the driver protocol.
const (
	CallHello       = "hello"
	CallCreate      = "create"
	CallStart       = "start"
	CallInitialize  = "initialize"
	CallPrompt      = "prompt"
	CallRequest     = "request"
	CallSubscribe   = "subscribe"
	CallUnsubscribe = "unsubscribe"
	CallSurface     = "surface"
	CallClose       = "close"
)

// Hello is what a driver says of itself and its SDK.
type Hello struct {
	Protocol string           `json:"protocol"`
	SDK      string           `json:"sdk"`
	Version  string           `json:"version"`
	Language string           `json:"language"`
	Profile  protocol.Profile `json:"profile"`
	Layer    string           `json:"layer"` // high or low

	Calls      []string `json:"calls"`
	Concurrent bool     `json:"concurrent"`
	Settles    bool     `json:"settles"` // prompt returns when the turn has settled
	Outcome    []string `json:"outcome"` // members that an outcome can have
	Callbacks  []string `json:"callbacks"`
	Filters    []string `json:"filters"`
	Timeouts   []string `json:"timeouts"`
	Graces     Graces   `json:"graces"`
}

// Graces are the milliseconds that the SDK's close waits at most in each step; a nil one is a step that it leaves out.
type Graces struct {
	Shutdown *float64 `json:"shutdown,omitzero"` // for the answer to shutdown
	EOF      *float64 `json:"eof,omitzero"`      // for the exit after it ended stdin
	Term     *float64 `json:"term,omitzero"`     // for the exit after SIGTERM
}

// Total is how long close takes at most of a runtime that ignores everything. Where the time-out of close was set
// (perStep, 0 where not), it stands for each step.
func (g Graces) Total(perStep time.Duration) (total time.Duration) {
	for _, step := range []*float64{g.Shutdown, g.EOF, g.Term} {
		switch {
		case step == nil:
		case perStep > 0:
			total += perStep
		default:
			total += time.Duration(*step * float64(time.Millisecond))
		}
	}
	return total
}

// Offers reports whether the driver offers a call.
func (h Hello) Offers(call string) bool { return slices.Contains(h.Calls, call) }

// Gives reports whether an outcome can have the member: status, reason, kind, finalResponse, events, notifications or
// messageId.
func (h Hello) Gives(member string) bool { return slices.Contains(h.Outcome, member) }

// Subscribes reports whether subscriptions with the filter are offered.
func (h Hello) Subscribes(filter string) bool {
	return h.Offers(CallSubscribe) && slices.Contains(h.Filters, filter)
}

// hands reports whether the notifications of a call can be had in any way.
func (h Hello) hands() bool {
	return h.Gives("notifications") || h.Gives("events") || slices.Contains(h.Callbacks, CallPrompt) || h.Subscribes(FilterSession)
}

// Takes reports whether create takes the time-out: call, initialize or close.
func (h Hello) Takes(timeout string) bool { return slices.Contains(h.Timeouts, timeout) }

// Capabilities are the capabilities of the catalogue (role client, and those of the platform) that this driver has
// here. What is lacking makes the rows that need it not applicable, by name.
func (h Hello) Capabilities() map[string]bool {
	tree, signals := process.Capabilities()
	return map[string]bool{
		"signals":                   signals,
		"process-tree":              tree,
		"driver-surface":            h.Offers(CallSurface),
		"driver-process":            canMeasure && tree,
		"driver-events":             h.hands(),
		"driver-final-response":     h.Gives("finalResponse"),
		"driver-outcome":            h.Settles,
		"driver-callbacks":          len(h.Callbacks) > 0,
		"driver-filters":            h.Subscribes(FilterThrow),
		"driver-subscriptions":      h.Offers(CallSubscribe) && len(h.Filters) > 0,
		"driver-concurrent":         h.Concurrent,
		"driver-call-timeout":       h.Takes("call"),
		"driver-initialize-timeout": h.Takes("initialize"),
		"driver-close":              h.Offers(CallClose),
	}
}

// Subject is the SDK as a report names it.
func (h Hello) Subject() string {
	return h.SDK + " " + h.Version + " (" + h.Language + ", " + h.Layer + ")"
}
