package model

import (
	"context"
	"fmt"
	"net/http"
)

// toolCall is a call that the model makes.
type toolCall struct {
	id        string
	arguments []byte // JSON
}

// A reply turns steps into the bytes of one dialect, streamed or whole. An error means that nobody reads any
// more.
type reply interface {
	delta(text []byte) error
	call(calls []toolCall) error
	finish(reason string) error // ends the answer well; reason is "" where the script names none
	fail(status int, message string) (cut bool, err error)
	flush() error
}

// play records the call and answers it by steps. It empties received: an answer may take as long as a gate is
// shut, and what it needs of the request is little.
func (s *Stub) play(w http.ResponseWriter, r *http.Request, received *Call, steps []Step) {
	c := s.record.add(*received)
	*received = Call{}
	c.Body, c.Messages = nil, nil

	out := newOutput(w)
	p := player{stub: s, ctx: r.Context(), call: c, out: out, reply: newReply(out, c)}
	outcome, cut := p.run(steps)
	s.record.end(c.Seq, outcome)
	if cut {
		panic(http.ErrAbortHandler) // net/http's way to cut a connection
	}
}

func newReply(out *output, c Call) reply {
	switch {
	case !c.Stream:
		return &wholeReply{out: out, asked: c}
	case c.Dialect == Messages:
		return newMessagesStream(out, c)
	default:
		return newChatStream(out, c)
	}
}

type player struct {
	stub    *Stub
	ctx     context.Context
	call    Call
	out     *output
	reply   reply
	letters int // of the events so far: see eventText
}

// run plays steps, and tells whether the connection must be cut.
func (p *player) run(steps []Step) (outcome Outcome, cut bool) {
	reason := ""
	for _, step := range steps {
		var err error
		switch step.Kind {
		case KindText:
			err = p.text(step)
		case KindEvents:
			err = p.events(step)
		case KindGate:
			if err = p.reply.flush(); err == nil {
				err = p.stub.gates.get(step.Gate).wait(p.ctx)
			}
		case KindFail:
			message := step.Message
			if message == "" {
				message = "failed as the script says"
			}
			if cut, err = p.reply.fail(step.Status, message); err == nil {
				return Failed, cut
			}
		case KindDrop:
			if err = p.reply.flush(); err == nil {
				return Dropped, true
			}
		case KindFinish:
			reason = step.Finish
		case KindSubagent:
			err = p.spawn(step)
		}
		if err != nil {
			return ClientLeft, true
		}
	}
	if err := p.reply.finish(reason); err != nil {
		return ClientLeft, true
	}
	return Replied, false
}

func (p *player) text(step Step) error {
	if !step.Cut {
		if err := p.reply.delta([]byte(step.Text)); err != nil {
			return err
		}
		return p.reply.flush()
	}
	if err := p.reply.flush(); err != nil {
		return err
	}
	p.out.cut = true
	err := p.reply.delta([]byte(step.Text))
	if p.call.Stream { // a whole reply is written at its end, and cut there
		p.out.cut = false
	}
	return err
}

func (p *player) events(step Step) error {
	text := eventText(p.letters%len(alphabet), len(alphabet)+step.Size)
	for i := range step.Events {
		from := i * step.Size % len(alphabet)
		if err := p.reply.delta(text[from : from+step.Size]); err != nil {
			return err
		}
		if i%1024 == 0 && p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
	}
	p.letters += step.Events * step.Size
	return nil
}

// spawn calls the subagents, or says that it can't.
func (p *player) spawn(step Step) error {
	if p.call.NoSubagentTool {
		return p.reply.delta([]byte("The script calls the tool " + SubagentTool + ", which this request does not offer."))
	}
	calls := make([]toolCall, 0, len(step.Subagents))
	for i, child := range step.Subagents {
		calls = append(calls, toolCall{
			id:        fmt.Sprintf("call_%d_%d", p.call.Seq, i+1),
			arguments: jsonObject(`{"description":`, child.Description, `,"prompt":`, child.FullPrompt(), `}`),
		})
	}
	return p.reply.call(calls)
}
