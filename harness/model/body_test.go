package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/model"
)

// send posts a body to a fresh record and gives the call.
func send(t *testing.T, stub *model.Stub, d model.Dialect, body string) (model.Call, answer) {
	t.Helper()
	stub.Forget()
	got := post(t.Context(), stub, d, []byte(body))
	calls := stub.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls recorded", len(calls))
	}
	return calls[0], got
}

func TestWhatTheRecordSaysOfARequest(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	call, _ := send(t, stub, model.ChatCompletions, `{"model":"m","max_tokens":9007199254740993,"stream":true,
		"messages":[{"role":"system","content":"s"},{"content":["a",{"type":"text","text":"b"},{"type":"image_url","image_url":{}},{"type":"future"}],"role":"user"}],
		"tools":[{"type":"function","function":{"name":"bash"}},{"name":"subagent"}],"dsh_session_log":[{"a":[1]}]}`)
	g.Expect(call.Model).To(Equal("m"))
	g.Expect(call.MaxTokens).To(Equal("9007199254740993"))
	g.Expect(call.Stream).To(BeTrue())
	g.Expect(call.Tools).To(Equal([]string{"bash", "subagent"}))
	g.Expect(call.Messages).To(Equal([]model.Message{
		{Role: "system", Texts: []string{"s"}, Blocks: []string{"text"}},
		{Role: "user", Texts: []string{"a", "b"}, Blocks: []string{"text", "text", "image_url", "future"}},
	}))
	g.Expect(call.Lossy()).To(BeFalse())
	g.Expect(call.BodySize).To(BeEquivalentTo(len(call.Body)))
	g.Expect(call.Digest).To(HaveLen(64))

	for _, system := range []string{`"s1"`, `[{"type":"text","text":"s1"}]`} {
		call, _ = send(t, stub, model.Messages, `{"messages":[{"role":"user","content":"u"}],"system":`+system+`}`)
		g.Expect(call.Messages[0].Role).To(Equal("system"))
		g.Expect(call.Messages[0].Texts).To(Equal([]string{"s1"}))
		g.Expect(call.UserTexts()).To(Equal([]string{"u"}))
	}
}

func TestBodiesThatAreNotWhatWasExpected(t *testing.T) {
	stub := start(t, model.Options{})
	for _, d := range dialects {
		for _, tt := range []struct{ body, err string }{
			{`{}`, ""},
			{`{"messages":null,"model":7,"stream":"yes","tools":{"a":1},"system":3,"max_tokens":"x","tag":"forged"}`, ""},
			{`{"messages":[null,1,"x",[],{"role":1,"content":{"a":1},"tool_calls":3},{"content":[null,[1],{"text":7,"type":"text"}]}]}`, ""},
			{`{"messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]}`, ""},
			{``, "empty"},
			{`[]`, "not an object"},
			{`{"messages":[{"role":"user","content":"a"`, "no JSON object"},
			{`{"messages":[{"role":"user"]}`, "no JSON object"},
			{`{} {}`, "more than one value"},
			{"{\"model\":\"a\x00\"}", "no JSON object"},
			{`{"x":` + strings.Repeat("[", 100_000), "no JSON object"},
		} {
			t.Run(fmt.Sprintf("%s/%.30q", d, tt.body), func(t *testing.T) {
				g := NewWithT(t)
				call, got := send(t, stub, d, tt.body)
				g.Expect(call.Tag).To(BeEmpty())
				g.Expect(string(call.Body)).To(Equal(tt.body), "the body is kept, whatever it is")
				if tt.err == "" {
					g.Expect(call.BodyError).To(BeEmpty())
					g.Expect(got.text).To(Equal("ok"))
					return
				}
				g.Expect(call.BodyError).To(ContainSubstring(tt.err))
				g.Expect(got.status).To(Equal(400))
				g.Expect(got.errorText).To(Equal(call.BodyError))
			})
		}
	}
}

func TestTextThatCannotBeRepresented(t *testing.T) {
	stub := start(t, model.Options{})
	marker, err := json.Marshal(model.NewScript("t", model.Text("found")).Marker())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dialects {
		for _, tt := range []struct{ literal, text string }{
			{`"a\ud800b"`, "a\ufffdb"},
			{`"\udc00"`, "\ufffd"},
			{"\"a\xffb\"", "a\ufffdb"},
			{"\"\xed\xa0\x80\"", "\ufffd\ufffd\ufffd"}, // a surrogate in the form of UTF-8
		} {
			t.Run(fmt.Sprintf("%s/%q", d, tt.literal), func(t *testing.T) {
				g := NewWithT(t)
				call, got := send(t, stub, d, `{"messages":[{"role":"user","content":[{"type":"text","text":"fine"},{"type":"text","text":`+tt.literal+`},`+
					`{"type":"text","text":`+string(marker)+`}]},{"role":"user","content":"\ud83d\ude00 \ufffd"}]}`)
				g.Expect(got.text).To(Equal("found"))
				g.Expect(call.Messages[0].Texts[1]).To(Equal(tt.text))
				g.Expect(call.Messages[0].RawTexts).To(Equal([]string{"", tt.literal, ""}))
				g.Expect(call.Lossy()).To(BeTrue())
				g.Expect(call.Messages[1].Lossy()).To(BeFalse(), "a pair of surrogates and a U+FFFD that was sent are exact")
				g.Expect(call.Messages[1].Texts).To(Equal([]string{"😀 \ufffd"}))
				g.Expect(string(call.Body)).To(ContainSubstring(tt.literal))
			})
		}
	}
}

func TestAnyTextReachesTheRecord(t *testing.T) {
	stub := start(t, model.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		texts := rapid.SliceOfN(anyText(), 1, 4).Draw(rt, "texts")
		d := rapid.SampledFrom(dialects).Draw(rt, "dialect")
		stub.Forget()
		a := &agent{stub: stub, dialect: d, whole: rapid.Bool().Draw(rt, "whole")}
		got := a.run(t.Context(), append(texts, model.NewScript("t", model.CutText(texts[0])).Marker())...)
		g.Expect(got.text).To(Equal(texts[0]))
		g.Expect(stub.Calls()[0].UserTexts()[:len(texts)]).To(Equal(texts))
	})
}

func TestHugePrompts(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		huge := strings.Repeat("0123456789abcde中", 1<<20) // 18 MiB
		var observed int
		a.stub.OnCall(func(c model.Call) { observed = len(c.Body) })
		got := a.run(t.Context(), huge+model.NewScript("t", model.Text("read")).Marker())
		g.Expect(got.text).To(Equal("read"))
		call := a.stub.CallsByTag("t")[0]
		g.Expect(call.Body).To(BeNil(), "a body over the bound is not kept")
		g.Expect(call.BodySize).To(BeNumerically(">", 16<<20))
		g.Expect(strings.HasPrefix(call.UserTexts()[0], huge)).To(BeTrue(), "its texts are")
		g.Expect(observed).To(BeEquivalentTo(call.BodySize), "an observer sees it whole")
	})
}

func TestBodyOverTheLimit(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{MaxBody: 1000})
	for _, d := range dialects {
		call, got := send(t, stub, d, `{"model":"`+strings.Repeat("x", 2000)+`"}`)
		g.Expect(got.status).To(Equal(413))
		g.Expect(call.BodyError).To(ContainSubstring("1000 bytes came"))
		g.Expect(bytes.HasPrefix(call.Body, []byte(`{"model":"xxx`))).To(BeTrue())
	}
}
