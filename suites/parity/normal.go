package parity

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// none stands for a member that the driver offers and this call did not give.
const none = "(none)"

// mostShown bounds a value in a difference, in characters.
const mostShown = 160

// shown is a text as a difference shows it. What is left out is told apart by its
// digest, so that values are the same where, and only where, the texts are.
func shown(s string) string {
	runes := []rune(s)
	if len(runes) <= mostShown {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%s… (%d characters, %x)", string(runes[:mostShown]), len(runes), sum[:4])
}

// normal is a JSON value in one form: no white space, members sorted, numbers and
// strings written in one way.
func normal(v jsontext.Value) string {
	if len(v) == 0 {
		return none
	}
	var b strings.Builder
	write(&b, v)
	return b.String()
}

func write(b *strings.Builder, v jsontext.Value) {
	switch v.Kind() {
	case '{':
		o, _ := wire.AsObject(v)
		writeObject(b, o)
	case '[':
		list, _ := wire.AsArray(v)
		b.WriteByte('[')
		for i, e := range list {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, e)
		}
		b.WriteByte(']')
	case '"':
		b.WriteString(quoted(text(v)))
	case '0':
		b.WriteString(number(v))
	default:
		b.Write(v)
	}
}

func writeObject(b *strings.Builder, o wire.Object) {
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(name) + ":")
		write(b, o[name])
	}
	b.WriteByte('}')
}

// object is one that was made of another.
func object(o wire.Object) jsontext.Value {
	var b strings.Builder
	writeObject(&b, o)
	return jsontext.Value(b.String())
}

// masked is the object with a value in the place of a member that is there.
func masked(o wire.Object, name string, v jsontext.Value) wire.Object {
	if _, there := o[name]; !there {
		return o
	}
	c := maps.Clone(o)
	c[name] = v
	return c
}

const maskedTime, maskedID, maskedText = `"«time»"`, `"«id»"`, `"«text»"`

// number writes a number in one way: drivers hold it as their language does. One that a
// double does not hold stays as it is.
func number(v jsontext.Value) string {
	f, err := strconv.ParseFloat(string(v), 64)
	c := v.Clone()
	if err != nil || math.Abs(f) >= 1<<53 || c.Canonicalize() != nil {
		return string(v)
	}
	return string(c)
}

// text is a string. A lone surrogate, which is no character, is written as what it is:
// languages differ in what they make of one.
func text(v jsontext.Value) string {
	raw := []byte(v)
	if _, err := jsontext.AppendUnquote(nil, raw); err == nil || !strings.Contains(string(raw), `\u`) {
		return wire.Unquote(v)
	}
	var b []byte
	for i := 0; i < len(raw); {
		n := 1
		if raw[i] == '\\' {
			n = 2
			if raw[i+1] == 'u' {
				n = 6
			}
		}
		unit := raw[i : i+n]
		pair := raw[i:min(i+12, len(raw))]
		switch {
		case n == 6 && len(pair) == 12 && unquotes(pair) && !unquotes(unit):
			b, n = append(b, pair...), 12
		case n == 6 && !unquotes(unit):
			b = append(b, "«lone "+strings.ToLower(string(unit[2:]))+"»"...)
		default:
			b = append(b, unit...)
		}
		i += n
	}
	return wire.Unquote(b)
}

func unquotes(piece []byte) bool {
	_, err := jsontext.AppendUnquote(nil, slices.Concat([]byte{'"'}, piece, []byte{'"'}))
	return err == nil
}

func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return fmt.Sprintf("%q", s) // not UTF-8
	}
	return string(b)
}

// notification is one as an element of a list: its name says of whom it is and what it
// tells.
func (p *Play) notification(n harness.Notification) item {
	params, _ := wire.AsObject(n.Params)
	name := n.Method
	switch n.Method {
	case protocol.NotificationEvent:
		event, _ := params.Object("event")
		name = of(params["sessionId"]) + " " + of(event["type"])
		if event != nil {
			params = masked(params, "event", object(masked(event, "time", jsontext.Value(maskedTime))))
		}
	case protocol.NotificationSubagentStarted, protocol.NotificationSubagentFinished:
		name = fmt.Sprintf("%s %s of %s", n.Method, of(params["childSessionId"]), of(params["parentSessionId"]))
	case protocol.NotificationStatus, protocol.NotificationFinished:
		name = fmt.Sprintf("%s %s %s", of(params["sessionId"]), n.Method, of(params["status"]))
	}
	whole := normal(n.Params)
	if params != nil {
		whole = string(object(params))
	}
	return item{name, n.Method + " " + whole}
}

// event is an event that a call collected.
func (p *Play) event(v jsontext.Value) item {
	o, ok := wire.AsObject(v)
	if !ok {
		return item{"an event that is no object", normal(v)}
	}
	return item{of(o["type"]), string(object(masked(o, "time", jsontext.Value(maskedTime))))}
}

// of is a member that should be a short string, as a name shows it.
func of(v jsontext.Value) string {
	if s := wire.Unquote(v); v.Kind() == '"' && s != "" && len(s) <= 40 {
		return s
	}
	return protocol.Short(normal(v))
}

// frame is a line that the SDK wrote, its id masked. The name of a request tells its
// session and no more: that prompts are whole is a scenario of its own.
func (p *Play) frame(m wire.Message, raw []byte, whole bool) item {
	var it item
	o, _ := wire.AsObject(jsontext.Value(strings.TrimSpace(string(raw))))
	switch m.Kind {
	case wire.Request:
		it.name = m.Method
		if params, _ := wire.AsObject(m.Params); params["sessionId"] != nil {
			it.name += " " + of(params["sessionId"])
		}
	case wire.Response:
		it.name = "a response: " + normal(o["result"])
		if e, failed := o.Object("error"); failed {
			it.name = "a response: the error " + string(object(masked(e, "message", jsontext.Value(maskedText))))
		}
	case wire.Notification:
		it.name = "the notification " + m.Method
	default:
		it.name = "no frame: " + protocol.Short(string(raw))
	}
	if whole {
		it.whole = p.unscratched(string(object(masked(o, "id", jsontext.Value(maskedID)))))
	}
	return it
}

// unscratched masks the directory that is the client's own.
func (p *Play) unscratched(s string) string {
	return strings.ReplaceAll(s, strings.Trim(quoted(p.c.sdk.Work()), `"`), "«work»")
}
