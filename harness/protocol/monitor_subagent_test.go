package protocol

import (
	"fmt"
	"strings"
	"testing"
)

func spawned(parent, child string) string {
	return notify("subagent.started", fmt.Sprintf(`{"parentSessionId":%q,"childSessionId":%q}`, parent, child))
}

func finishedAs(parent, child, agent, more string) string {
	return notify("subagent.finished", fmt.Sprintf(`{"provider":"local","agentId":%q,"parentSessionId":%q,"childSessionId":%q,"stopReason":"completed"%s}`, agent, parent, child, more))
}

// elsewhere is subagent.finished of a child that does not run in the server.
func elsewhere(finished string) string {
	return strings.Replace(finished, `"provider":"local"`, `"provider":"acp-remote"`, 1)
}

const (
	wellDone = `,"status":"ok","lastAssistantMessage":[{"type":"text","text":"Fine."}]`
	failed   = `,"status":"error"`
)

func TestChildrenInTheForeground(t *testing.T) {
	begins := lines(prompt("a", "s"), starts("s", 0, 1))
	ended := lines(says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), result("a", settledOK), shutdown, shut)
	done := finishedAs("s", "c", "c", wellDone)
	judge(t, Options{Profile: Directional}, []small{
		{"a child", lines(begins, spawned("s", "c"), turn("c", 0, 1), done, ended), nil},
		{"a child of a child", lines(begins, spawned("s", "c"), starts("c", 0, 1), spawned("c", "d"), turn("d", 0, 1), finishedAs("c", "d", "d", wellDone),
			says("c", 1, 1, "Fine."), ends("c", 2, 1, "completed"), done, ended), nil},
		{"a failed child", lines(begins, spawned("s", "c"), starts("c", 0, 1), ends("c", 1, 1, "error"), finishedAs("s", "c", "c", failed), ended), nil},
		{"a child that fails without a turn/end", lines(begins, spawned("s", "c"), starts("c", 0, 1), finishedAs("s", "c", "c", failed), ended), nil},
		{"a failed child whose turn goes on", lines(begins, spawned("s", "c"), starts("c", 0, 1), finishedAs("s", "c", "c", failed), ends("c", 1, 1, "error"), ended), one("S-SUB-02")},

		{"started behind the first event", lines(begins, starts("c", 0, 1), spawned("s", "c"), says("c", 1, 1, "Fine."), ends("c", 2, 1, "completed"), done, ended), one("S-SUB-01")},
		{"started behind the child's answer", lines(begins, turn("c", 0, 1), spawned("s", "c"), done, ended), one("S-SUB-01")},
		{"never started", lines(begins, turn("c", 0, 1), done, ended), one("S-SUB-01")},
		{"never finished", lines(begins, spawned("s", "c"), turn("c", 0, 1), ended), one("S-SUB-02")},
		{"finished twice", lines(begins, spawned("s", "c"), turn("c", 0, 1), done, done, ended), one("S-SUB-02")},
		{"started twice", lines(begins, spawned("s", "c"), spawned("s", "c"), turn("c", 0, 1), done, ended), one("S-SUB-02")},
		{"finished in the child's turn", lines(begins, spawned("s", "c"), starts("c", 0, 1), says("c", 1, 1, "Fine."), done, ends("c", 2, 1, "completed"), ended), one("S-SUB-02")},
		{"finished before the child's turn", lines(begins, spawned("s", "c"), done, turn("c", 0, 1), ended), one("S-SUB-02")},
		{"cut by shutdown", lines(begins, spawned("s", "c"), starts("c", 0, 1), shutdown, ends("c", 1, 1, "aborted"), says("s", 1, 1, "x"), ends("s", 2, 1, "aborted"), result("a", `{"status":"aborted","reason":{"kind":"aborted"}}`), shut), nil},

		{"cut by shutdown without a turn/end", lines(begins, spawned("s", "c"), starts("c", 0, 1), shutdown, finishedAs("s", "c", "c", failed), says("s", 1, 1, "x"), ends("s", 2, 1, "aborted"), result("a", `{"status":"aborted","reason":{"kind":"aborted"}}`), shut), nil},

		{"the child's end settles the parent", lines(begins, spawned("s", "c"), turn("c", 0, 1), result("a", settledOK), done, says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), shutdown, shut), one("S-SUB-03")},
		{"so too behind subagent.finished", lines(begins, spawned("s", "c"), turn("c", 0, 1), done, event("s", 1, "tool/result", `{"turn":1}`), result("a", settledOK), says("s", 2, 1, "x"), ends("s", 3, 1, "completed"), shutdown, shut), one("S-SUB-03")},
		{"a turn/end of the parent behind the response", lines(begins, spawned("s", "c"), turn("c", 0, 1), done, says("s", 1, 1, "x"), result("a", settledOK), ends("s", 2, 1, "completed"), shutdown, shut), one("S-ORD-01")},
		{"finished behind the response", lines(begins, spawned("s", "c"), turn("c", 0, 1), says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), result("a", settledOK), done, shutdown, shut), one("S-ORD-02")},

		{"another message", lines(begins, spawned("s", "c"), turn("c", 0, 1), finishedAs("s", "c", "c", `,"status":"ok","lastAssistantMessage":[{"type":"text","text":"x"}]`), ended), one("S-SUB-07")},
		{"the message trimmed", lines(begins, spawned("s", "c"), starts("c", 0, 1), says("c", 1, 1, " Fine. "), ends("c", 2, 1, "completed"), done, ended), one("S-SUB-07")},
		{"no message", lines(begins, spawned("s", "c"), turn("c", 0, 1), finishedAs("s", "c", "c", `,"status":"ok"`), ended), one("S-SUB-07")},
		{"a message of a child that said nothing", lines(begins, spawned("s", "c"), starts("c", 0, 1), ends("c", 1, 1, "error"), finishedAs("s", "c", "c", failed+`,"lastAssistantMessage":[]`), ended), one("S-SUB-07")},
		{"a message without text", lines(begins, spawned("s", "c"), starts("c", 0, 1), event("c", 1, "assistant/message", `{"turn":1,"step":1,"message":{"role":"assistant","content":[]}}`), ends("c", 2, 1, "completed"), finishedAs("s", "c", "c", `,"status":"ok"`), ended), nil},

		{"another parent", lines(begins, spawned("s", "c"), turn("c", 0, 1), finishedAs("t", "c", "c", wellDone), ended), one("S-SUB-09")},
		{"another agentId", lines(begins, spawned("s", "c"), turn("c", 0, 1), finishedAs("s", "c", "call-1", wellDone), ended), one("S-SUB-09")},
		{"another agentId of a child that is not shown", lines(begins, spawned("s", "c"), finishedAs("s", "c", "call-1", failed), ended), one("S-SUB-09")},
		{"the agentId of an agent elsewhere", lines(begins, spawned("s", "c"), elsewhere(finishedAs("s", "c", "agent-1", failed)), ended), nil},
		{"the agentId of an agent elsewhere whose events are shown", lines(begins, spawned("s", "c"), turn("c", 0, 1), elsewhere(finishedAs("s", "c", "agent-1", wellDone)), ended), nil},
		{"another parent of an agent elsewhere", lines(begins, spawned("s", "c"), elsewhere(finishedAs("t", "c", "agent-1", failed)), ended), one("S-SUB-09")},
		{"another child in subagent.finished", lines(begins, spawned("s", "c"), turn("c", 0, 1), finishedAs("s", "call-1", "call-1", wellDone), ended), one("S-SUB-09")},
		{"another child in subagent.started", lines(begins, spawned("s", "call-1"), turn("c", 0, 1), done, ended), one("S-SUB-09")},
		{"a child that the client prompts with success", lines(begins, spawned("s", "c"), starts("c", 0, 1), prompt("b", "c"), result("b", settledError("busy")), says("c", 1, 1, "Fine."), ends("c", 2, 1, "completed"), done, ended), nil},
		{"a child that the client prompts", lines(begins, spawned("s", "c"), starts("c", 0, 1), prompt("b", "c"), refusal("b"), says("c", 1, 1, "Fine."), ends("c", 2, 1, "completed"), done, done, ended), nil},
	})
}

