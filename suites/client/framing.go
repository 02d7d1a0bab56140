package client

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// deep is JSON that nests n levels: more than readers do that go down with it, and in a
// line that is no long one.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// deepObjects is the same of objects.
func deepObjects(n int) string { return strings.Repeat(`{"a":`, n) + "0" + strings.Repeat("}", n) }

// digits is an integer that no machine holds.
var digits = strings.Repeat("7", 5000)

// carried are lines that have a piece of JSON, or of what is none, in each place where
// one can stand: alone, in a notification, and in a response that nobody waits for.
func carried(v string) []string {
	return []string{
		v,
		`{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"nobody","event":{"type":"user/message","seq":0,"time":0,"data":{"id":"m","role":"user",` +
			`"content":[{"type":"text","text":"hello"}],"source":{"kind":"user"},"value":` + v + `}}}}`,
		`{"jsonrpc":"2.0","id":"nobody","result":{"value":` + v + `}}`,
	}
}

// framing: how bytes become frames. What comes between frames costs nothing.
func framing(s *suite) {
	for _, v := range []struct {
		name  string
		lines []string
	}{
		{"blank", []string{"", " ", "\t \t", strings.Repeat(" ", 4096), "\n\n"}},
		{"junk", []string{
			"hello", "(node:1) Warning: something is deprecated", "{", "}", `{"jsonrpc":"2.0","id":`, `{"jsonrpc":"2.0" "id":"1"}`,
			"{}", "true", "42", `"hello"`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":["session.event"],"params":{}}`,
			"Content-Length: 52", "[2026-12-01T00:00:00Z] INFO started", "<html>", "\x1b[32mready\x1b[0m",
		}},
		{"null", []string{"null"}},
		{"batch", []string{
			"[]", "[1,2]", `[{"jsonrpc":"2.0","id":"nobody","result":{}}]`,
			`[{"jsonrpc":"2.0","method":"dshconform/one"},{"jsonrpc":"2.0","method":"dshconform/two","params":{}}]`,
		}},
	} {
		s.It("C-FRM-01/"+v.name, func(t *T) { readOn(t, v.lines) })
	}
	s.It("C-FRM-01/crlf", carriageReturns)
	for _, v := range []struct {
		name  string
		lines []string
	}{
		{"invalid-utf8", append(carried("\"a\xff\xfe\xc3(b\""), "\xff\xfe\x80")},
		{"nul", append(carried("\"a\x00b\""), "\x00", "\x00\x00{}")},
		{"bom", []string{"\ufeff", "\ufeff" + carried(`"hello"`)[1], "\ufeffhello"}},
		{"lone-surrogate", carried(`"a\ud800b\udc00"`)},
		{"digits", append(carried(digits), `{"jsonrpc":"2.0","id":`+digits+`,"result":{}}`)},
		{"nesting", append(carried(deep(30_000)), carried(deepObjects(8_000))...)},
	} {
		s.It("C-FRM-02/"+v.name, func(t *T) { readOn(t, v.lines) })
	}
	s.It("C-FRM-03/any-byte", cutAnywhere)
	s.It("C-FRM-03/byte-by-byte", byteByByte)
	s.It("C-FRM-03/multibyte", cutInCharacters)
	for _, v := range []struct {
		name string
		size int
	}{{"below-64k", 64<<10 - 1}, {"at-64k", 64 << 10}, {"above-64k", 64<<10 + 1}, {"1-mib", 1 << 20}, {"16-mib", 16 << 20}} {
		s.It("C-FRM-04/"+v.name, func(t *T) { longLine(t, v.size) })
	}
	for _, v := range []struct{ name, char string }{{"u-2028", "\u2028"}, {"u-2029", "\u2029"}, {"u-0085", "\u0085"}} {
		s.It("C-FRM-05/"+v.name, func(t *T) { separator(t, v.char) })
	}
	s.It("C-FRM-06", damaged)
}

// readOn writes each line before every line of an answer, one after the other, and the
// calls have to settle: a reader may lose its way, or just the next frame.
func readOn(t *T, lines []string) {
	p := t.Launch(protocol.MethodPrompt)
	for _, line := range lines {
		expected := fmt.Sprintf("the answer is read behind the line %q", protocol.Short(line))
		a, ok := p.Asks(expected)
		if !ok {
			return
		}
		answer := a.Turn(harness.Turn{})
		var b bytes.Buffer
		for _, own := range answer.Lines() {
			b.WriteString(line + "\n")
			b.Write(own)
		}
		if !a.Write(expected, b.Bytes()) || !a.Gets(expected, answer) {
			return
		}
	}
	p.Works("the next call works behind such lines")
}

