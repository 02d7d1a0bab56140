package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/model"
)

const prefix = "[[" + model.Schema + " "

// anyText draws text that is likely to trip a search for markers.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "]]", "[[", `{"`, `"}]]`, "\\", `\u005b`, "\u2028", "\x00", "😀", "\ufffd", "[[dshconform.script/v1"}),
	)
}

// nearMarkers draws junk that begins as a marker does.
func nearMarkers() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return prefix + rapid.SampledFrom([]string{
			"", "]]", "{", "{}", "{}]]", `{"tag":"a"`, `{"tag":"a","steps":[]}`, `{"tag":"a","steps":[]} ]`, "[]]]", "null]]", `{"tag":"`,
			`{"tag":"a","steps":[{}]}]]`,
		}).Draw(t, "junk")
	})
}

func anyScript(depth int) *rapid.Generator[model.Script] {
	return rapid.Custom(func(t *rapid.T) model.Script {
		return model.Script{
			Tag:   rapid.StringN(1, 10, -1).Draw(t, "tag"),
			Steps: rapid.SliceOfN(anyStep(depth), 0, 5).Draw(t, "steps"),
		}
	})
}

func anyStep(depth int) *rapid.Generator[model.Step] {
	return rapid.Custom(func(t *rapid.T) model.Step {
		text := rapid.OneOf(anyText(), nearMarkers())
		kinds := 7
		if depth == 0 {
			kinds = 6
		}
		switch rapid.IntRange(1, kinds).Draw(t, "kind") {
		case 1:
			return model.Step{Kind: model.KindText, Text: text.Draw(t, "text"), Cut: rapid.Bool().Draw(t, "cut")}
		case 2:
			return model.Events(rapid.IntRange(0, 1000).Draw(t, "events"), rapid.IntRange(1, 1000).Draw(t, "size"))
		case 3:
			return model.AtGate(rapid.StringN(1, 10, -1).Draw(t, "gate"))
		case 4:
			return model.Fail(rapid.IntRange(400, 599).Draw(t, "status"), text.Draw(t, "message"))
		case 5:
			return model.Drop()
		case 6:
			return model.Finish(rapid.StringN(1, 10, -1).Draw(t, "finish"))
		}
		children := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) model.Subagent {
			child := model.Subagent{Description: text.Draw(t, "description"), Prompt: text.Draw(t, "prompt")}
			if rapid.Bool().Draw(t, "scripted") {
				script := anyScript(depth-1).Draw(t, "script")
				child.Script = &script
			}
			return child
		}), 1, 3).Draw(t, "children")
		return model.Spawn(children...)
	})
}

func TestAnyScriptRoundTripsInAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		script := anyScript(2).Draw(t, "script")
		marker := script.Marker()
		g.Expect(strings.IndexFunc(marker, func(r rune) bool { return r >= utf8.RuneSelf })).To(Equal(-1), "a marker is ASCII")
		before := rapid.SliceOf(rapid.OneOf(anyText(), nearMarkers(), rapid.Just(model.NewScript("other").Marker()))).Draw(t, "before")
		// Behind the marker anything but another: joined pieces may make up a prefix.
		after := rapid.SliceOf(anyText()).Filter(func(pieces []string) bool {
			return !strings.Contains(strings.Join(pieces, ""), prefix)
		}).Draw(t, "after")
		texts := []string{model.NewScript("earlier").Marker(), strings.Join(before, "") + "\n" + marker + strings.Join(after, ""), "context"}
		found, err := model.Search(texts)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).To(Equal(script))
	})
}

func TestFindNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(anyText(), nearMarkers(), rapid.Just(prefix),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		texts := rapid.SliceOf(rapid.Map(rapid.SliceOf(piece), func(p []string) string { return strings.Join(p, "") })).Draw(t, "texts")
		script, ok := model.Find(texts)
		_, err := model.Search(texts)
		if ok != (err == nil) {
			t.Fatalf("Find says %v, Search %v", ok, err)
		}
		if ok && script.Validate() != nil {
			t.Fatalf("found a script that is none: %v", script.Validate())
		}
		var markerErr *model.MarkerError
		if err != nil && !errors.Is(err, model.ErrNoMarker) && !errors.As(err, &markerErr) {
			t.Fatalf("an error of neither kind: %v", err)
		}
	})
}

func TestWhichMarkerCounts(t *testing.T) {
	a, b := model.NewScript("a", model.Text("1")), model.NewScript("b", model.Text("2"))
	inside := model.NewScript("outer", model.Text("x "+a.Marker()), model.Spawn(model.Subagent{Prompt: b.Marker()}))
	cut := a.Marker()[:len(a.Marker())-4]
	for _, tt := range []struct {
		name  string
		texts []string
		tag   string // empty: no marker
	}{
		{"none", []string{"x", ""}, ""},
		{"no text", nil, ""},
		{"the last text", []string{a.Marker(), b.Marker()}, "b"},
		{"before context", []string{a.Marker(), b.Marker(), "cwd: /x"}, "b"},
		{"the last of one text", []string{"x " + a.Marker() + b.Marker() + " y"}, "b"},
		{"inside another", []string{inside.Marker()}, "outer"},
		{"behind a broken one", []string{cut + a.Marker()}, "a"},
		{"white space", []string{prefix + " \n" + `{"tag":"w","steps":[]}` + "\t ]]"}, "w"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			script, ok := model.Find(tt.texts)
			g.Expect(ok).To(Equal(tt.tag != ""))
			g.Expect(script.Tag).To(Equal(tt.tag))
		})
	}
}

