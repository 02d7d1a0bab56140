package client

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Peer is a client of the SDK with the runtime that it launched.
type Peer struct {
	*harness.Client
	RT *harness.Runtime
	t  *T
}

// Shown is the part of a conversation that shows a mismatch: what came since a mark.
// The zero value shows nothing.
type Shown struct {
	rt   *harness.Runtime
	mark harness.Mark
}

// Since is what comes from now on.
func (p *Peer) Since() Shown { return Shown{p.RT, p.RT.Mark()} }

// frames are the first and the last lines: in between a flood may stand.
func (s Shown) frames() (lines []wire.Line) {
	if s.rt == nil {
		return nil
	}
	for _, e := range s.rt.Since(s.mark) {
		lines = append(lines, protocol.Evidence(e.Line))
	}
	const head, tail = 6, 12
	if len(lines) > head+tail {
		lines = slices.Delete(lines, head, len(lines)-tail)
	}
	return lines
}

// Asked is a request, most often a prompt, that has reached the runtime and waits for its answer.
type Asked struct {
	*harness.Call
	*Peer
	Q     *harness.Request
	Shown Shown
}

// Ask has the SDK prompt on a session of its own. The spec ends where the prompt does
// not reach the runtime.
func (p *Peer) Ask() *Asked {
	return p.AskWith(harness.Prompt{SessionID: p.t.Session(), Text: p.t.Text("prompt")})
}

// AskWith is Ask for any prompt.
func (p *Peer) AskWith(prompt harness.Prompt) *Asked {
	a, err := p.ask(prompt)
	p.t.Need("a prompt reaches the runtime", err)
	return a
}

// otherMethod is a method of requests that are no prompts, for which specs hold the runtime's answer back.
const otherMethod = "dshconform/ask"

// AskOther has the SDK send a request that is no prompt, which a driver has to offer.
func (p *Peer) AskOther() *Asked {
	shown := p.Since()
	call, err := p.GoRequest(p.t.Ctx, otherMethod, object{"a": 1})
	p.t.Need("send a request", err)
	p.t.own(call)
	q, err := p.RT.Next(p.t.Ctx, otherMethod)
	p.t.Need("a request reaches the runtime", err)
	return &Asked{Call: call, Peer: p, Q: q, Shown: shown}
}

func (p *Peer) ask(prompt harness.Prompt) (*Asked, error) {
	shown := p.Since()
	call, err := p.GoPrompt(p.t.Ctx, prompt)
	if err != nil {
		return nil, err
	}
	p.t.own(call)
	q, err := p.RT.NextPrompt(p.t.Ctx, prompt.SessionID)
	if err == nil {
		return &Asked{Call: call, Peer: p, Q: q, Shown: shown}, nil
	}
	return nil, p.unasked(call, err)
}

// unasked says why the request of a call did not reach the runtime. Where that is gone
// the call says more, or the process that it was made in is gone as well.
func (p *Peer) unasked(call *harness.Call, err error) error {
	var gone *harness.GoneError
	if errors.As(err, &gone) {
		if _, ended := call.AwaitWithin(p.t.Ctx, p.t.run.deadlines.Leave); ended != nil {
			return ended
		}
	}
	if reply, over := call.Over(); over && reply.Err != nil {
		return fmt.Errorf("it was over before: %w", reply.Err)
	}
	return err
}

// Answer is a turn as it is written, with the text that the caller has to get of it.
type Answer struct {
	harness.Played
	Text string
}

// Turn makes the sound answer to the prompt that brings this turn. Without a text it
// has one of its own.
func (a *Asked) Turn(turn harness.Turn) Answer {
	if turn.Text == "" && turn.Blocks == nil && !turn.Silent {
		turn.Text = a.t.Text("answer")
	}
	return Answer{a.Q.Turn(turn), turn.Text}
}