// carriageReturns ends every line of an answer with CR LF, an empty one before each.
func carriageReturns(t *T) {
	const expected = "lines that end with CR LF are read, and empty ones skipped"
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	var b bytes.Buffer
	for _, line := range answer.Lines() {
		b.WriteString("\r\n")
		b.Write(bytes.TrimSuffix(line, []byte("\n")))
		b.WriteString("\r\n")
	}
	if a.Write(expected, b.Bytes()) && a.Gets(expected, answer) {
		a.Works("the next call works behind lines that end with CR LF")
	}
}

// longLine pads the line with which a call settles to a size, its LF not counted, and then
// the one of another with its message. White space is the one thing that every reader has
// to skip.
func longLine(t *T, size int) {
	expected := fmt.Sprintf("a line of %d bytes is read, also if nothing follows it", size)
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	before, last := a.settling(answer)
	if !a.Write(expected, append(bytes.Join(before, nil), padded(last, size)...)) || !a.Gets(expected, answer) {
		return
	}
	const next = "the next call works behind a long line"
	a, ok := a.Asks(next)
	if !ok {
		return
	}
	answer = a.Turn(harness.Turn{})
	lines := answer.Lines()
	for i, line := range lines {
		if bytes.Contains(line, []byte(protocol.EventAssistantMessage)) {
			lines[i] = padded(line, size)
		}
	}
	expected = fmt.Sprintf("a notification of %d bytes is read", size)
	if a.Write(expected, lines...) && a.Gets(expected, answer) {
		a.Works(next)
	}
}

// padded is an object on a line, with so much white space before its end that it has the size.
func padded(line []byte, size int) []byte {
	end := bytes.LastIndexByte(line, '}')
	return slices.Concat(line[:end], bytes.Repeat([]byte(" "), size+1-len(line)), line[end:])
}

// separator writes a character raw in a text.
func separator(t *T, char string) {
	a := t.Asked()
	a.carries(fmt.Sprintf("the caller gets %+q", char), "be"+char+"hind", func(b []byte) [][]byte { return [][]byte{b} })
}

// carries writes an answer with the text, cut as the function says, and judges that the
// text reaches the caller: where the SDK rebuilds no answer, in the message of an error,
// which every SDK tells.
func (a *Asked) carries(expected, text string, cut func([]byte) [][]byte) {
	if a.t.Hello.Gives("finalResponse") && a.t.Hello.Settles {
		answer := a.Turn(harness.Turn{Text: text})
		if a.writeApart(expected+", in the text of an answer", cut(answer.Joined())...) {
			a.Gets(expected+", in the text of an answer", answer)
		}
		return
	}
	expected += ", in the message of an error"
	if !a.writeApart(expected, cut(a.Q.Error(protocol.CodeHandler, text))...) {
		return
	}
	if a.t.Fails(a.Call, expected, a.Shown) {
		reply, _ := a.Over()
		a.t.Expect(strings.Contains(reply.Err.Message, text), expected, fmt.Sprintf("the message is %+q", protocol.Short(reply.Err.Message)), a.Shown.frames()...)
	}
}

// damaged writes an answer whose own line is damaged, and the same call's sound answer
// behind it: what the call settles with tells what became of the first.
func damaged(t *T) {
	for _, v := range []struct {
		what   string
		damage func([]byte) []byte
	}{
		{"a byte order mark before the response", func(line []byte) []byte { return append([]byte("\ufeff"), line...) }},
		{"an invalid byte in a string of the response", func(line []byte) []byte {
			return bytes.Replace(line, []byte("damaged"), []byte("dam\xffged"), 1)
		}},
	} {
		a := t.Asked() // of a client of its own: the damage may be lasting
		line := v.damage(a.Q.Error(protocol.CodeHandler, "this one is damaged"))
		if err := a.RT.Write(t.Ctx, line, a.Turn(harness.Turn{}).Joined()); err != nil {
			t.Conclude(err)
			t.Observe(v.what, "the client reads no more")
			continue
		}
		reply, err := a.AwaitWithin(t.Ctx, t.run.deadlines.Call)
		switch {
		case err != nil:
			t.Conclude(err)
			t.visit.Spoil("stuck in " + t.ID)
			t.Observe(v.what, "the call hangs")
		case reply.Err == nil:
			t.Observe(v.what, "the line is ignored, the call waits for another")
		case strings.Contains(reply.Err.Message, "dam"):
			t.Observe(v.what, "the call settles with it%s", replaced(reply.Err.Message))
		default:
			t.Observe(v.what, "the call fails with an error of class %s", reply.Err.Class)
		}
	}
}

// replaced says what has become of a byte that is no character.
func replaced(message string) string {
	switch {
	case strings.Contains(message, "damaged"):
		return ""
	case strings.Contains(message, "dam\ufffdged"):
		return ", U+FFFD in the place of the byte"
	}
	return fmt.Sprintf(", with %+q in the place of the byte", protocol.Short(message))
}
