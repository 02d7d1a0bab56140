package server

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
)

// The texts of S-ENC-01 hold characters of one class each, so that what is wrong
// with one class is not blamed on another.
var classTexts = []named[string]{
	{"cjk", "漢字かな交じり文、中文，한국어"},
	{"emoji-zwj", "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽 🇩🇪"},
	{"astral", "𝒜𝓑 𐍈𐌰 𝟘"},
	{"combining", "e\u0301 a\u0308\u0323 o\u0302\u0301"},
	{"right-to-left", "שלום \u202eabc\u202c مرحبا \u200f\u061c"},
}

// mixedText holds characters of two, three and four bytes, and of all classes.
const mixedText = "é 漢字 😀 𝒜 e\u0301 שלום ж"

// encoding: what happens to text that is not ASCII, on the way in, through the
// model, and out again.
func encoding(s *suite) {
	each(s, "S-ENC-01", shared, classTexts, func(t *T, text string) {
		srv := t.Shared()
		script := t.Script(model.Text("Fine."))
		turn := t.BeginText(srv, t.Session(), script.Prompt(framed(text)))
		t.unchanged(turn, turn.Settle(), script, text)
	})
	s.It("S-ENC-02", shared, cutInCharacters)
	s.It("S-ENC-03", shared, escapedOrRaw)
	s.It("S-ENC-04", shared, func(t *T) {
		long := strings.Repeat(mixedText+" ", 30) // a reader with a buffer cuts it once more
		t.comesOut(model.CutText(long), long, "assistant text that the model streams cut inside its characters comes out whole")
		if !t.Failed() {
			t.wholeBehindTool(mixedText)
		}
	})
	s.It("S-ENC-05", shared, func(t *T) {
		srv := t.Shared()
		id := srv.NewID().Token()
		for _, c := range t.Write(srv, `{"jsonrpc":"2.0","id":`+id+`,"method":"no/such/\ud800","params":{"text":"\udc00"}}`+"\n") {
			c.Disown() // whether it is served has no right answer: a strict reader takes the line for malformed
		}
		t.Barrier(srv)
		if !t.WithoutModel() {
			_, _, err := t.loneSurrogate(srv, t.Session())
			t.Need("the server goes on", err)
		}
		t.Exercised(srv, "S-ENC-05")
	})
	s.It("S-ENC-06", shared, anySessionID)
	s.It("S-ENC-07", shared, afterLoneSurrogate)
	each(s, "S-ENC-08", shared, []named[string]{{"u-2028", "a\u2028b"}, {"u-2029", "a\u2029b"}, {"u-0085", "a\u0085b"}}, func(t *T, text string) {
		t.comesOut(model.Text(text), text, fmt.Sprintf("assistant text with %+q comes out of the model's stream unchanged", text))
	})
	s.It("S-ENC-09", shared, func(t *T) {
		srv := t.Shared()
		_, got, err := t.loneSurrogate(srv, t.Session())
		t.Need("the server goes on", err)
		t.Observe("what the model gets of a lone surrogate", "%s", got)
	})
	each(s, "S-ENC-10", shared, []named[string]{
		{"empty", ""}, {"long", strings.Repeat("x", 300)}, {"control", "a\u0001b\u001fc"}, {"slash", "a/b/c"},
	}, unusualSessionID)
	s.It("S-ENC-11", shared, anyRequestID)
}

// unchanged judges that the text of a prompt reached the model and came back.
func (t *T) unchanged(turn *Turn, settled Settled, script model.Script, text string) {
	inModel := t.toModel(script)
	t.Expect(inModel.found && inModel.is == text, fmt.Sprintf("the prompt's text reaches the model as %+q", text), "the model got "+inModel.String(), turn.Line)
	inEvent, line := shown(settled.Events)
	t.Expect(inEvent.found && inEvent.is == text, fmt.Sprintf("user/message shows the prompt's text as %+q", text), "it shows "+inEvent.String(), turn.Line, line)
}

