package protocol

import (
	"fmt"
	"testing"
)

func inserts(session string, seq, at int, id string) string {
	return event(session, seq, "agent/inbox/spliced", fmt.Sprintf(`{"target":"next-turn","start":%d,"inserted":[{"id":%q}]}`, at, id))
}

func removes(session string, seq int) string {
	return event(session, seq, "agent/inbox/spliced", `{"target":"next-turn","start":0,"removedCount":1,"inserted":[]}`)
}

func state(session, now string) string {
	return notify("session.status", fmt.Sprintf(`{"sessionId":%q,"status":%q}`, session, now))
}

func receiptOf(id, message string) string {
	return result(id, fmt.Sprintf(`{"messageId":%q}`, message))
}

func TestReceipts(t *testing.T) {
	// a whole turn of message m, and the start and the end of one
	begins := lines(prompt("a", "s"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), removes("s", 2))
	ended := lines(says("s", 3, 1, "x"), ends("s", 4, 1, "completed"))
	judge(t, Options{Profile: Receipt}, []small{
		{"a turn", lines(begins, receiptOf("a", "m"), ended, state("s", "idle"), shutdown, shut), nil},
		{"the receipt behind everything", lines(begins, ended, state("s", "idle"), receiptOf("a", "m")), nil},
		{"the splice behind the receipt", lines(prompt("a", "s"), receiptOf("a", "m"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), removes("s", 2), ended, state("s", "idle")), nil},
		{"an id that never shows", lines(begins, receiptOf("a", "other"), ended, state("s", "idle")), one("S-TRN-10")},
		{"an id that has no time to show", lines(begins, receiptOf("a", "other"), shutdown, shut), nil},
		{"a splice behind the idle of the turn before", lines(begins, receiptOf("a", "m"), prompt("b", "s"), receiptOf("b", "n"), ended, state("s", "idle"),
			inserts("s", 5, 0, "n"), state("s", "running"), starts("s", 6, 2), removes("s", 7), ends("s", 8, 2, "completed"), state("s", "idle")), nil},
		{"an id of a queued prompt that never shows", lines(begins, receiptOf("a", "m"), prompt("b", "s"), receiptOf("b", "n"), ended, state("s", "idle"),
			inserts("s", 5, 0, "o"), state("s", "running"), starts("s", 6, 2), removes("s", 7), ends("s", 8, 2, "completed"), state("s", "idle")), one("S-TRN-10")},
		{"no messageId", lines(begins, result("a", `{}`), ended, state("s", "idle")), one("S-TRN-10")},
		{"a messageId with an outcome", lines(begins, result("a", `{"messageId":"m","status":"ok"}`), ended, state("s", "idle")), nil},
		{"session.finished", lines(begins, receiptOf("a", "m"), ended, notify("session.finished", `{"sessionId":"s"}`), state("s", "idle")), one("S-TRN-17")},

		{"idle in the turn", lines(begins, receiptOf("a", "m"), says("s", 3, 1, "x"), state("s", "idle"), ends("s", 4, 1, "completed")), one("S-ORD-09")},
		{"idle twice", lines(begins, receiptOf("a", "m"), ended, state("s", "idle"), state("s", "idle")), one("S-ORD-09")},
		{"running twice", lines(begins, receiptOf("a", "m"), state("s", "running"), ended, state("s", "idle")), one("S-ORD-09")},
		{"idle first", lines(prompt("a", "s"), state("s", "idle")), one("S-ORD-09")},
		{"a turn before running", lines(prompt("a", "s"), inserts("s", 0, 0, "m"), starts("s", 1, 1), state("s", "running"), removes("s", 2), receiptOf("a", "m"), ended, state("s", "idle")), one("S-ORD-09")},
		{"a turn that shutdown cuts", lines(begins, receiptOf("a", "m"), shutdown, state("s", "idle"), shut), nil},

		{"a queue", lines(begins, receiptOf("a", "m"), prompt("b", "s"), inserts("s", 3, 0, "n"), receiptOf("b", "n"),
			ends("s", 4, 1, "completed"), starts("s", 5, 2), removes("s", 6), ends("s", 7, 2, "completed"), state("s", "idle")), nil},
		{"idle in a queue", lines(begins, receiptOf("a", "m"), prompt("b", "s"), inserts("s", 3, 0, "n"), receiptOf("b", "n"),
			ends("s", 4, 1, "completed"), state("s", "idle"), state("s", "running"), starts("s", 5, 2), removes("s", 6), ends("s", 7, 2, "completed"), state("s", "idle")), one("S-ORD-10")},
		{"idle in a queue whose receipt comes late", lines(begins, receiptOf("a", "m"), prompt("b", "s"), inserts("s", 3, 0, "n"),
			ends("s", 4, 1, "completed"), state("s", "idle"), receiptOf("b", "n"), state("s", "running"), starts("s", 5, 2), removes("s", 6), ends("s", 7, 2, "completed"), state("s", "idle")), one("S-ORD-10")},
		{"a note of the server that waits", lines(begins, receiptOf("a", "m"), inserts("s", 3, 0, "note"), ends("s", 4, 1, "completed"), state("s", "idle")), nil},
		{"a queue of a server that tells no removals", lines(prompt("a", "s"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), receiptOf("a", "m"),
			event("s", 2, "user/message", `{"id":"m"}`), ends("s", 3, 1, "completed"), state("s", "idle")), nil},
		{"messages of two targets, whichever a turn serves", lines(prompt("a", "s"), inserts("s", 0, 0, "m"), prompt("b", "s"), event("s", 1, "agent/inbox/spliced", `{"target":"this-turn","start":0,"inserted":[{"id":"n"}]}`),
			state("s", "running"), starts("s", 2, 1), receiptOf("a", "m"), receiptOf("b", "n"), ends("s", 3, 1, "completed"), state("s", "idle")), nil},
		{"messages of one target, of which a turn serves the first", lines(prompt("a", "s"), inserts("s", 0, 0, "m"), prompt("b", "s"), inserts("s", 1, 1, "n"),
			state("s", "running"), starts("s", 2, 1), receiptOf("a", "m"), receiptOf("b", "n"), ends("s", 3, 1, "completed"), state("s", "idle")), one("S-ORD-10")},
		{"a note ahead of the message, which a turn serves with it", lines(prompt("a", "s"), inserts("s", 0, 0, "note"), inserts("s", 1, 1, "m"),
			state("s", "running"), starts("s", 2, 1), receiptOf("a", "m"), ends("s", 3, 1, "completed"), state("s", "idle")), nil},
		{"two sessions under one id", lines(prompt("a", "s"), prompt("b", "s"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), inserts("s", 0, 0, "n"), state("s", "running"), starts("s", 1, 1),
			receiptOf("a", "m"), receiptOf("b", "n"), ends("s", 2, 1, "completed"), state("s", "idle"), ends("s", 2, 1, "completed"), state("s", "idle")), one("S-OVL-10")},
	})
}
