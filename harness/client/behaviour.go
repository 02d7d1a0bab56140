package client

import (
	"fmt"

	"github.com/dshconform/dshconform/harness/protocol"
)

// All, in Behaviour.Manual, stands for every method.
const All = "*"

// Behaviour is what a runtime does by itself. The zero value is a sound server: it answers the handshake, runs a turn
// for each prompt, refuses what it does not know, ends at shutdown, at the end of stdin and at SIGTERM.
type Behaviour struct {
	Profile protocol.Profile // "" for the relay's
	// Manual names the methods whose requests are left to the spec.
	Manual []string
	// Turn is what a prompt gets.
	Turn Turn
	// IgnoreShutdown answers shutdown and lives on; IgnoreEOF and IgnoreTerm live on after the end of stdin and after
	// signals that can be caught. All three, with shutdown left to the spec, make a runtime that only SIGKILL ends.
	IgnoreShutdown, IgnoreEOF, IgnoreTerm bool
}

// Stubborn is a runtime that only SIGKILL ends.
func Stubborn() Behaviour {
	return Behaviour{Manual: []string{protocol.MethodShutdown}, IgnoreShutdown: true, IgnoreEOF: true, IgnoreTerm: true}
}

// Behave changes what the runtime does by itself from now on. Requests that wait for the spec stay with it.
func (rt *Runtime) Behave(b Behaviour) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if b.Profile == "" {
		b.Profile = rt.b.Profile
	}
	rt.b = b
}

// enqueue has a request answered by the behaviour; nil stands for the end of stdin. The caller holds the lock.
func (rt *Runtime) enqueue(q *Request) {
	rt.queue = append(rt.queue, q)
	if !rt.answered {
		rt.answered = true
		rt.group.Go(rt.answerAll)
	}
}

// answerAll works on the queue until it is empty.
func (rt *Runtime) answerAll() {
	for {
		rt.mu.Lock()
		if len(rt.queue) == 0 || rt.life.Err() != nil {
			rt.answered = false
			rt.mu.Unlock()
			return
		}
		q := rt.queue[0]
		rt.queue = rt.queue[1:]
		b := rt.b
		rt.mu.Unlock()
		if q == nil {
			_ = rt.Exit(0) // it may have ended already
			continue
		}
		rt.answer(q, b)
	}
}

// answer does what a sound server does with a request. That the SDK does not take it is for the spec to find.
func (rt *Runtime) answer(q *Request, b Behaviour) {
	var err error
	switch q.Method() {
	case protocol.MethodInitialize:
		err = rt.Write(rt.life, q.Handshake())
	case protocol.MethodPrompt:
		err = rt.Write(rt.life, q.Turn(b.Turn).Joined())
	case protocol.MethodShutdown:
		if err = rt.Write(rt.life, q.Result(struct{}{})); !b.IgnoreShutdown {
			_ = rt.Exit(0) // it may have ended already
		}
	default:
		err = rt.Write(rt.life, q.Error(protocol.CodeHandler, "unknown DeepSeek Harness SDK runtime method: "+q.Method()))
	}
	if err != nil {
		rt.Note("the answer to %s was not taken: %v", protocol.Short(q.Method()), err)
	}
}

// Handshake is the line of the sound answer to initialize.
func (q *Request) Handshake() []byte {
	return q.Result(map[string]any{"serverInfo": map[string]any{"name": protocol.ServerName, "version": "0.0.0-dshconform"}})
}

// Refused is the line with which a server refuses an overlapping prompt.
func (q *Request) Refused() []byte {
	return q.Error(protocol.CodeHandler, fmt.Sprintf("session already has an active prompt: %s", q.SessionID()))
}
