package client

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// scripts are texts that encodings of a locale do not have, or that several units of one
// make up.
var scripts = []string{
	"你好，世界。日本語のテキスト 한국어", "👋 👩‍👩‍👧 🏳️‍🌈 👍🏽", "e\u0301 ẛ̣ ก็ि \u1112\u1161\u11ab", "שלום עולם \u202bمرحبا\u202c", "𝒳 𠮷 😀 \U0010ffff",
	"\u2028 \u2029 \u0085 \ufeff \ufffd", "tab\t quote\" backslash\\ slash/ \u007f \u0001 \\u0041 \\n", "naïve café ß ÿ",
	"<b>&amp; & 'x' {{y}} ${z} %s %% a\u00a0b\u00adc\u200bd \U000e0041 \ufdd0",
}

// sessionIDs are ids that are another one when somebody tidies them up: letters in both
// cases, characters that several forms of Unicode have, blanks at the ends.
var sessionIDs = []string{
	"Case-SENSITIVE-İ-%s-ß", "日本語-%s-한국어-𝒳", "e\u0301-\u00e9-\u212b-ก็ิ-%s", "שלום-%s-\u202bمرحبا\u202c", "👩‍👩‍👧-%s-👍🏽",
	" %s ", "\u3000%s\u00a0", "ﬁ-½-%s-Ⅳ",
	"../a//b/%s/?c#d&e", "long-" + strings.Repeat("0123456789", 20) + "-%s",
}

// multibyte: what callers write reaches the wire.
func multibyte(s *suite) {
	s.It("C-MB-01", func(t *T) {
		const expected = "the text of a prompt reaches the wire unchanged"
		p := t.Launch(protocol.MethodPrompt)
		r := rand.New(rand.NewPCG(t.run.Seed, 2))
		texts := scripts
		for range 20 {
			texts = append(texts, anyText(r))
		}
		for _, text := range texts {
			a, err := p.ask(harness.Prompt{SessionID: t.Session(), Text: text})
			if !t.Judge(err, fmt.Sprintf("%s: %+q", expected, text)) {
				return
			}
			t.Expect(a.Q.Text() == text, fmt.Sprintf("%s: %+q", expected, text), fmt.Sprintf("it is %+q", a.Q.Text()), a.Q.Line)
			a.settle(harness.Turn{})
			if t.Failed() {
				return
			}
		}
		all := []any{
			text("你好 "), text("👋"), text(""), text("👋"), text(" \r\n"),
			object{"type": "dshconform/区块", "内容": "𝒳", "camelCase": object{"snake_case": []any{"<ß>", object{"deep": "𝒳"}}}},
		}
		for i := range 20 { // and many of them
			all = append(all, text(fmt.Sprintf("第 %d 块", i)))
		}
		blocks := harness.Encode(all)
		a, err := p.ask(harness.Prompt{SessionID: t.Session(), Blocks: blocks})
		if !t.Judge(err, "a prompt of several blocks reaches the wire unchanged") {
			return
		}
		params, _ := wire.AsObject(a.Q.Params())
		_, blockwise := wire.AsArray(params["contentBlocks"]) // otherwise it is no prompt, which the monitor tells
		t.Expect(!blockwise || wire.SameValue(params["contentBlocks"], blocks), "content blocks reach the wire unchanged: "+string(blocks), "they are "+given(params["contentBlocks"]), a.Q.Line)
		a.settle(harness.Turn{})
		for _, form := range sessionIDs {
			if t.Failed() || !p.names(fmt.Sprintf(form, t.Session())) {
				return
			}
		}
	})
}

// names judges that a prompt is one of this session on the wire as well. It takes whatever
// prompt comes next: who waits for the right one sees a hang where the id is another.
func (p *Peer) names(session string) bool {
	t, shown := p.t, p.Since()
	expected := fmt.Sprintf("the session id of a prompt reaches the wire unchanged: %+q", session)
	call, err := p.GoPrompt(t.Ctx, harness.Prompt{SessionID: session, Text: t.Text("prompt")})
	t.Need("make a call", err)
	t.own(call)
	q, err := p.RT.Next(t.Ctx, protocol.MethodPrompt)
	if err != nil {
		return t.Judge(p.unasked(call, err), expected)
	}
	if !t.Expect(q.SessionID() == session, expected, fmt.Sprintf("it is %+q", q.SessionID()), q.Line) {
		return false
	}
	a := &Asked{Call: call, Peer: p, Q: q, Shown: shown}
	return a.Settles("the prompt of that session settles: "+fmt.Sprintf("%+q", session), a.Turn(harness.Turn{}))
}

// anyText makes a text of characters from anywhere in Unicode.
func anyText(r *rand.Rand) string {
	text := make([]rune, 1+r.IntN(40))
	for i := range text {
		for {
			c := rune(r.IntN(unicode.MaxRune + 1))
			if r.IntN(2) == 0 {
				c = rune(r.IntN(0x3000))
			}
			if c > 0 && (c < 0xd800 || c > 0xdfff) {
				text[i] = c
				break
			}
		}
	}
	return string(text)
}
