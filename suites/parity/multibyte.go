package parity

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// scripts are texts that go wrong where bytes, code units and characters are mixed up.
var scripts = []input[string]{
	{"CJK", "运气不错，今天"}, {"emoji with ZWJ", "\U0001f468\u200d\U0001f469\u200d\U0001f467"}, {"astral", "\U00020bb7\U0001d11e"}, {"combining", "e\u0301 \u1112\u1161\u11ab"},
	{"right to left", "שלום \u202eمرحبا\u202c"}, {"separators", "a\u2028b\u2029c\u0085d"}, {"controls", "a\x00b\x1b\x7f\t\r\n"}, {"no characters", "\ufffe\uffff\ufffd\ufeff"},
	{"quotes", `"\"\\/`},
}

// multibyte: texts in every script, both ways.
func multibyte(s *suite) {
	s.play("P-MB-01", func(p *Play) {
		for _, in := range scripts {
			p.part(in.name, func() {
				p.whole = true
				a := p.Launch(protocol.MethodPrompt).AskWith("call", harness.Prompt{SessionID: "s1", Text: in.value})
				a.Settles(harness.Turn{Text: in.value})
			})
		}
		p.part("escaped by the runtime", func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			a.Write(bytes.ReplaceAll(a.Turn(harness.Turn{Text: "escaped"}).Joined(), []byte("escaped"), []byte(`\u8fd0\ud83d\ude80\u0041\/`)))
			a.Ends()
		})
	})
	s.play("P-MB-02", func(p *Play) {
		p.part("in a prompt", func() {
			p.whole = true
			a := p.Launch(protocol.MethodPrompt).AskWith("call", harness.Prompt{SessionID: "s1", Blocks: jsontext.Value(`[{"type":"text","text":"a\ud800b"}]`)})
			a.Settles(harness.Turn{Unquoted: true})
			a.Works("next")
		})
		p.part("in an answer", func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			a.Write(bytes.ReplaceAll(a.Turn(harness.Turn{Text: "surrogate"}).Joined(), []byte("surrogate"), []byte(`a\ud800b`)))
			a.Ends()
			a.Works("next")
		})
	})
	s.play("P-MB-03", func(p *Play) {
		for _, in := range []input[string]{
			{"empty", ""}, {"300 characters", strings.Repeat("s", 300)}, {"a slash", "a/b"}, {"dots", "../../x"}, {"a control character", "a\tb\x01"},
			{"a separator", "a\u2028b"}, {"CJK", "会话"}, {"like a number", "17"}, {"like a member of every object", "__proto__"}, {"another such", "constructor"},
		} {
			p.part(in.name, func() {
				p.whole = true
				a := p.Launch(protocol.MethodPrompt).AskWith("call", harness.Prompt{SessionID: in.value, Text: "the prompt"})
				a.Settles(harness.Turn{Between: func(s *harness.Session) [][]byte { return s.Child(in.value+".child", "the child's") }})
			})
		}
	})
	s.play("P-MB-04", func(p *Play) {
		for _, in := range texts(`[]`, `[{"type":"text","text":""}]`, `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`,
			`[{"type":"dshconform/unknown","n":[1,{"a":null}]}]`, `[{"type":"image","source":{"data":"aGk="}},{"type":"text","text":"x","y":1.5}]`, `[{}]`, `[{"type":7}]`) {
			p.part(in.name, func() {
				p.whole = true
				a := p.Launch(protocol.MethodPrompt).AskWith("call", harness.Prompt{SessionID: "s1", Blocks: jsontext.Value(in.value)})
				a.Settles(harness.Turn{})
			})
		}
	})
}