// settling are the lines of the answer up to the last, with which the call settles:
// where calls return with the receipt, that is the response.
func (a *Asked) settling(answer Answer) (before [][]byte, last []byte) {
	lines := answer.Lines()
	if !a.t.Hello.Settles && a.t.Profile == protocol.Receipt {
		lines = append(slices.Clone(answer.Before), answer.Response)
	}
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// Write judges that the SDK takes what the runtime writes.
func (p *Peer) Write(expected string, pieces ...[]byte) bool {
	return p.t.Judge(p.RT.Write(p.t.Ctx, pieces...), expected)
}

// Write judges that the SDK takes what the runtime writes. Where it does not, the call may
// say why.
func (a *Asked) Write(expected string, pieces ...[]byte) bool {
	return a.took(expected, a.RT.Write(a.t.Ctx, pieces...))
}

// writeApart is Write with each piece read by itself.
func (a *Asked) writeApart(expected string, pieces ...[]byte) bool {
	return a.took(expected, a.RT.WriteApart(a.t.Ctx, pieces...))
}

func (a *Asked) took(expected string, err error) bool {
	if reply, over := a.Over(); err != nil && over && reply.Err != nil {
		err = fmt.Errorf("%w; %w", reply.Err, err)
	}
	return a.t.Judge(err, expected, a.Shown.frames()...)
}

// Settles writes what stands before the answer, and the answer, as one piece, and
// judges that the caller gets it.
func (a *Asked) Settles(expected string, answer Answer, before ...[]byte) bool {
	pieces := append(slices.Clone(before), answer.Joined())
	return a.Write(expected, slices.Concat(pieces...)) && a.Gets(expected, answer)
}

// Gets judges that the call settles with the answer, whose lines were written.
func (a *Asked) Gets(expected string, answer Answer) bool {
	reply, ok := a.t.Ended(a.Call, expected, a.Shown)
	if !ok {
		return false
	}
	if reply.Err != nil {
		return a.t.Expect(false, expected, reply.Err.Error(), a.Shown.frames()...)
	}
	why := a.t.differs(reply.Outcome(), answer)
	return a.t.Expect(why == "", expected, why, a.Shown.frames()...)
}

// differs says where an outcome is not the answer's; "" where it is. It looks at what
// tells answers apart: status and reason are much the same in all, and the subject of
// requirements of their own.
func (t *T) differs(o harness.Outcome, answer Answer) string {
	h := t.Hello
	switch {
	case h.Gives("messageId") && answer.MessageID != "" && harness.Text(o.MessageID) != answer.MessageID:
		return fmt.Sprintf("the caller gets the messageId %s", given(o.MessageID))
	case h.Gives("finalResponse") && h.Settles && harness.Text(o.FinalResponse) != answer.Text:
		return fmt.Sprintf("the caller gets the final response %s, where the answer is %q", given(o.FinalResponse), protocol.Short(answer.Text))
	}
	return ""
}

// given is a value that an SDK gave, as a report shows it.
func given(v jsontext.Value) string {
	if len(v) == 0 {
		return "(none)"
	}
	return protocol.Short(string(v))
}

// Asks judges that a further prompt reaches the runtime.
func (p *Peer) Asks(expected string) (*Asked, bool) {
	return p.AsksWith(expected, harness.Prompt{SessionID: p.t.Session(), Text: p.t.Text("prompt")})
}

// AsksWith is Asks for any prompt.
func (p *Peer) AsksWith(expected string, prompt harness.Prompt) (*Asked, bool) {
	a, err := p.ask(prompt)
	if err == nil {
		return a, true
	}
	p.t.Conclude(err)
	p.t.visit.Spoil("stuck in " + p.t.ID)
	p.t.Fail(expected, "its prompt does not reach the runtime: "+harness.Explain(err))
	return nil, false
}

// Works judges that a further prompt of the client settles well.
func (p *Peer) Works(expected string) bool {
	a, ok := p.Asks(expected)
	return ok && a.Settles(expected, a.Turn(harness.Turn{}))
}

// joined are lines as one piece.
func joined(lines [][]byte) []byte { return bytes.Join(lines, nil) }
