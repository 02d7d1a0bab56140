package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// kid is a child that a script asks for, known by its prompt: servers start the
// children of one message in any order, and give them ids of their own.
type kid struct {
	prompt string
	model.Subagent
}

// kid makes a child whose model answers by steps.
func (t *T) kid(steps ...model.Step) kid {
	tag := t.Tag()
	prompt := "The task of " + tag + "."
	return kid{prompt, model.Child("a task", prompt, tag, steps...)}
}

// family is a turn that starts children. They run before the turn's next step where
// the subject runs them in the foreground, and beside the parent where it does not.
type family struct {
	*Turn
	script model.Script
	kids   []kid
}

// parentSays is the parent's answer when its tool has returned.
const parentSays = "The parent goes on."

// family sends a prompt whose turn starts children, and returns when it has called
// the model. The spec ends where the model was never offered the tool.
func (t *T) family(s *harness.Server, kids ...kid) family {
	return t.familyWith(s, []model.Step{model.Text(parentSays)}, kids...)
}

// familyWith is family with what the parent does when its tool has returned.
func (t *T) familyWith(s *harness.Server, behind []model.Step, kids ...kid) family {
	var calls []model.Subagent
	for _, k := range kids {
		calls = append(calls, k.Subagent)
	}
	steps := append([]model.Step{model.Text("The parent calls. "), model.Spawn(calls...)}, behind...)
	f := family{script: t.Script(steps...), kids: kids}
	f.Turn = t.Begin(s, t.Session(), f.script)
	ctx, cancel := t.within(s.Deadlines().Turn)
	defer cancel()
	_, err := t.run.stub.WaitTag(ctx, f.script.Tag, 1)
	t.Need("the turn calls the model", err)
	if !f.offers(t) {
		t.Undeclared("subagents", "the model was not offered the tool subagent")
	}
	return f
}

// offers reports whether a call of the turn offers the tool. The first may be for something
// else than the answer, such as a title: what none offered is known at the turn's end.
func (f family) offers(t *T) (offered bool) {
	err := f.s.Await(t.Ctx, "a call of the model that offers the tool subagent, or the turn/end", f.mark, f.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		offered = !model.WithoutSubagents(t.run.stub.CallsByTag(f.script.Tag))
		return offered || f.Request.Answer != nil && f.Request.Answer.Error != nil ||
			slices.ContainsFunc(EventsOf(fresh, f.Session), func(e Event) bool { return e.Type == protocol.EventTurnEnd })
	})
	t.Need("the turn offers the tool, or ends", err)
	return offered
}

// hasChildren reports whether the subject is expected to start children: a spec that
// can do without leaves that part out. What is known of it by now decides.
func (t *T) hasChildren() bool { return !t.run.lacks("subagents") && t.run.offered.Load() }

// members follows who announced which children, and what each was told.
type members struct {
	started map[string]string   // parent by child
	told    map[string][]string // texts by session
}

func (m *members) take(entries []harness.Entry) {
	if m.started == nil {
		m.started, m.told = map[string]string{}, map[string][]string{}
	}
	for _, p := range Notifications(entries, protocol.NotificationSubagentStarted) {
		child, _ := p.String("childSessionId")
		m.started[child], _ = p.String("parentSessionId")
	}
	for _, e := range EventsOf(entries, "") {
		if e.Type == protocol.EventUserMessage || e.Type == protocol.EventInboxSpliced {
			params, _ := wire.AsObject(e.Message.Params)
			event, _ := params.Object("event")
			m.told[e.Session] = append(m.told[e.Session], stringsIn(event["data"])...)
		}
	}
}

// find gives the announced child that was told the prompt. A parent's own message
// holds its children's prompts too, in its script: the child's begins with it.
func (m *members) find(prompt string) (child string, ok bool) {
	for child := range m.started {
		for _, text := range m.told[child] {
			if strings.HasPrefix(text, prompt) {
				return child, true
			}
		}
	}
	return "", false
}