func TestErrorsOfScriptsAreExplained(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{`{"steps":[]}`, `"tag" is missing`},
		{`{"tag":"","steps":[]}`, `"tag" is missing`},
		{`{"tag":"a"}`, `"steps" is missing`},
		{`{"tag":"a","steps":[],"more":1}`, `"more"`},
		{`{"tag":"a","tag":"b","steps":[]}`, `duplicate`},
		{`{"tag":1,"steps":[]}`, `number`},
		{`{"tag":"a","steps":[{"text":"x"},{}]}`, `step 2: does nothing`},
		{`{"tag":"a","steps":[{"text":"x","gate":"g"}]}`, `step 1: is several steps in one: text, gate`},
		{`{"tag":"a","steps":[{"Text":"x"}]}`, `"Text"`},
		{`{"tag":"a","steps":[{"gate":""}]}`, `a gate needs a name`},
		{`{"tag":"a","steps":[{"gate":"g","cut":true}]}`, `"cut" goes with "text"`},
		{`{"tag":"a","steps":[{"text":"g","size":1}]}`, `"size" goes with "events"`},
		{`{"tag":"a","steps":[{"text":"g","message":""}]}`, `"message" goes with "fail"`},
		{`{"tag":"a","steps":[{"events":-1}]}`, `"events" is -1`},
		{`{"tag":"a","steps":[{"events":1.5}]}`, `1.5`},
		{`{"tag":"a","steps":[{"events":1,"size":0}]}`, `"size" is 0`},
		{`{"tag":"a","steps":[{"events":16777216,"size":1024}]}`, `more than`},
		{`{"tag":"a","steps":[{"fail":200}]}`, `"fail" is 200`},
		{`{"tag":"a","steps":[{"drop":false}]}`, `"drop" is false`},
		{`{"tag":"a","steps":[{"finish":""}]}`, `empty finish reason`},
		{`{"tag":"a","steps":[{"subagents":[]}]}`, `no subagent`},
		{`{"tag":"a","steps":[{"subagent":{"script":{"tag":"b","steps":[{"gate":""}]}}}]}`, `script of subagent 1: step 1: a gate`},
	} {
		t.Run(tt.script, func(t *testing.T) {
			g := NewWithT(t)
			_, err := model.Search([]string{prefix + tt.script + "]]"})
			var markerErr *model.MarkerError
			g.Expect(errors.As(err, &markerErr)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
		})
	}
	for _, tt := range []struct{ text, want string }{
		{prefix + "]]", "no JSON object"},
		{prefix + `["a"]]]`, "no JSON object"},
		{prefix + `{"tag":"a"`, "reading its JSON object"},
		{prefix + `{"tag":"a","steps":[]}]`, "no ]] behind"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			_, err := model.Search([]string{tt.text})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tt.want)))
		})
	}
}

func TestScriptIsTheJSONOfTheGrammar(t *testing.T) {
	g := NewWithT(t)
	script := model.NewScript("t17", model.Text("é"), model.CutText("中"), model.Events(3, 1), model.Events(2, 9), model.AtGate("g"),
		model.Spawn(model.Child("d", "p", "c", model.Drop())), model.Spawn(model.Subagent{}, model.Subagent{}),
		model.Finish("length"), model.Fail(400, ""), model.Fail(500, "m"))
	g.Expect(script.Marker()).To(Equal(`[[dshconform.script/v1 {"tag":"t17","steps":[{"text":"\u00e9"},{"text":"\u4e2d","cut":true},` +
		`{"events":3},{"events":2,"size":9},{"gate":"g"},` +
		`{"subagent":{"description":"d","prompt":"p","script":{"tag":"c","steps":[{"drop":true}]}}},` +
		`{"subagents":[{"description":"","prompt":""},{"description":"","prompt":""}]},` +
		`{"finish":"length"},{"fail":400},{"fail":500,"message":"m"}]}]]`))
	// encoding/json reads and writes it too.
	data, err := json.Marshal(script)
	g.Expect(err).NotTo(HaveOccurred())
	var back model.Script
	g.Expect(json.Unmarshal(data, &back)).To(Succeed())
	g.Expect(back).To(Equal(script))
}

func TestSegmentsAndAnswers(t *testing.T) {
	g := NewWithT(t)
	script := model.NewScript("t", model.Text("a"), model.Spawn(model.Subagent{}), model.Spawn(model.Subagent{}),
		model.Events(30, 1), model.Fail(400, ""), model.Text("never"))
	for i, want := range []int{2, 1, 3} {
		steps, ok := script.Segment(i)
		g.Expect(ok).To(BeTrue())
		g.Expect(steps).To(HaveLen(want))
	}
	for _, i := range []int{-1, 3, 4} {
		_, ok := script.Segment(i)
		g.Expect(ok).To(BeFalse(), "segment %d", i)
	}
	g.Expect(script.Answer(0)).To(Equal("a"))
	g.Expect(script.Answer(2)).To(Equal("abcdefghijklmnopqrstuvwxyzabcd"))
	g.Expect(script.Answer(9)).To(BeEmpty())
}

func FuzzFind(f *testing.F) {
	f.Add(model.NewScript("t", model.Text("x")).Prompt("hello"))
	f.Add(prefix + `{"tag":"\ud800","steps":[{"text":"\udc00"}]}]]`)
	f.Add(strings.Repeat(prefix+`{"a":[`, 50))
	f.Fuzz(func(t *testing.T, text string) {
		script, ok := model.Find([]string{text})
		if !ok {
			return
		}
		again, ok := model.Find([]string{script.Marker()})
		if !ok {
			t.Fatalf("the marker of a found script is none: %s", script.Marker())
		}
		NewWithT(t).Expect(again).To(Equal(script))
	})
}
