package protocol

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// What follows writes the lines of conversations; see conversation.

func lines(l ...string) string { return strings.Join(l, "\n") }

func prompt(id, session string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%q,"method":"session/prompt","params":{"sessionId":%q,"contentBlocks":[{"type":"text","text":"Go."}]}}`, id, session)
}

func result(id, members string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%q,"result":%s}`, id, members)
}

func refusal(id string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%q,"error":{"code":-32603,"message":"no"}}`, id)
}

func notify(method, params string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func event(session string, seq int, kind, data string) string {
	return notify("session.event", fmt.Sprintf(`{"sessionId":%q,"event":{"type":%q,"seq":%d,"time":1790000000000,"data":%s}}`, session, kind, seq, data))
}

func starts(session string, seq, turn int) string {
	return event(session, seq, "turn/start", fmt.Sprintf(`{"turn":%d}`, turn))
}

func says(session string, seq, turn int, text string) string {
	return event(session, seq, "assistant/message", fmt.Sprintf(`{"turn":%d,"step":1,"message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`, turn, text))
}

func ends(session string, seq, turn int, kind string) string {
	return event(session, seq, "turn/end", fmt.Sprintf(`{"turn":%d,"reason":{"kind":%q}}`, turn, kind))
}

const (
	settledOK = `{"status":"ok","reason":{"kind":"completed"}}`
	shutdown  = `> {"jsonrpc":"2.0","id":"z","method":"shutdown"}`
	shut      = `< {"jsonrpc":"2.0","id":"z","result":{}}` + "\n! told"
)

func settledError(kind string) string {
	return fmt.Sprintf(`{"status":"error","reason":{"kind":%q}}`, kind)
}

// turn is a whole completed turn of a session with three events from seq on.
func turn(session string, seq, number int) string {
	return lines(starts(session, seq, number), says(session, seq+1, number, "Fine."), ends(session, seq+2, number, "completed"))
}

type small struct {
	name, script string
	rows         []string
}

func judge(t *testing.T, o Options, cases []small) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			NewWithT(t).Expect(conversation(o, c.script)).To(Equal(c.rows))
		})
	}
}

func one(row string) []string { return []string{row} }

func TestDirectionalTurns(t *testing.T) {
	judge(t, Options{Profile: Directional}, []small{
		{"a turn", lines(prompt("a", "s"), turn("s", 0, 1), result("a", settledOK), shutdown, shut), nil},
		{"two turns", lines(prompt("a", "s"), turn("s", 0, 1), result("a", settledOK), prompt("b", "s"), turn("s", 3, 2), result("b", settledOK)), nil},
		{"an event of the session behind the response", lines(prompt("a", "s"), turn("s", 0, 1), result("a", settledOK), event("s", 3, "session/title", `{"title":"t"}`)), nil},
		{"ok for an error", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "error"), result("a", settledOK)), one("S-TRN-03")},
		{"aborted for an error", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "error"), result("a", `{"status":"aborted","reason":{"kind":"error"}}`)), one("S-TRN-03")},
		{"error for completed", lines(prompt("a", "s"), turn("s", 0, 1), result("a", settledError("completed"))), one("S-TRN-01")},
		{"ok for max-tokens", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "max-tokens"), result("a", `{"status":"ok","reason":{"kind":"max-tokens"}}`)), one("S-TRN-04")},
		{"error for aborted", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "aborted"), result("a", settledError("aborted"))), one("S-TRN-05")},
		{"ok for an unknown kind", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "zorp"), result("a", `{"status":"ok","reason":{"kind":"zorp"}}`)), one("S-TRN-06")},
		{"an unknown kind rewritten", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "zorp"), result("a", settledError("error"))), one("S-TRN-06")},
		{"a reason without its details", lines(prompt("a", "s"), starts("s", 0, 1), event("s", 1, "turn/end", `{"turn":1,"reason":{"kind":"error","error":{"message":"no"}}}`), result("a", settledError("error"))), one("S-TRN-02")},
		{"a reason in another order of members", lines(prompt("a", "s"), starts("s", 0, 1), event("s", 1, "turn/end", `{"turn":1,"reason":{"kind":"error","n":1.0}}`), result("a", `{"status":"error","reason":{"n":1,"kind":"error"}}`)), nil},
		{"accepted besides", lines(prompt("a", "s"), turn("s", 0, 1), result("a", `{"status":"ok","reason":{"kind":"completed"},"accepted":true}`)), one("S-TRN-08")},
		{"session.finished", lines(prompt("a", "s"), turn("s", 0, 1), notify("session.finished", `{"sessionId":"s","status":"ok"}`), result("a", settledOK)), one("S-TRN-08")},
		{"no turn/end ever", lines(prompt("a", "s"), result("a", settledOK), shutdown, shut), one("S-TRN-12")},
		{"no turn/end before the next turn", lines(prompt("a", "s"), starts("s", 0, 1), says("s", 1, 1, "x"), result("a", settledOK), prompt("b", "s"), turn("s", 2, 2), result("b", settledOK), shutdown, shut), one("S-TRN-12")},
		{"the outcome of the turn before", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "error"), result("a", settledError("error")), prompt("b", "s"), starts("s", 2, 2), says("s", 3, 2, "x"), result("b", settledOK), ends("s", 4, 2, "completed")), one("S-ORD-01")},
	})
}