// child gives the session of the nth child; the spec ends where it never shows.
func (f family) child(t *T, n int) string { return f.childOf(t, f.kids[n]) }

func (f family) childOf(t *T, k kid) string {
	var m members
	var id string
	err := f.s.Await(t.Ctx, "a child that is announced and shows its prompt", f.mark, f.s.Deadlines().Turn, func(fresh []harness.Entry) (ok bool) {
		m.take(fresh)
		id, ok = m.find(k.prompt)
		return ok
	})
	t.Need("the child starts", err)
	return id
}

// tryFinished waits for the subagent.finished of a child. A subject that was found
// to leave them out is not waited for twice.
func (f family) tryFinished(t *T, child string) (wire.Object, harness.Entry, error) {
	var params wire.Object
	var entry harness.Entry
	within := f.s.Deadlines().Turn
	if t.run.kidMissing.Load() {
		within = 10 * f.s.Deadlines().Grace
	}
	err := f.s.Await(t.Ctx, "subagent.finished of the child", f.mark, within, func(fresh []harness.Entry) bool {
		for _, e := range fresh {
			if e.Dir != wire.ServerToClient || e.Message.Method != protocol.NotificationSubagentFinished {
				continue
			}
			p, _ := wire.AsObject(e.Message.Params)
			if id, _ := p.String("childSessionId"); id == child {
				params, entry = p, e
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Conclude(err)
		if isSilent(err) {
			t.run.kidMissing.Store(true)
		}
	}
	return params, entry, err
}

// finished waits until every child has its subagent.finished, and the parent its
// rest: what wakes it is over then. The spec ends where a child has none.
func (f family) finished(t *T) {
	for i := range f.kids {
		_, _, err := f.tryFinished(t, f.child(t, i))
		t.Need("every child finishes", err)
	}
	f.rest(t)
}

// rest waits until the parent is at rest, behind the last subagent.finished: where
// children run beside it each one wakes it.
func (f family) rest(t *T) {
	if t.Profile.Settles() || t.run.idleMissing.Load() {
		t.Barrier(f.s)
		return
	}
	open, idle := false, false
	err := f.s.Await(t.Ctx, "the parent is idle again", f.mark, f.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range fresh {
			if e.Dir != wire.ServerToClient {
				continue
			}
			if ev, ok := eventOf(e, f.Session); ok {
				open = (open || ev.Type == protocol.EventTurnStart) && ev.Type != protocol.EventTurnEnd
			}
			if e.Message.Method == protocol.NotificationStatus {
				params, _ := wire.AsObject(e.Message.Params)
				if id, _ := params.String("sessionId"); id == f.Session {
					status, _ := params.String("status")
					idle = status == "idle"
				}
			}
		}
		return idle && !open
	})
	t.Need("the parent comes to rest", err)
}

// endOf waits for the turn/end of a child.
func (f family) endOf(t *T, child string) (Event, error) {
	var end Event
	err := f.s.Await(t.Ctx, "the turn/end of the child", f.mark, f.s.Deadlines().Turn, func(fresh []harness.Entry) bool {
		for _, e := range EventsOf(fresh, child) {
			if e.Type == protocol.EventTurnEnd {
				end = e
				return true
			}
		}
		return false
	})
	return end, err
}

// nested ends the spec where a child was not given a child of its own.
func (f family) nested(t *T, outer kid, inner kid) string {
	var m members
	m.take(f.Since())
	if id, ok := m.find(inner.prompt); ok {
		return id
	}
	seen := "the child called the tool subagent, and no child of it was started"
	if model.WithoutSubagents(t.run.stub.CallsByTag(outer.Script.Tag)) {
		seen = "the child's model was not offered the tool subagent"
	}
	t.Undeclared("nested-subagents", seen)
	panic(fmt.Sprintf("unreachable: %s", seen))
}
