package parity

import (
	"crypto/sha256"
	"fmt"
	"maps"
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

// normal is a JSON value in one form, none where there is no value.
func normal(v jsontext.Value) string {
	if len(v) == 0 {
		return none
	}
	return wire.Normal(v)
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

const unnamedSession = "«session»"

const maskedTime, maskedID, maskedText, maskedSession = `"«time»"`, `"«id»"`, `"«text»"`, `"` + unnamedSession + `"`

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
			params = masked(params, "event", masked(event, "time", jsontext.Value(maskedTime)).Normal())
		}
	case protocol.NotificationSubagentStarted, protocol.NotificationSubagentFinished:
		name = fmt.Sprintf("%s %s of %s", n.Method, of(params["childSessionId"]), of(params["parentSessionId"]))
	case protocol.NotificationStatus, protocol.NotificationFinished:
		name = fmt.Sprintf("%s %s %s", of(params["sessionId"]), n.Method, of(params["status"]))
	}
	whole := normal(n.Params)
	if params != nil {
		whole = string(params.Normal())
	}
	return p.unnamed(item{name, n.Method + " " + whole})
}

// event is an event that a call collected.
func (p *Play) event(v jsontext.Value) item {
	o, ok := wire.AsObject(v)
	if !ok {
		return item{"an event that is no object", normal(v)}
	}
	return p.unnamed(item{of(o["type"]), string(masked(o, "time", jsontext.Value(maskedTime)).Normal())})
}

// unnamed masks the sessions that the SDK has made up, wherever they stand.
func (p *Play) unnamed(it item) item {
	for _, id := range p.made {
		it.name = strings.ReplaceAll(it.name, id, unnamedSession)
		it.whole = strings.ReplaceAll(it.whole, id, unnamedSession)
	}
	return it
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
		params, _ := wire.AsObject(m.Params)
		if id, given := params.String("sessionId"); given && !p.known[id] {
			params = masked(params, "sessionId", jsontext.Value(maskedSession)) // the SDK has made it up
			o = masked(o, "params", params.Normal())
		}
		if params["sessionId"] != nil {
			it.name += " " + of(params["sessionId"])
		}
	case wire.Response:
		it.name = "a response: " + normal(o["result"])
		if e, failed := o.Object("error"); failed {
			it.name = "a response: the error " + string(masked(e, "message", jsontext.Value(maskedText)).Normal())
		}
	case wire.Notification:
		it.name = "the notification " + m.Method
	default:
		it.name = "no frame: " + protocol.Short(string(raw))
	}
	if whole {
		it.whole = p.unscratched(string(masked(o, "id", jsontext.Value(maskedID)).Normal()))
	}
	return it
}

// unscratched masks the directory that is the client's own.
func (p *Play) unscratched(s string) string {
	return strings.ReplaceAll(s, strings.Trim(string(harness.Encode(p.c.sdk.Work())), `"`), "«work»")
}