// A child that finished long ago is judged like one that just did.
func TestChildrenThatAreOver(t *testing.T) {
	script := []string{prompt("a", "s"), starts("s", 0, 1)}
	for i := range 2 * keptChildren {
		id := fmt.Sprint("c", i)
		script = append(script, spawned("s", id), turn(id, 0, 1), finishedAs("s", id, id, wellDone))
	}
	many := lines(script...)
	ended := lines(says("s", 1, 1, "x"), ends("s", 2, 1, "completed"), result("a", settledOK))
	judge(t, Options{Profile: Directional}, []small{
		{"nothing more", lines(many, ended, shutdown, shut), nil},
		{"an event of the session", lines(many, event("c0", 3, "session/title", `{}`), ended, shutdown, shut), nil},
		{"a seq that comes again", lines(many, event("c0", 2, "session/title", `{}`), ended), one("S-ORD-03/child")},
		{"a second end", lines(many, finishedAs("s", "c0", "c0", wellDone), ended), one("S-SUB-02")},
		{"a second start", lines(many, spawned("s", "c0"), ended), one("S-SUB-02")},
		{"another turn", lines(many, turn("c0", 3, 2), ended), nil},
		{"another turn behind the response", lines(many, ended, starts("c0", 3, 2)), one("S-ORD-01")},
		{"a child of its own", lines(many, spawned("c0", "d"), turn("d", 0, 1), finishedAs("c0", "d", "d", wellDone), ended, shutdown, shut), nil},
		{"a prompt of the client", lines(many, ended, prompt("b", "c0"), turn("c0", 3, 2), result("b", settledOK), shutdown, shut), nil},
	})
}

