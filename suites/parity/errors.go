package parity

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// errorResponses: what the caller learns when the runtime refuses.
func errorResponses(s *suite) {
	s.play("P-ERR-01", func(p *Play) {
		each(p, texts(
			`{"code":-32123,"message":"out of 运气: \"quoted\"","data":{"why":"tested","n":7,"list":[null,true,1.5]}}`,
			`{"code":-32603,"message":"no data"}`, `{"code":0,"message":"","data":null}`, `{"code":1,"message":"data 0","data":0}`,
			`{"code":-1,"message":"data text","data":"text"}`, `{"code":-32603,"message":"more members","x":{"y":1}}`,
		), (*Asked).refused)
	})
	s.play("P-ERR-02", func(p *Play) {
		each(p, texts(
			`{"message":"no code"}`, `{"code":null,"message":"no code"}`, `{"code":"-1","message":"a text"}`, `{"code":1.5,"message":"a fraction"}`,
			`{"code":1.0,"message":"an integer"}`, `{"code":true,"message":"a boolean"}`, `{"code":9007199254740993,"message":"2^53+1"}`,
			`{"code":-32603}`, `{"code":-32603,"message":null}`, `{"code":-32603,"message":7}`, `{"code":-32603,"message":{"text":"x"}}`,
			`{}`, `"boom"`, `7`, `0`, `[]`, `true`, `false`, `""`,
		), (*Asked).refused)
	})
	s.play("P-ERR-03", func(p *Play) {
		each(p, texts(`"error":null`, `"error":{"code":-32603,"message":"both"}`, `"result":null`), func(a *Asked, member string) {
			turn := a.Turn(harness.Turn{})
			turn.Response = append(bytes.TrimSuffix(turn.Response, []byte("}\n")), ","+member+"}\n"...)
			a.told = "both"
			a.Write(turn.Joined())
			a.Ends()
			a.Works("next")
		})
		for _, in := range texts(`"error":null`, `"result":null,"error":null`, `"x":1`) {
			p.part("only "+in.name, func() {
				a := p.Launch(protocol.MethodPrompt).Ask("call")
				a.Write([]byte(`{"jsonrpc":"2.0","id":`+a.Q.ID().Token()+`,`+in.value+"}\n"), a.Turn(harness.Turn{}).Joined())
				a.Ends()
				a.Works("next")
			})
		}
	})
	s.play("P-ERR-04", anyRequest)
}

// refused answers a call with an error behind some events of its turn, and sees what
// the next call gets.
func (a *Asked) refused(e string) {
	session := a.RT.Session(a.Q.SessionID())
	a.Fails(e, session.TurnStart(), session.Assistant("some of a turn"))
	a.Works("next")
}

// anyRequest sends requests of any method, where every driver has that call.
func anyRequest(p *Play) {
	if !p.offers(func(h harness.Hello) bool { return h.Offers(harness.CallRequest) }) {
		p.see("request", "not offered by all")
		return
	}
	for _, in := range texts(`"result":{"a":[1,null]}`, `"result":null`, `"result":7`, `"error":{"code":-32601,"message":"unknown","data":[1]}`, `"error":7`) {
		p.part(in.name, func() {
			p.whole = true
			peer := p.Launch("dshconform/ask")
			call, err := peer.GoRequest(p.ctx, "dshconform/ask", members{"a": 1, "b": members{"c": nil}})
			if err != nil {
				p.failed(err)
			}
			p.visit.Own(call)
			q, err := peer.RT.Next(p.ctx, "dshconform/ask")
			a := &Asked{Call: call, Peer: peer, Q: q, name: "request"}
			if err == nil {
				err = peer.RT.Write(p.ctx, []byte(`{"jsonrpc":"2.0","id":`+q.ID().Token()+`,`+in.value+"}\n"))
			}
			if err != nil {
				p.whoseFault(err)
				p.see("request.reading", "%s", p.came(err))
			}
			reply, ok := p.ends("request", call, p.patience())
			if !ok {
				a.failure(reply.Err)
				return
			}
			o, _ := wire.AsObject(reply.Result)
			p.see("request.result", "%s", normal(jsontext.Value(o["result"])))
		})
	}
}
