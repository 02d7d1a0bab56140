package server

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// A text under test stands between these two, which are ASCII: so it is found
// again whatever was made of it.
const (
	textBegins = "[text[ "
	textEnds   = " ]text]"
)

func framed(text string) string { return textBegins + text + textEnds }

// passage gives what stands between the marks in the last of texts that has them.
func passage(texts []string) (string, bool) {
	for i := len(texts) - 1; i >= 0; i-- {
		if _, rest, ok := strings.Cut(texts[i], textBegins); ok {
			if text, _, ok := strings.Cut(rest, textEnds); ok {
				return text, true
			}
		}
	}
	return "", false
}

// stringsIn are all strings of a JSON value, at any depth.
func stringsIn(v jsontext.Value) (all []string) {
	switch v.Kind() {
	case '"':
		return []string{wire.Unquote(v)}
	case '[':
		elements, _ := wire.AsArray(v)
		for _, e := range elements {
			all = append(all, stringsIn(e)...)
		}
	case '{':
		members, _ := wire.AsObject(v)
		for _, m := range members {
			all = append(all, stringsIn(m)...)
		}
	}
	return all
}

// text is what became of a text in one place.
type text struct {
	found bool
	is    string
}

func (x text) String() string {
	if !x.found {
		return "no such text"
	}
	return fmt.Sprintf("%+q", x.is)
}

// differing shows where a text departs from the one that was meant.
func differing(got, meant string) string {
	at := 0
	for at < len(got) && at < len(meant) && got[at] == meant[at] {
		at++
	}
	for at > 0 && at < len(meant) && !utf8.RuneStart(meant[at]) {
		at--
	}
	excerpt := func(s string) string {
		const most = 24 // runes
		if runes := []rune(s[min(at, len(s)):]); len(runes) > most {
			return fmt.Sprintf("%+q…", string(runes[:most]))
		}
		return fmt.Sprintf("%+q", s[min(at, len(s)):])
	}
	return fmt.Sprintf("from byte %d on %s in the place of %s", at, excerpt(got), excerpt(meant))
}

// toModel is the text of a prompt as the model call of its turn brought it.
func (t *T) toModel(script model.Script) text {
	var x text
	for _, c := range t.run.stub.CallsByTag(script.Tag) {
		x.is, x.found = passage(c.UserTexts())
	}
	return x
}

// shown is the text of a prompt as the user/message events of its turn show it,
// and the line that does.
func shown(events []Event) (x text, line wire.Line) {
	for _, e := range events {
		if e.Type != protocol.EventUserMessage {
			continue
		}
		var all []string
		for _, member := range e.Data {
			all = append(all, stringsIn(member)...)
		}
		if is, found := passage(all); found {
			return text{true, is}, e.Line
		}
	}
	return x, line
}

// BeginPieces sends the frame of a prompt as these pieces, each when the subject
// has taken up the one before.
func (t *T) BeginPieces(s *harness.Server, session string, pieces ...[]byte) *Turn {
	mark := s.Mark()
	calls := t.WriteApart(s, pieces...)
	return &Turn{calls[0], session, t, s, mark}
}

// reply is what the events of a turn show of the assistant's text.
type reply struct {
	message string // of all assistant/message, joined
	chunks  string // of all assistant/chunk, joined
	chunked bool   // there were chunks whose text this suite knows how to find
	line    wire.Line
}

func replyOf(events []Event) (r reply) {
	var said, chunks strings.Builder // a turn may have 16 MiB in a thousand events
	for _, e := range events {
		switch e.Type {
		case protocol.EventAssistantMessage:
			message, _ := e.Data.Object("message")
			blocks, _ := wire.AsArray(message["content"])
			for _, b := range blocks {
				block, _ := wire.AsObject(b)
				text, _ := block.String("text")
				said.WriteString(text)
			}
			r.line = e.Line
		case protocol.EventAssistantChunk:
			if text, ok := delta(e.Data); ok {
				chunks.WriteString(text)
				r.chunked = true
			}
		}
	}
	r.message, r.chunks = said.String(), chunks.String()
	return r
}

// delta finds the text of a chunk, in the forms that are in use.
func delta(data wire.Object) (string, bool) {
	for _, member := range []string{"chunk", "delta"} {
		if o, ok := data.Object(member); ok {
			if kind, _ := o.String("type"); kind == "text-delta" || kind == "text_delta" || kind == "text" {
				return o.String("text")
			}
		}
	}
	return "", false
}
