package parity

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// members is what a script makes JSON of.
type members = map[string]any

func block(s string) any { return harness.TextBlock(s) }

// lined are texts as lines, joined.
func lined(texts ...string) []byte { return []byte(strings.Join(texts, "\n") + "\n") }

// texts are inputs that are called what they are.
func texts(list ...string) (inputs []input[string]) {
	for _, s := range list {
		name := fmt.Sprintf("%+q", s)
		if strings.ContainsAny(s, "{[\"") {
			name = s
		}
		inputs = append(inputs, input[string]{shortName(name), s})
	}
	return inputs
}

// shortName is the name of an input, which stands in front of its fields.
func shortName(s string) string {
	const most = 56
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

// numbered are events of a session, each with a number of its own. They have no part
// in an answer.
func numbered(s *harness.Session, from, n int) (lines [][]byte) {
	for i := range n {
		content := harness.Encode([]any{block(fmt.Sprint("number ", from+i))})
		lines = append(lines, s.UserMessage(fmt.Sprintf("number-%d", from+i), content))
	}
	return lines
}

// foreign are responses under an id: an error and a result that are nobody's.
func foreign(id wire.ID) []byte {
	failed := []byte(`{"jsonrpc":"2.0","id":` + id.Token() + `,"error":{"code":-32700,"message":"nobody's error"}}` + "\n")
	return append(failed, harness.ResultLine(id, members{
		"status": "aborted", "reason": harness.Reason("nobody's"), "accepted": true, "messageId": "nobody's",
	})...)
}

// with is an object of names and values as they are written; one without a value is
// left out.
func with(pairs ...string) jsontext.Value {
	var b bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == absent {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], pairs[i+1])
	}
	return jsontext.Value("{" + b.String() + "}")
}

// absent stands for a member that is left out.
const absent = "absent"

// settling is a turn that settles with a status and a reason as they are written, in
// the way of the profile: receipt has no status, and its reason is that of turn/end.
func (a *Asked) settling(status, reason string) []byte {
	turn := a.Turn(harness.Turn{})
	session := string(harness.Encode(a.Q.SessionID()))
	switch a.p.Profile {
	case protocol.Directional:
		turn.Response = a.Q.Result(with("status", status, "reason", reason))
	case protocol.Accepted:
		turn.Before[len(turn.Before)-1] = harness.NotificationLine(protocol.NotificationFinished, with("sessionId", session, "status", status, "reason", reason))
	case protocol.Receipt:
		turn.After[len(turn.After)-2] = turn.Session.Event(protocol.EventTurnEnd, with("turn", "1", "reason", reason))
	}
	return turn.Joined()
}

// damaged writes a line in the place of the response to the call, and a sound turn
// behind it: what the call settles with tells what became of the line. The error that
// the line may carry has the message "damaged".
func (a *Asked) damaged(line []byte) {
	a.told = "damaged"
	a.Write(line, a.Turn(harness.Turn{}).Joined())
	a.Ends()
}

// refusal is the line of an error response whose message is "damaged".
func (a *Asked) refusal() []byte { return a.Q.Error(protocol.CodeHandler, "damaged") }
