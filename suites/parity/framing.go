package parity

import (
	"bytes"
	"slices"
	"strings"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// digits is an integer that no machine holds.
var digits = strings.Repeat("7", 5000)

// deep is JSON that nests n levels.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// carrier is a notification of nobody's that has a piece of what may be JSON in it.
func carrier(v string) string {
	return `{"jsonrpc":"2.0","method":"dshconform/news","params":{"sessionId":"nobody","value":` + v + `}}`
}

// framing: how bytes become frames.
func framing(s *suite) {
	s.play("P-FRM-01", func(p *Play) {
		for _, in := range []input[func([]byte) []byte]{
			{"blank lines", func(l []byte) []byte { return append(lined("", " ", "\t \t"), l...) }},
			{"CR LF", func(l []byte) []byte {
				return append([]byte("\r\n"), bytes.Replace(l, []byte("\n"), []byte("\r\n"), 1)...)
			}},
			{"white space around", func(l []byte) []byte {
				return slices.Concat([]byte(" \t\r"), bytes.TrimSuffix(l, []byte("\n")), []byte("\r \t\n"))
			}},
			{"a lone CR between tokens", func(l []byte) []byte { return bytes.Replace(l, []byte(`"jsonrpc":`), []byte("\r\"jsonrpc\"\r:"), 1) }},
			{"vertical tab and form feed around", func(l []byte) []byte { return append([]byte("\v\f"), l...) }},
		} {
			p.part(in.name, func() {
				a := p.Launch(protocol.MethodPrompt).Ask("call")
				if in.name == "vertical tab and form feed around" {
					a.damaged(in.value(a.refusal())) // that is no JSON: most readers skip it
					return
				}
				var b []byte
				for _, line := range a.Turn(harness.Turn{}).Lines() {
					b = append(b, in.value(line)...)
				}
				a.Write(b)
				a.Ends()
				a.Works("next")
			})
		}
	})
	s.play("P-FRM-02", func(p *Play) {
		p.behind(texts("hello", "{", "}", `{"jsonrpc":"2.0","id":`, `{"jsonrpc":"2.0" "id":"1"}`, "Content-Length: 52", "\x1b[32mready\x1b[0m",
			"null", "true", "7", `"text"`, "[]", "[1,2]", `[{"jsonrpc":"2.0","id":"nobody","result":{}}]`, "{}", `{"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":null}`, `{"jsonrpc":"2.0","id":true,"result":{}}`, `{"jsonrpc":"2.0","method":7}`)...)
	})
	s.play("P-FRM-03", func(p *Play) {
		p.behind(texts("\xff\xfe\x80", carrier("\"a\xff\xfe\xc3(b\""), "\x00", carrier("\"a\x00b\""), "\ufeff", "\ufeff"+carrier("1"), carrier(`"a\ud800b\udc00"`))...)
	})
	s.play("P-FRM-04", func(p *Play) {
		p.behind([]input[string]{
			{"5,000 digits", digits}, {"5,000 digits in a notification", carrier(digits)}, {"1e400 in a notification", carrier("1e400")},
			{"2^53+1 in a notification", carrier("9007199254740993")},
			{"400 levels in a notification", carrier(deep(400))}, {"30,000 levels", deep(30_000)}, {"30,000 levels in a notification", carrier(deep(30_000))},
			{"NaN in a notification", carrier("NaN")}, {"Infinity in a notification", carrier("-Infinity")},
		}...)
	})
	s.play("P-FRM-05", func(p *Play) {
		each(p, []input[func(string) string]{
			{"a byte order mark before it", func(l string) string { return "\ufeff" + l }},
			{"a byte that is not UTF-8 in a string", replaced("damaged", "dam\xffaged")},
			{"a NUL byte in a string", replaced("damaged", "dam\x00aged")},
			{"an escaped lone surrogate", replaced("damaged", `dam\ud800aged`)},
			{"an escaped NUL", replaced("damaged", `dam\u0000aged`)},
			{"a tab in a string", replaced("damaged", "dam\taged")},
			{"NaN as data", replaced(`"message"`, `"data":NaN,"message"`)},
			{"1e400 as data", replaced(`"message"`, `"data":1e400,"message"`)},
			{"2^53+1 as data", replaced(`"message"`, `"data":9007199254740993,"message"`)},
			{"5,000 digits as data", replaced(`"message"`, `"data":`+digits+`,"message"`)},
			{"400 levels as data", replaced(`"message"`, `"data":`+deep(400)+`,"message"`)},
			{"30,000 levels as data", replaced(`"message"`, `"data":`+deep(30_000)+`,"message"`)},
			{"a member that stands twice", replaced(`"message"`, `"message":"first","message"`)},
			{"no jsonrpc", replaced(`"jsonrpc":"2.0",`, "")},
			{"another jsonrpc", replaced(`"2.0"`, `"1.0"`)},
			{"another object behind it", replaced("\n", carrier("1")+"\n")},
			{"a comma too many", replaced("}\n", ",}\n")},
			{"a comment", replaced("{", "/* comment */{")},
			{"other cases of the names", func(l string) string { return replaced(`"error"`, `"Error"`)(replaced(`"id"`, `"ID"`)(l)) }},
		}, func(a *Asked, damage func(string) string) {
			a.damaged([]byte(damage(string(a.refusal()))))
			a.Works("next")
		})
	})
	s.play("P-FRM-06", func(p *Play) {
		each(p, texts("a\u2028b", "a\u2029b", "a\u0085b", `a\u000bb\u000cb`), func(a *Asked, text string) {
			a.Write(bytes.ReplaceAll(a.Turn(harness.Turn{Text: "the separator"}).Joined(), []byte("separator"), []byte(text)))
			a.Ends()
		})
	})
	s.play("P-FRM-07", func(p *Play) {
		p.part("one byte at a time", func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			a.WriteApart(slices.Collect(slices.Chunk(a.Turn(harness.Turn{Text: "运 \U0001f468\u200d\U0001f680"}).Joined(), 1))...)
			a.Ends()
		})
		p.part("cut inside characters", func() {
			a := p.Launch(protocol.MethodPrompt).Ask("call")
			a.WriteApart(slices.Collect(slices.Chunk(a.Turn(harness.Turn{Text: strings.Repeat("运气\U0001f680é", 50)}).Joined(), 7))...)
			a.Ends()
		})
	})
	s.play("P-FRM-08", func(p *Play) {
		each(p, []input[int]{{"64 KiB − 1", 64<<10 - 1}, {"64 KiB", 64 << 10}, {"64 KiB + 1", 64<<10 + 1}, {"1 MiB", 1 << 20}, {"16 MiB", 16 << 20}}, func(a *Asked, size int) {
			line := a.refusal()
			end := bytes.LastIndexByte(line, '}')
			a.damaged(slices.Concat(line[:end], bytes.Repeat([]byte(" "), size-len(line)), line[end:]))
			a.Works("next")
		})
	})
	s.play("P-FRM-09", func(p *Play) {
		a := p.Launch(protocol.MethodPrompt).Ask("call")
		a.told = "damaged"
		a.Write(bytes.TrimSuffix(a.refusal(), []byte("\n")))
		a.exits(0)
		a.Ends()
	})
}

// behind writes each line before every line of an answer.
func (p *Play) behind(inputs ...input[string]) {
	each(p, inputs, func(a *Asked, line string) {
		var b []byte
		for _, own := range a.Turn(harness.Turn{}).Lines() {
			b = append(append(b, line+"\n"...), own...)
		}
		a.Write(b)
		a.Ends()
		a.Works("next")
	})
}

// replaced puts something in the place of the last that a line has of it.
func replaced(old, by string) func(string) string {
	return func(line string) string {
		i := strings.LastIndex(line, old)
		return line[:i] + by + line[i+len(old):]
	}
}
