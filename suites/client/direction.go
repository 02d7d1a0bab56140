package client

import (
	"fmt"
	"slices"
	"strings"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// strayMethod is the method of a request that no server of this protocol writes.
const strayMethod = "dshconform/stray"

// direction: a client asks and listens; it never announces and never answers.
func direction(s *suite) {
	s.It("C-DIR-01", func(t *T) {
		p := t.everyday()
		if t.Hello.Takes("call") {
			t.timedOut() // some cancel then
		}
		t.Exercised(p, "C-DIR-01")
	})
	s.It("C-DIR-02", func(t *T) {
		// What a client writes because of a request comes before what it writes because
		// of later lines, or at the latest before it has closed.
		p := t.strayHandshake()
		for range 3 {
			// With no call in flight: they have been read before the next one is made.
			t.Need("write a request", p.RT.WriteApart(t.Ctx, append(p.strays(p.RT.NewID()), nil)...))
			a := p.Ask()
			t.Need("write requests and the answer", p.RT.Write(t.Ctx, append(p.strays(p.RT.NewID()), a.Turn(harness.Turn{}).Joined())...))
			_, err := a.Outcome(t.Ctx)
			t.Need("a prompt settles", err)
		}
		p.strayShutdown()
		t.Exercised(p, "C-DIR-02")
	})
	s.It("C-DIR-03", func(t *T) {
		a := t.Asked()
		if a.Settles("the call in flight settles behind a stray request of the server", a.Turn(harness.Turn{}), a.strays(a.RT.NewID())...) {
			a.Works("the next call works behind a stray request of the server")
		}
	})
	s.It("C-DIR-04", func(t *T) {
		a := t.Launch(protocol.MethodPrompt, otherMethod).Ask()
		if !a.Settles("a stray request under the id of the call in flight does not settle it", a.Turn(harness.Turn{}), a.strays(a.Q.ID())...) ||
			!a.Works("the next call works behind a stray request under the id of an earlier one") {
			return
		}
		if t.Hello.Offers(harness.CallRequest) && !a.ownRequest() {
			return
		}
		t.ownHandshake()
	})
	s.It("C-DIR-05/stall", floodStalls)
	s.It("C-DIR-05/memory", floodGrows)
	s.It("C-DIR-05/spin", floodSpins)
	s.It("C-DIR-06", surface)
	s.It("C-DIR-07", func(t *T) {
		a := t.Asked()
		id := a.RT.NewID()
		t.Need("write a request and the answer", a.RT.Write(t.Ctx, a.strays(id)[0], a.Turn(harness.Turn{}).Joined()))
		_, err := a.Outcome(t.Ctx)
		t.Need("the prompt settles", err)
		next := a.Ask()
		t.Need("answer the next prompt", next.RT.Write(t.Ctx, next.Turn(harness.Turn{}).Joined()))
		_, err = next.Outcome(t.Ctx)
		t.Need("the next prompt settles", err)
		a.bye()
		t.Observe("a stray request of the server", "%s", a.replyTo(id))
	})
}

// strayHandshake launches a runtime that asks before it answers initialize.
func (t *T) strayHandshake() *Peer {
	a := t.Greeted(nil, protocol.MethodPrompt, protocol.MethodShutdown)
	t.Need("write requests and the answer to initialize", a.RT.Write(t.Ctx, append(a.strays(a.RT.NewID()), a.Q.Handshake())...))
	_, err := a.Await(t.Ctx)
	t.Need("initialize", err)
	return a.Peer
}

// strayShutdown closes the client of a runtime that asks before it answers shutdown, and
// reads until its stdin ends.
func (p *Peer) strayShutdown() {
	t := p.t
	if !t.Hello.Offers(harness.CallClose) {
		return
	}
	call, err := p.GoClose(t.Ctx)
	t.Need("close the client", err)
	t.own(call)
	if q, err := p.RT.Next(t.Ctx, protocol.MethodShutdown); err == nil { // how a client closes is another requirement
		_ = p.RT.Write(t.Ctx, append(p.strays(p.RT.NewID()), q.Result(struct{}{}))...)
	}
	_, err = call.AwaitWithin(t.Ctx, p.Graces()+t.run.deadlines.Exit)
	t.Need("close the client", err)
	t.Need("the runtime ends", p.RT.AwaitGone(t.Ctx, t.run.deadlines.Leave))
}

// ownHandshake judges that requests under the id of initialize do not settle it: here they
// are followed by an error, which is what has to come of it, and by a handshake.
func (t *T) ownHandshake() {
	const expected = "stray requests under the id of initialize do not settle it"
	for _, refused := range []bool{true, false} {
		a := t.Greeted(nil, protocol.MethodPrompt)
		answer := a.Q.Handshake()
		if refused {
			answer = a.Q.Error(protocol.CodeHandler, "no such provider")
		}
		if !a.Write(expected, append(a.strays(a.Q.ID()), answer)...) {
			return
		}
		reply, ended := t.Ended(a.Call, expected, a.Shown)
		switch {
		case !ended:
			return
		case refused:
			if !t.failed(reply, expected+": an error that follows them does", a.Shown) {
				return
			}
		case reply.Err != nil:
			t.Fail(expected, reply.Err.Error(), a.Shown.frames()...)
		default:
			a.Works("a call works behind stray requests under the id of initialize")
		}
	}
}

// ownRequest judges the same of a request that is no prompt.
func (p *Peer) ownRequest() bool {
	t := p.t
	const expected = "stray requests under the id of a request do not settle it"
	a, answer := p.AskOther(), t.Text("answer")
	if !a.Write(expected, append(a.strays(a.Q.ID()), a.Q.Result(object{"answer": answer}))...) {
		return false
	}
	reply, ended := t.Ended(a.Call, expected, a.Shown)
	switch {
	case !ended:
		return false
	case reply.Err != nil:
		return t.Expect(false, expected, reply.Err.Error(), a.Shown.frames()...)
	}
	o, _ := wire.AsObject(reply.Result)
	got, _ := o.Object("result")
	return t.Expect(harness.Text(got["answer"]) == answer, expected, "the call comes to "+given(reply.Result), a.Shown.frames()...)
}

// strays are requests of the server under an id, in the forms that requests have.
func (p *Peer) strays(id wire.ID) [][]byte {
	return [][]byte{
		harness.RequestLine(id, strayMethod, object{"question": "may I?"}),
		harness.RequestLine(id, strayMethod, nil),
		harness.RequestLine(id, protocol.MethodPrompt, object{"sessionId": "stray", "contentBlocks": []any{}}),
	}
}

// replyTo says how the SDK has answered a request of the server.
func (p *Peer) replyTo(id wire.ID) string {
	for _, e := range p.RT.Since(0) {
		if e.Dir != wire.ClientToServer || e.Message.Kind != wire.Response || e.Message.ID.Key() != id.Key() {
			continue
		}
		if e.Message.Error == nil {
			return "answered with a result"
		}
		o, _ := wire.AsObject(e.Message.Error)
		return fmt.Sprintf("answered with the error %s", given(o["code"]))
	}
	return "not answered"
}

// unused are the names, in lower case and without underscores, under which SDKs have
// the half of JSON-RPC that a client of this protocol does not have.
var unused = []string{
	"notify", "sendnotification", "respond", "responderror", "respondwitherror", "sendresponse", "senderror",
	"nextrequest", "waitrequest", "receiverequest", "onrequest", "setrequesthandler",
}

// surface looks through the public members of the SDK.
func surface(t *T) {
	d, err := t.visit.Use(t.Ctx)
	t.Need("start the driver", err)
	members, err := d.Surface(t.Ctx)
	t.Need("list the public surface", err)
	if len(members) == 0 {
		t.NotReached("list the public surface", fmt.Errorf("it has no member"))
	}
	for _, m := range members {
		owner, name := "", m
		if i := strings.LastIndexAny(m, ".#:"); i >= 0 {
			owner, name = m[:i], m[i+1:]
		}
		if strings.Contains(strings.ToLower(owner), "server") {
			continue // its half is the other one
		}
		plain := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		t.Expect(!slices.Contains(unused, plain), "the public surface has no way to send a notification or to answer a request", "it has "+m)
	}
}
