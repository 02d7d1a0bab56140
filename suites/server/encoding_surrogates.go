package server

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// loneSurrogate sends a prompt with half of a surrogate pair, waits until what
// comes of it has come, and tells what the model got of it. Nothing is owed to
// such a prompt: to a strict reader its line is no JSON. The error says that
// turns do not run or settle any more.
func (t *T) loneSurrogate(s *harness.Server, session string) (modelGot string, err error) {
	script := t.Script(model.Text("Fine."))
	prompt := strings.Replace(rawly(script.Prompt(framed("a%b"))), "%", `\ud800`, 1)
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":"%s","contentBlocks":[{"type":"text","text":%s}]}}`+"\n", s.NewID().Token(), session, prompt)
	turn := t.BeginPieces(s, session, []byte(line))
	turn.Disown()
	// A whole turn on another session is longer than it takes to begin this one.
	if _, err := t.Begin(s, t.Session(), t.Script(model.Text("Fine."))).TrySettle(); err != nil {
		return "", err
	}
	if t.begun(turn, script) {
		if settled, err := turn.TrySettle(); err != nil && settled.Response.Error == nil {
			return "", err
		}
	}
	calls := t.run.stub.CallsByTag(script.Tag)
	if len(calls) == 0 {
		if m, answered := turn.Now(); answered && m.Error != nil {
			return "no model call: the prompt is refused", nil
		} else if !answered {
			return "no model call: the prompt is ignored", nil
		}
		return "no model call", nil
	}
	return gotOfSurrogate(calls[len(calls)-1]), nil
}

// begun reports whether there is any sign that a prompt was taken.
func (t *T) begun(turn *Turn, script model.Script) bool {
	_, answered := turn.Now()
	return answered || len(turn.Events()) > 0 || len(t.run.stub.CallsByTag(script.Tag)) > 0
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
	if _, err := t.loneSurrogate(srv, session); !t.Judge(err, "behind a prompt with a lone surrogate turns run and settle", Sent(srv.Since(mark))...) {
		return
	}
	for _, s := range []struct{ id, name string }{{session, "this"}, {other, "another"}, {t.Session(), "a new"}} {
		script := t.Script(model.Text("After."))
		turn := t.BeginText(srv, s.id, script.Prompt(framed("plain")))
		settled, err := turn.TrySettle()
		expected := "behind a prompt with a lone surrogate turns of " + s.name + " session run and show as before"
		if !t.Judge(err, expected, turn.Line) {
			return
		}
		inEvent, _ := shown(settled.Events)
		switch r := replyOf(settled.Events); {
		case settled.Kind != before.Kind:
			t.Fail(expected, "the turn ended with "+orNone(settled.Kind), turn.Line, turnEndLine(settled))
		case inEvent.is != "plain" || r.message != "After.":
			t.Fail(expected, fmt.Sprintf("user/message shows %s, assistant/message %q", inEvent, r.message), turn.Line, r.line)
		}
	}
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