// cutInCharacters writes the frame of a prompt in pieces that end inside each
// multibyte character, at each of its inner bytes.
func cutInCharacters(t *T) {
	srv := t.Shared()
	session, script := t.Session(), t.Script(model.Text("Fine."))
	frame := harness.Frame(srv.NewID(), protocol.MethodPrompt, Prompt(session, script.Prompt(framed(mixedText))))
	var pieces [][]byte
	start := 0
	for i, b := range frame {
		if b&0xc0 == 0x80 { // not the first byte of its character
			pieces, start = append(pieces, frame[start:i]), i
		}
	}
	turn := t.BeginPieces(srv, session, append(pieces, frame[start:])...)
	settled, err := turn.TrySettle()
	if t.Judge(err, "a prompt whose frame is cut inside each multibyte character runs its turn", turn.Line) {
		t.unchanged(turn, settled, script, mixedText)
	}
}

// escapedOrRaw sends one prompt with its characters as they are and one with all
// of them escaped. What counts is that the two mean the same.
func escapedOrRaw(t *T) {
	srv := t.Shared()
	const text = mixedText + ` "quoted" \ /`
	send := func(quote func(string) string) (*Turn, Settled, model.Script) {
		session, script := t.Session(), t.Script(model.Text("Fine."))
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":"%s","contentBlocks":[{"type":"text","text":%s}]}}`+"\n",
			srv.NewID().Token(), session, quote(script.Prompt(framed(text))))
		turn := t.BeginPieces(srv, session, []byte(line))
		return turn, turn.Settle(), script
	}
	plain, plainSettled, plainScript := send(rawly)
	escaped, escapedSettled, escapedScript := send(escapedly)
	rawModel, rawEvent := t.toModel(plainScript), must(shown(plainSettled.Events))
	if !rawModel.found || !rawEvent.found {
		t.NotReached("the raw form is shown", fmt.Errorf("neither the model nor user/message has the prompt's text"))
	}
	inModel := t.toModel(escapedScript)
	t.Expect(inModel == rawModel, "the escaped form of a text reaches the model like the raw one: "+rawModel.String(), "the model got "+inModel.String(), plain.Line, escaped.Line)
	inEvent, line := shown(escapedSettled.Events)
	t.Expect(inEvent == rawEvent, "user/message shows the escaped form of a text like the raw one: "+rawEvent.String(), "it shows "+inEvent.String(), plain.Line, escaped.Line, line)
}

func must[A, B any](a A, _ B) A { return a }

// rawly is a JSON string with no escapes but those that must be.
func rawly(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
}

// escapedly is a JSON string of escapes alone, in upper and lower case by turns.
func escapedly(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, unit := range utf16.Encode([]rune(s)) {
		if i%2 == 0 {
			fmt.Fprintf(&b, `\u%04x`, unit)
		} else {
			fmt.Fprintf(&b, `\u%04X`, unit)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comesOut judges that what the model says in this step is what the events of the
// turn show. A turn of plain words before it tells what is wrong with the text
// from what is wrong with turns.
func (t *T) comesOut(step model.Step, text, expected string) {
	srv := t.Shared()
	session := t.Session()
	plain := t.Run(srv, session, model.Text("Plain words."))
	if shows := replyOf(plain.Events).message; shows != "Plain words." {
		t.NotReached("assistant/message shows plain words", fmt.Errorf("it shows %q", shows))
	}
	turn := t.Begin(srv, session, t.Script(step))
	settled, err := turn.TrySettle()
	if !t.Judge(err, expected, turn.Line) {
		return
	}
	if !t.Expect(settled.Kind == plain.Kind, expected, "the turn ended with "+orNone(settled.Kind), turn.Line, turnEndLine(settled)) {
		return
	}
	r := replyOf(settled.Events)
	t.Expect(r.message == text, expected, "assistant/message shows "+differing(r.message, text), turn.Line, r.line)
	t.Expect(!r.chunked || r.chunks == text, expected, "the assistant/chunk events show "+differing(r.chunks, text), turn.Line)
}

// wholeBehindTool has the model say a text in the second call of a turn, behind a call
// of its tool. A decoder that is made once for a turn meets both.
func (t *T) wholeBehindTool(text string) {
	if !t.hasChildren() {
		return
	}
	child := model.Child("child", "Go.", t.Tag(), model.Text("A child's turn."))
	turn := t.Begin(t.Shared(), t.Session(), t.Script(model.Spawn(child), model.CutText(text)))
	settled := t.ran(turn)
	r := replyOf(settled.Events)
	t.Expect(strings.Contains(r.message, text), "assistant text that the model streams behind a call of its tool comes out whole", "assistant/message shows "+differing(r.message, text), turn.Line, r.line)
}
