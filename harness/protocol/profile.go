package protocol

import (
	"fmt"
	"strings"
)

// Profile is one of the three forms of the protocol in use. They differ in what
// answers session/prompt and in what an overlapping prompt gets.
type Profile string

const (
	// Directional: the response of session/prompt is {status, reason}, written
	// after the turn settled. An overlapping prompt is refused.
	Directional Profile = "directional"
	// Accepted: session.finished, then {accepted:true}, after the turn settled.
	// An overlapping prompt is refused.
	Accepted Profile = "accepted"
	// Receipt: {messageId} as soon as the message is queued; session.status says
	// when the session runs and is idle. Overlapping prompts are queued.
	Receipt Profile = "receipt"
)

// Profiles lists all profiles, the default first.
var Profiles = []Profile{Directional, Accepted, Receipt}

// ParseProfile reads the name of a profile.
func ParseProfile(s string) (Profile, error) {
	for _, p := range Profiles {
		if string(p) == s {
			return p, nil
		}
	}
	return "", fmt.Errorf("unknown profile %q: one of %s", s, names())
}

func names() string {
	var n []string
	for _, p := range Profiles {
		n = append(n, string(p))
	}
	return strings.Join(n, ", ")
}

// Settles reports whether the response of session/prompt is written after the
// turn settled, so that it bounds the turn's notifications.
func (p Profile) Settles() bool { return p != Receipt }

// Methods and notifications of the wire.
const (
	MethodInitialize = "initialize"
	MethodPrompt     = "session/prompt"
	MethodShutdown   = "shutdown"

	NotificationEvent            = "session.event"
	NotificationFinished         = "session.finished"
	NotificationStatus           = "session.status"
	NotificationSubagentStarted  = "subagent.started"
	NotificationSubagentFinished = "subagent.finished"
)

// Types of session events that the protocol gives a meaning; the set is open.
const (
	EventTurnStart        = "turn/start"
	EventTurnEnd          = "turn/end"
	EventUserMessage      = "user/message"
	EventAssistantChunk   = "assistant/chunk"
	EventAssistantMessage = "assistant/message"
	EventInboxSpliced     = "agent/inbox/spliced"
)

// ServerName is the wire-stable name in the result of initialize.
const ServerName = "deepseek-harness-sdk-runtime"

// CodeHandler is the error code of a handler failure, an unknown method and a
// refused overlap; CodeMethodNotFound is what a transport without a handler answers.
const (
	CodeHandler        = -32603
	CodeMethodNotFound = -32601

	codeParseError     = -32700
	codeInvalidRequest = -32600
)

// Kinds of reasons in turn/end that the protocol names; the set is open.
const (
	KindCompleted = "completed"
	KindAborted   = "aborted"
	KindError     = "error"
	KindMaxTokens = "max-tokens"
)

// SettledStatus is the status of a directional prompt whose last turn ended with
// this kind of reason. Every kind that is neither completed nor aborted is an error.
func SettledStatus(kind string, maxTokensAsSuccess bool) string {
	switch {
	case kind == KindCompleted, kind == KindMaxTokens && maxTokensAsSuccess:
		return "ok"
	case kind == KindAborted:
		return "aborted"
	}
	return "error"
}

// statusRow is the requirement that binds the status of a turn with this kind.
func statusRow(kind string) string {
	switch kind {
	case KindCompleted:
		return "S-TRN-01"
	case KindError:
		return "S-TRN-03"
	case KindMaxTokens:
		return "S-TRN-04"
	case KindAborted:
		return "S-TRN-05"
	}
	return "S-TRN-06"
}
