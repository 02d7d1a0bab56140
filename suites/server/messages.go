package server

import (
	"fmt"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
)

// messages: the form of responses, errors and notifications, and their number.
// The monitor judges each frame; the specs see to it that there are frames of
// every kind.
func messages(s *suite) {
	for _, id := range []string{"S-MSG-01", "S-MSG-02", "S-MSG-10"} {
		s.It(id, shared, func(t *T) {
			srv := t.Shared()
			t.everyKind(srv)
			t.Exercised(srv, id)
		})
	}
	for _, id := range []string{"S-MSG-03", "S-MSG-05"} {
		s.It(id, shared, func(t *T) {
			srv := t.Shared()
			t.everyKind(srv)
			// a child's turn, and a message that is a tool call alone, where there are such
			t.Run(srv, t.Session(), model.Spawn(model.Child("child", "Go.", t.Tag(), model.Text("A child's turn."))), model.Text("Done."))
			t.Exercised(srv, id)
		})
	}
	s.It("S-MSG-04", shared, func(t *T) {
		srv := t.Shared()
		for range 20 {
			c := t.Send(srv, UnknownMethod, nil)
			if _, ok := t.Answered(c, "every request gets exactly one response"); !ok {
				return
			}
		}
		t.everyKind(srv)
		t.Barrier(srv) // a second response to any of them would have come
	})
	s.It("S-MSG-06", shared, func(t *T) {
		srv := t.Shared()
		for _, v := range []struct{ what, member string }{
			{"no jsonrpc", ``}, {`"1.0"`, `"jsonrpc":"1.0",`}, {"the number 2.0", `"jsonrpc":2.0,`}, {"null", `"jsonrpc":null,`},
		} {
			line := fmt.Sprintf(`{%s"id":"version","method":"no/such/method"}`+"\n", v.member)
			t.Observe("a request with "+v.what, "%s", t.replies(srv, line))
		}
	})
	each(s, "S-MSG-07", 1, []named[string]{{"array", `,"params":[1,2]`}, {"scalar", `,"params":7`}, {"null", `,"params":null`}, {"missing", ``}},
		func(t *T, params string) {
			// A handshake that was refused may leave its mark: not on the shared process.
			srv := t.Unused()
			for _, method := range []string{protocol.MethodInitialize, UnknownMethod, protocol.MethodPrompt} {
				line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s"%s}`+"\n", srv.NewID().Token(), method, params)
				if _, ok := t.first(t.Write(srv, line)[0], method+" with such params is answered"); !ok {
					return
				}
			}
			t.Served(srv, "the server goes on behind such params")
		})
	s.It("S-MSG-08", shared, exactNames)
	s.It("S-MSG-09", shared, func(t *T) {
		srv := t.Shared()
		for _, method := range []string{`7`, `null`, `["initialize"]`, `{"name":"initialize"}`} {
			t.Observe("the method "+method, "%s", t.replies(srv, fmt.Sprintf(`{"jsonrpc":"2.0","id":"no-string","method":%s}`+"\n", method)))
		}
	})
}

// everyKind brings about responses, errors and, where the subject can run turns,
// notifications of turns that end well and badly.
func (t *T) everyKind(s *harness.Server) {
	_, err := s.Call(t.Ctx, UnknownMethod, nil)
	t.Need("an unknown method is answered", err)
	_, err = s.Call(t.Ctx, protocol.MethodPrompt, map[string]any{})
	t.Need("a prompt without params is answered", err)
	if t.WithoutModel() {
		return
	}
	session := t.Session()
	t.Run(s, session, model.Text("A turn that ends well."))
	t.ran(t.Begin(s, session, t.Script(model.Fail(400, "a turn that ends badly"))))
}

// exactNames sends frames whose members have another case. None of them is a
// request, and PARAMS are no params.
func exactNames(t *T) {
	srv := t.Shared()
	mark := srv.Mark()
	t.Write(srv, `{"jsonrpc":"2.0","ID":"upper-id","method":"no/such/method"}`+"\n"+
		`{"jsonrpc":"2.0","id":"upper-method","METHOD":"no/such/method"}`+"\n"+
		`{"jsonrpc":"2.0","Id":"title-case","Method":"no/such/method"}`+"\n")
	t.Barrier(srv)
	for _, e := range srv.Since(mark) {
		for _, id := range []string{"upper-id", "upper-method", "title-case"} {
			t.Expect(!isReply(e, id), "a member in another case is none of a frame's", "it was taken for one: "+id, e.Line)
		}
	}
	if t.WithoutModel() {
		return
	}
	script := t.Script(model.Text("Nobody asked."))
	line := harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(t.Session(), script.Prompt("Go.")))
	// the member keeps its content and changes its name
	raw := []byte(strings.Replace(string(line), `"params"`, `"PARAMS"`, 1))
	calls := t.Write(srv, string(raw))
	if _, err := calls[0].Settle(t.Ctx); err != nil {
		t.Need("a prompt without params is answered", err)
	}
	t.Run(srv, t.Session(), model.Text("An ordinary turn."))
	t.Expect(len(t.run.stub.CallsByTag(script.Tag)) == 0, "PARAMS is not the member params", "its content reached the model", calls[0].Line)
}
