package client

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// What a callback does besides reporting what it got, and which notifications a subscription is for.
const (
	CallbackReport = "report"
	CallbackThrow  = "throw" // reports, then raises an exception with the text Thrown

	FilterAll     = "all"
	FilterSession = "session" // a session and its children
	FilterThrow   = "throw"   // raises the exception

	// Thrown is the text of exceptions that callbacks and filters raise as they were told.
	Thrown = "thrown on purpose"
)

// command is what is written to a driver. Members that a call does not know stay empty.
type command struct {
	ID        int64          `json:"id"`
	Call      string         `json:"call"`
	Client    string         `json:"client,omitzero"`
	Protocol  string         `json:"protocol,omitzero"`
	Launch    *launch        `json:"launch,omitzero"`
	Cwd       *string        `json:"cwd,omitzero"`
	Provider  *string        `json:"provider,omitzero"`
	Model     *string        `json:"model,omitzero"`
	Timeouts  *timeouts      `json:"timeouts,omitzero"`
	SessionID *string        `json:"sessionId,omitzero"`
	Blocks    jsontext.Value `json:"contentBlocks,omitzero"`
	Callback  string         `json:"callback,omitzero"`
	Method    *string        `json:"method,omitzero"`
	Params    jsontext.Value `json:"params,omitzero"`
	Filter    string         `json:"filter,omitzero"`
	Of        int64          `json:"of,omitzero"`
}

type launch struct {
	Argv       []string `json:"argv"`
	Executable string   `json:"executable"`
	Cwd        string   `json:"cwd"`
}

type timeouts struct {
	Call       int64 `json:"call,omitzero"`
	Initialize int64 `json:"initialize,omitzero"`
	Close      int64 `json:"close,omitzero"`
}

// CreateOptions make a client of the SDK.
type CreateOptions struct {
	Relay *Relay // where it finds its runtime; or, in its place,
	// Server is a real one that the SDK launches. [Client.Begin] and [Client.Launch] are for relays alone.
	Server *ServerCommand
	// RuntimeDir is the working directory of the runtime's process.
	RuntimeDir string
	// Cwd, Provider and Model are the params of initialize.
	Cwd, Provider, Model string
	// Time-outs of the SDK's own, only those that the driver takes; 0 leaves the SDK's default. CloseTimeout stands
	// for each step of close.
	CallTimeout, InitializeTimeout, CloseTimeout time.Duration
}

// ServerCommand is a server as a command line and as one executable file, see [WriteExecutable].
type ServerCommand struct {
	Argv       []string
	Executable string
}

func (o CreateOptions) launch() *launch {
	if o.Relay == nil {
		return &launch{Argv: o.Server.Argv, Executable: o.Server.Executable, Cwd: o.RuntimeDir}
	}
	return &launch{Argv: o.Relay.Argv(), Executable: o.Relay.Executable(), Cwd: o.RuntimeDir}
}

// Prompt is what a prompt is called with.
type Prompt struct {
	SessionID string
	Text      string         // of one text block; or
	Blocks    jsontext.Value // the content blocks themselves
	Callback  string         // CallbackReport, CallbackThrow, or "" for none
}

func (p Prompt) blocks() jsontext.Value {
	if p.Blocks != nil {
		return p.Blocks
	}
	return Encode([]any{TextBlock(p.Text)})
}

// Notification is one as the SDK handed it over.
type Notification struct {
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// Outcome is what a prompt gave. A member that is nil was not given.
type Outcome struct {
	Status        jsontext.Value // a string, unless the SDK hands on what is none
	Reason        jsontext.Value
	Kind          jsontext.Value
	FinalResponse jsontext.Value
	MessageID     jsontext.Value
	Events        []jsontext.Value
	Notifications []Notification
	Raw           jsontext.Value // the whole of it
}

// Text is a member that is a string, "" where it is absent or something else.
func Text(v jsontext.Value) string { return wire.Unquote(v) }

// TextBlock is a content block of type text.
func TextBlock(text string) any {
	return struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text}
}

func outcomeOf(raw jsontext.Value) Outcome {
	o, _ := wire.AsObject(raw)
	out := Outcome{Status: o["status"], Reason: o["reason"], Kind: o["kind"], FinalResponse: o["finalResponse"], MessageID: o["messageId"], Raw: raw}
	out.Events, _ = wire.AsArray(o["events"])
	list, _ := wire.AsArray(o["notifications"])
	for _, n := range list {
		m, _ := wire.AsObject(n)
		out.Notifications = append(out.Notifications, Notification{wire.Unquote(m["method"]), m["params"]})
	}
	return out
}