func TestOrderOfTurns(t *testing.T) {
	judge(t, Options{Profile: Directional}, []small{
		{"the last event behind the response", lines(prompt("a", "s"), starts("s", 0, 1), says("s", 1, 1, "x"), result("a", settledOK), ends("s", 2, 1, "completed")), one("S-ORD-01")},
		{"an event behind turn/end and response", lines(prompt("a", "s"), turn("s", 0, 1), result("a", settledOK), event("s", 3, "user/message", `{}`)), one("S-ORD-01")},
		{"the last event behind the response and the next prompt", lines(prompt("a", "s"), starts("s", 0, 1), says("s", 1, 1, "x"), result("a", settledOK), prompt("b", "s"), ends("s", 2, 1, "completed"), turn("s", 3, 2), result("b", settledOK)), one("S-ORD-01")},
		{"a seq that begins with 1", lines(prompt("a", "s"), starts("s", 1, 1)), one("S-ORD-03/root")},
		{"a seq that is left out", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 2, 1, "completed"), result("a", settledOK)), one("S-ORD-03/root")},
		{"a seq that comes again", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 0, 1, "completed"), result("a", settledOK)), one("S-ORD-03/root")},
		{"an event of an early answer behind the refusal of an overlap", lines(prompt("a", "s"), starts("s", 0, 1), result("a", settledOK), prompt("b", "s"), refusal("b"), ends("s", 1, 1, "completed")), one("S-ORD-01")},
		{"a turn behind one that failed without a turn/end", lines(prompt("a", "s"), starts("s", 0, 1), refusal("a"), prompt("b", "s"), turn("s", 1, 2), result("b", settledOK), shutdown, shut), nil},
		{"the end of a turn behind the error response of its prompt", lines(prompt("a", "s"), starts("s", 0, 1), refusal("a"), ends("s", 1, 1, "error")), one("S-ORD-04")},
		{"a turn behind the error response of an overlap", lines(prompt("a", "s"), starts("s", 0, 1), prompt("b", "s"), refusal("b"), starts("s", 1, 2), ends("s", 2, 2, "completed"), result("a", settledOK)), one("S-ORD-06")},
		{"an event behind its refusal", lines(prompt("a", "s"), refusal("a"), event("s", 0, "user/message", `{}`)), one("S-ORD-04")},
		{"a turn that nobody asked for", lines(prompt("a", "s"), turn("s", 0, 1), result("a", settledOK), turn("s", 3, 2)), one("S-ORD-05")},
		{"an event of an ended turn", lines(prompt("a", "s"), turn("s", 0, 1), says("s", 3, 1, "late"), result("a", settledOK)), one("S-ORD-06")},
		{"an event of a turn that is not open", lines(prompt("a", "s"), starts("s", 0, 1), says("s", 1, 2, "x"), ends("s", 2, 1, "completed"), result("a", settledOK)), one("S-ORD-06")},
		{"a turn/end without a turn/start", lines(prompt("a", "s"), ends("s", 0, 1, "completed"), result("a", settledOK)), one("S-ORD-06")},
		{"a turn/start in an open turn", lines(prompt("a", "s"), starts("s", 0, 1), starts("s", 1, 2), ends("s", 2, 2, "completed"), result("a", settledOK)), one("S-ORD-06")},
		{"an event without a number between turns", lines(prompt("a", "s"), event("s", 0, "agent/inbox/spliced", `{"target":"x","start":0,"inserted":[]}`), turn("s", 1, 1), result("a", settledOK)), nil},
	})
}