func TestChildrenInTheBackground(t *testing.T) {
	begins := lines(prompt("a", "s"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), removes("s", 2), receiptOf("a", "m"), spawned("s", "c"),
		inserts("c", 0, 0, "n"), state("c", "running"), starts("c", 1, 1), removes("c", 2))
	parentEnds := lines(ends("s", 3, 1, "completed"), state("s", "idle"))
	childEnds := lines(says("c", 3, 1, "Fine."), ends("c", 4, 1, "completed"))
	wakes := lines(inserts("s", 4, 0, "o"), state("s", "running"), starts("s", 5, 2), removes("s", 6), finishedAs("s", "c", "c", wellDone), ends("s", 7, 2, "completed"), state("s", "idle"))
	judge(t, Options{Profile: Receipt}, []small{
		{"a child that outlives the turn", lines(begins, parentEnds, childEnds, state("c", "idle"), wakes, shutdown, shut), nil},
		{"a child that ends in the turn", lines(begins, childEnds, state("c", "idle"), parentEnds, wakes, shutdown, shut), nil},
		{"a child without a status", lines(prompt("a", "s"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), removes("s", 2), receiptOf("a", "m"), spawned("s", "c"), turn("c", 0, 1), finishedAs("s", "c", "c", wellDone), parentEnds), nil},
		{"cut by shutdown", lines(begins, parentEnds, shutdown, shut), nil},
		{"the child's idle under the id of the running parent", lines(begins, childEnds, state("s", "idle"), parentEnds, wakes), one("S-SUB-03")},
		{"the child's idle under the id of the idle parent", lines(begins, parentEnds, childEnds, state("s", "idle"), wakes), one("S-SUB-03")},
		{"the same at shutdown", lines(begins, parentEnds, shutdown, childEnds, state("s", "idle"), shut), one("S-SUB-03")},
		{"the child's idle under both ids", lines(begins, childEnds, state("c", "idle"), state("s", "idle"), parentEnds, wakes), one("S-SUB-03")},
		{"a child that is woken by its own child before its end is told", lines(begins, parentEnds, childEnds, state("c", "idle"), state("c", "running"), starts("c", 5, 2), wakes, says("c", 6, 2, "Woken."), ends("c", 7, 2, "completed"), state("c", "idle"), shutdown, shut), nil},
		{"a child whose events begin late", lines(prompt("a", "s"), inserts("s", 0, 0, "m"), state("s", "running"), starts("s", 1, 1), removes("s", 2), receiptOf("a", "m"), spawned("s", "c"), starts("c", 3, 1)), one("S-ORD-03/child")},
	})
}
