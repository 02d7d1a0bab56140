package client

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// wireOrder writes many notifications of several methods, in several chunks. What comes
// of them has to come in the order of the wire, to a callback and among the events as well.
func wireOrder(t *T) {
	const expected = "notifications are handed over in the order of the wire"
	prompt := t.listened(harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")})
	a := t.Launch(protocol.MethodPrompt).Hear(t.channel(), prompt)
	answer := a.Turn(harness.Turn{Between: func(s *harness.Session) (lines [][]byte) {
		for i := range 20 {
			lines = append(lines, numbered(s, 10)...)
			lines = append(lines, s.Child(fmt.Sprintf("%s.%d", s.ID, i), "a child's answer")...)
		}
		return lines
	}})
	for chunk := range slices.Chunk(answer.Lines(), 7) {
		if !a.Write(expected, bytes.Join(chunk, nil)) {
			return
		}
	}
	if !a.Gets(expected, answer) {
		return
	}
	written := harness.NotificationsOf(answer.Notifications())
	own := events(written, answer.Session.ID)
	got := a.got(a.via.form(own[len(own)-1:]))
	if len(got) == 0 {
		t.NotReached("notifications are handed over", errors.New("there are none "+string(a.via)))
	}
	ordered := func(c channel, got []harness.Notification) {
		t.Judge(harness.InOrder(c.form(written), got), expected+", "+string(c), a.Shown.frames()...)
	}
	ordered(a.via, got)
	if prompt.Callback != "" && a.via != toCallback {
		ordered(toCallback, a.through(toCallback).got(nil))
	}
	if t.Hello.Gives("events") && a.via != inEvents {
		ordered(inEvents, a.through(inEvents).got(nil))
	}
	if !t.Failed() {
		manyInOrder(t)
	}
}

// many is more than the queues hold that SDKs bound.
const many = 12_000

// manyInOrder writes so many notifications that one that is lost now and then, or where a
// queue is full, shows as well.
func manyInOrder(t *T) {
	via := t.channel()
	if t.returnsEarly() && via != toSubscription {
		return // what comes behind the response is not the call's
	}
	expected := fmt.Sprintf("%d notifications of a turn are all handed over, in the order of the wire, %s", many, via)
	a := t.Launch(protocol.MethodPrompt).Hear(via, harness.Prompt{SessionID: t.Session(), Text: t.Text("prompt")})
	var lines [][]byte
	answer := a.Turn(harness.Turn{Between: func(s *harness.Session) [][]byte {
		lines = numbered(s, many)
		return lines
	}})
	for chunk := range slices.Chunk(answer.Lines(), 200) {
		if !a.Write(expected, bytes.Join(chunk, nil)) {
			return
		}
	}
	// An SDK may have read much more than it has looked at.
	if _, ok := t.EndedWithin(a.Call, t.run.deadlines.Turn, expected, a.Shown); !ok || !a.Gets(expected, answer) {
		return
	}
	wanted := via.form(harness.NotificationsOf(lines))
	if found := a.follow(wanted); found < len(wanted) {
		t.Fail(expected, fmt.Sprintf("behind %d of them one is missing, or in another place: %s", found, protocol.Short(string(wanted[found].Params))), a.Shown.frames()...)
	}
}