func TestOverlaps(t *testing.T) {
	judge(t, Options{Profile: Directional}, []small{
		{"a refused overlap", lines(prompt("a", "s"), starts("s", 0, 1), prompt("b", "s"), refusal("b"), says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), result("a", settledOK)), nil},
		{"an overlap that runs", lines(prompt("a", "s"), starts("s", 0, 1), prompt("b", "s"), starts("s", 1, 2), says("s", 2, 1, "x"), ends("s", 3, 1, "completed"), result("a", settledOK), ends("s", 4, 2, "completed"), result("b", settledOK)), one("S-OVL-01")},
		{"an overlap that succeeds beside the turn", lines(prompt("a", "s"), starts("s", 0, 1), prompt("b", "s"), result("b", settledError("busy")), says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), result("a", settledOK)), one("S-OVL-01")},
		{"an overlap that is refused behind the turn", lines(prompt("a", "s"), starts("s", 0, 1), prompt("b", "s"), ends("s", 1, 1, "completed"), result("a", settledOK), refusal("b")), nil},
		{"two prompts that come together and run together", lines(prompt("a", "s"), prompt("b", "s"), starts("s", 0, 1), starts("s", 1, 2), ends("s", 2, 1, "completed"), result("a", settledOK), ends("s", 3, 2, "completed"), result("b", settledOK)), one("S-OVL-01")},
		{"three prompts that run together", lines(prompt("a", "s"), prompt("b", "s"), prompt("c", "s"), starts("s", 0, 1), starts("s", 1, 2), ends("s", 2, 1, "completed"), result("a", settledOK), ends("s", 3, 2, "completed"), result("b", settledOK), refusal("c")), one("S-OVL-06")},
		{"prompts that come together and run one by one", lines(prompt("a", "s"), prompt("b", "s"), turn("s", 0, 1), result("a", settledOK), turn("s", 3, 2), result("b", settledOK)), nil},
		{"two sessions under one id", lines(prompt("a", "s"), prompt("b", "s"), starts("s", 0, 1), starts("s", 0, 1), says("s", 1, 1, "x"), says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), ends("s", 2, 1, "completed"), result("a", settledOK), result("b", settledOK)), one("S-OVL-10")},
		{"a turn behind a tangle", lines(prompt("a", "s"), starts("s", 0, 1), prompt("b", "s"), starts("s", 1, 2), ends("s", 2, 2, "completed"), ends("s", 3, 1, "completed"), result("a", settledOK), result("b", settledOK), prompt("c", "s"), turn("s", 4, 3), result("c", settledError("completed"))), []string{"S-OVL-01", "S-TRN-01"}},
	})
}

func TestSessionFinished(t *testing.T) {
	finished := func(params string) string {
		return notify("session.finished", `{"sessionId":"s",`+params+`}`)
	}
	accepted := `{"accepted":true}`
	ok := finished(`"status":"ok","reason":{"kind":"completed"}`)
	judge(t, Options{Profile: Accepted}, []small{
		{"a turn", lines(prompt("a", "s"), turn("s", 0, 1), ok, result("a", accepted)), nil},
		{"max-tokens as success", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "max-tokens"), finished(`"status":"ok","reason":{"kind":"max-tokens"}`), result("a", accepted)), nil},
		{"the kind alone as the reason", lines(prompt("a", "s"), turn("s", 0, 1), finished(`"status":"ok","reason":"completed"`), result("a", accepted)), nil},
		{"no reason of an aborted turn", lines(prompt("a", "s"), starts("s", 0, 1), shutdown, ends("s", 1, 1, "aborted"), finished(`"status":"error"`), result("a", accepted), shut), nil},
		{"ok for an error", lines(prompt("a", "s"), starts("s", 0, 1), ends("s", 1, 1, "error"), finished(`"status":"ok","reason":{"kind":"error"}`), result("a", accepted)), one("S-TRN-09")},
		{"no reason", lines(prompt("a", "s"), turn("s", 0, 1), finished(`"status":"ok"`), result("a", accepted)), one("S-TRN-09")},
		{"twice", lines(prompt("a", "s"), turn("s", 0, 1), ok, ok, result("a", accepted)), one("S-TRN-09")},
		{"once more behind the response", lines(prompt("a", "s"), turn("s", 0, 1), ok, result("a", accepted), ok), one("S-TRN-09")},
		{"never", lines(prompt("a", "s"), turn("s", 0, 1), result("a", accepted), shutdown, shut), one("S-TRN-09")},
		{"not before the next turn", lines(prompt("a", "s"), turn("s", 0, 1), result("a", accepted), prompt("b", "s"), turn("s", 3, 2), ok, result("b", accepted)), one("S-TRN-09")},
		{"behind the response", lines(prompt("a", "s"), turn("s", 0, 1), result("a", accepted), ok, shutdown, shut), one("S-ORD-07")},
		{"behind the response and the next prompt", lines(prompt("a", "s"), turn("s", 0, 1), result("a", accepted), prompt("b", "s"), ok, turn("s", 3, 2), ok, result("b", accepted)), one("S-ORD-07")},
		{"before the turn/end", lines(prompt("a", "s"), starts("s", 0, 1), says("s", 1, 1, "x"), ok, ends("s", 2, 1, "completed"), result("a", accepted)), one("S-ORD-07")},
		{"not accepted", lines(prompt("a", "s"), turn("s", 0, 1), ok, result("a", `{"accepted":1}`)), one("S-TRN-09")},
		{"a receipt in its place", lines(prompt("a", "s"), turn("s", 0, 1), ok, result("a", `{"messageId":"m"}`)), one("S-TRN-09")},
	})
}
