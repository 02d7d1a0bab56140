package server

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// surrogatePrompt is a prompt with half of a surrogate pair. Nothing is owed to it:
// to a strict reader its line is no JSON.
type surrogatePrompt struct {
	*Turn
	script model.Script
}

// loneSurrogate sends such a prompt, waits until what comes of it has come, and tells
// what the model got of it. The error says that turns do not run or settle any more.
func (t *T) loneSurrogate(s *harness.Server, session string) (p surrogatePrompt, modelGot string, err error) {
	script := t.Script(model.Text("Fine."))
	prompt := strings.Replace(rawly(script.Prompt(framed("a%b"))), "%", `\ud800`, 1)
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":"%s","contentBlocks":[{"type":"text","text":%s}]}}`+"\n", s.NewID().Token(), session, prompt)
	turn := t.BeginPieces(s, session, []byte(line))
	turn.Disown()
	p = surrogatePrompt{turn, script}
	// A whole turn on another session takes longer than to begin this one, nearly always.
	another := func() error {
		_, err := t.Begin(s, t.Session(), t.Script(model.Text("Fine."))).TrySettle()
		return err
	}
	refused := another()
	if refused != nil && !isRefused(refused) {
		return p, "", refused
	}
	if err := p.settle(); err != nil {
		return p, "", err
	}
	if refused != nil { // one session at a time is S-OVL-04's
		if err := another(); err != nil {
			return p, "", err
		}
	}
	calls := t.run.stub.CallsByTag(script.Tag)
	if len(calls) == 0 {
		if m, answered := turn.Now(); answered && m.Error != nil {
			return p, "no model call: the prompt is refused", nil
		} else if !answered {
			return p, "no model call: the prompt is ignored", nil
		}
		return p, "no model call", nil
	}
	return p, gotOfSurrogate(calls[len(calls)-1]), nil
}

func (p surrogatePrompt) begun() bool { return p.t.begun(p.Turn, p.script) }

// settle waits for the prompt's turn, where it has begun.
func (p surrogatePrompt) settle() error {
	if !p.begun() {
		return nil
	}
	if settled, err := p.TrySettle(); err != nil && settled.Response.Error == nil {
		return err
	}
	return nil
}

// gotOfSurrogate finds what stands in the place of the surrogate. Decoded text
// has U+FFFD there; the literal of the body tells whether the body had.
func gotOfSurrogate(c model.Call) string {
	for _, m := range c.Messages {
		for i, text := range m.Texts {
			got, ok := passage([]string{text})
			if m.Role != "user" || !ok {
				continue
			}
			if m.Lossy() && strings.Contains(strings.ToLower(m.RawTexts[i]), `a\ud800b`) {
				return `the escape \ud800`
			}
			switch got {
			case "ab":
				return "nothing: it is dropped"
			case "a\ufffdb":
				if m.Lossy() && m.RawTexts[i] != "" {
					return "bytes that are no UTF-8"
				}
				return "U+FFFD"
			}
			return fmt.Sprintf("%+q", got)
		}
	}
	return "a call without the prompt"
}

// afterLoneSurrogate: what a lone surrogate came into is not spoiled by it. The
// texts behind it are ASCII: what becomes of others is S-ENC-01's.
func afterLoneSurrogate(t *T) {
	srv := t.Shared()
	session, other := t.Session(), t.Session()
	mark := srv.Mark()
	t.Run(srv, session, model.Text("Before."))
	before := t.Run(srv, other, model.Text("Before."))
	p, _, err := t.loneSurrogate(srv, session)
	if !t.Judge(err, "behind a prompt with a lone surrogate turns run and settle", Sent(srv.Since(mark))...) {
		return
	}
	waited := p.begun()
	for _, s := range []struct{ id, name string }{{other, "another"}, {t.Session(), "a new"}, {session, "this"}} {
		problem, lines, err := t.plainTurn(srv, s.id, before.Kind)
		if s.id == session && !waited && (problem != "" || err != nil) && p.begun() {
			// The prompt was slow to begin, and its turn stood in the way of this one.
			if err = p.settle(); err == nil {
				problem, lines, err = t.plainTurn(srv, s.id, before.Kind)
			}
		}
		expected := "behind a prompt with a lone surrogate turns of " + s.name + " session run and show as before"
		if !t.Judge(err, expected, lines...) || !t.Expect(problem == "", expected, problem, lines...) {
			return
		}
	}
}

// plainTurn runs a turn of ASCII and says what is wrong with what it shows.
func (t *T) plainTurn(srv *harness.Server, session, kind string) (problem string, lines []wire.Line, err error) {
	script := t.Script(model.Text("After."))
	turn := t.BeginText(srv, session, script.Prompt(framed("plain")))
	settled, err := turn.TrySettle()
	if err != nil {
		return "", []wire.Line{turn.Line}, err
	}
	inEvent, _ := shown(settled.Events)
	switch r := replyOf(settled.Events); {
	case settled.Kind != kind:
		return "the turn ended with " + orNone(settled.Kind), []wire.Line{turn.Line, turnEndLine(settled)}, nil
	case inEvent.is != "plain" || r.message != "After.":
		return fmt.Sprintf("user/message shows %s, assistant/message %q", inEvent, r.message), []wire.Line{turn.Line, r.line}, nil
	}
	return "", nil, nil
}

func orNone(kind string) string {
	if kind == "" {
		return "no turn/end"
	}
	return "kind " + kind
}

// turnEndLine is the line of the last turn/end of a settled turn.
func turnEndLine(settled Settled) (line wire.Line) {
	for _, e := range settled.Events {
		if e.Type == protocol.EventTurnEnd {
			line = e.Line
		}
	}
	return line
}
