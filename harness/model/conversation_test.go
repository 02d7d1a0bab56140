package model_test

import (
	"encoding/json"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

func tags(calls []model.Call) []string {
	var list []string
	for _, c := range calls {
		list = append(list, c.Tag)
	}
	return list
}

func TestSubagentsRunTheirOwnScripts(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		grandchild := model.Child("deep", "Go deeper.", "grandchild", model.Text("deepest"))
		script := model.NewScript("parent",
			model.Text("first "),
			model.Spawn(model.Child("one", "Do \"one\".\n中", "child", model.Spawn(grandchild), model.Text("child done"))),
			model.Text("second "),
			model.Spawn(model.Child("two", "Do two.", "two", model.CutText("二")), model.Subagent{Description: "three", Prompt: "Do three."}),
			model.Text("last"), model.Finish("length"))
		got := a.run(t.Context(), script.Prompt("Start."))
		g.Expect(got.broken).NotTo(HaveOccurred())
		g.Expect(got.text).To(Equal("last"))
		g.Expect(got.reason).To(Equal(map[model.Dialect]string{model.ChatCompletions: "length", model.Messages: "max_tokens"}[a.dialect]))
		var texts []string
		for _, answer := range a.answers {
			texts = append(texts, answer.text)
			if len(answer.calls) > 0 {
				g.Expect(answer.reason).To(Equal(map[model.Dialect]string{
					model.ChatCompletions: "tool_calls", model.Messages: "tool_use"}[a.dialect]))
				for _, call := range answer.calls {
					g.Expect(call.name).To(Equal("subagent"))
				}
			}
		}
		g.Expect(texts).To(Equal([]string{"first ", "", "deepest", "child done", "second ", "二", "ok", "last"}))
		g.Expect(tags(a.stub.Calls())).To(Equal([]string{"parent", "child", "grandchild", "child", "parent", "two", "", "parent"}))
		parent := a.stub.CallsByTag("parent")
		g.Expect([]int{parent[0].Position, parent[1].Position, parent[2].Position}).To(Equal([]int{0, 1, 2}))

		// What the record says of the conversation is the same in both dialects.
		last := parent[2]
		g.Expect(last.RoleTexts("assistant")).To(Equal([]string{"first ", "second "}))
		g.Expect(last.UserTexts()).To(Equal([]string{script.Prompt("Start.")}))
		g.Expect(last.Tools).To(Equal([]string{"subagent"}))
		var calls []model.ToolCall
		var results []model.ToolResult
		for _, m := range last.Messages {
			calls = append(calls, m.ToolCalls...)
			results = append(results, m.ToolResults...)
		}
		g.Expect(calls).To(HaveLen(3))
		g.Expect(results).To(HaveLen(3))
		for i, want := range []string{"child done", "二", "ok"} {
			g.Expect(results[i].ID).To(Equal(calls[i].ID))
			g.Expect(results[i].Texts).To(Equal([]string{want}))
		}
		var arguments struct{ Description, Prompt string }
		g.Expect(json.Unmarshal([]byte(calls[0].Arguments), &arguments)).To(Succeed())
		g.Expect(arguments.Description).To(Equal("one"))
		g.Expect(arguments.Prompt).To(HavePrefix("Do \"one\".\n中 [[dshconform.script/v1 "))
	})
}

func TestToolThatIsNotOffered(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		a.noTools = true
		script := model.NewScript("t", model.Text("a."), model.Spawn(model.Child("d", "p", "c")), model.Text("b."),
			model.Spawn(model.Child("d", "p", "c")), model.Text("c"))
		got := a.run(t.Context(), script.Prompt("x"))
		const instead = "The script calls the tool subagent, which this request does not offer."
		g.Expect(got.text).To(Equal("a." + instead + "b." + instead + "c"))
		g.Expect(got.calls).To(BeEmpty())
		call := a.stub.Calls()[0]
		g.Expect(call.NoSubagentTool).To(BeTrue())
		g.Expect(call.Tag).To(Equal("t"))
		g.Expect(call.Position).To(BeZero())
	})
}

func TestRepeatedCallGetsTheSameAnswer(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		a.user(model.NewScript("t", model.AtGate("g"), model.Text("same")).Prompt("x"))
		a.stub.Gate("g").Open()
		for range 3 {
			g.Expect(post(t.Context(), a.stub, a.dialect, a.request()).text).To(Equal("same"))
		}
		g.Expect(a.stub.CallsByTag("t")).To(HaveLen(3))
	})
}

func TestLaterTurns(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		g.Expect(a.run(t.Context(), model.NewScript("one", model.Text("1")).Prompt("x")).text).To(Equal("1"))
		g.Expect(a.run(t.Context(), "no marker").text).To(Equal("ok"), "a script that has ended is not played again")
		g.Expect(a.run(t.Context(), model.NewScript("two", model.Text("2")).Prompt("y"), "runtime context").text).To(Equal("2"))
		calls := a.stub.Calls()
		g.Expect(tags(calls)).To(Equal([]string{"one", "", "two"}))
		g.Expect(calls[1].Ended).To(Equal("one"))
		g.Expect(calls[2].Ended).To(BeEmpty())
	})
}

func TestFailedPromptArrivesJoinedWithTheNext(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		failed, next := model.NewScript("failed", model.Fail(400, "no")), model.NewScript("next", model.Text("yes"))
		g.Expect(a.run(t.Context(), failed.Prompt("x")).status).To(Equal(400))
		a.messages = nil
		for _, texts := range [][]string{
			{failed.Prompt("x"), "context", next.Prompt("y"), "context"},
			{failed.Prompt("x") + "\n\n" + next.Prompt("y")},
		} {
			g.Expect(a.run(t.Context(), texts...).text).To(Equal("yes"))
		}
	})
}

// TestPlaceInTheScript gives conversations as servers send them, message by message.
func TestPlaceInTheScript(t *testing.T) {
	script := model.NewScript("t", model.Text("0"), model.Spawn(model.Subagent{}), model.Text("1"), model.Spawn(model.Subagent{}), model.Text("2"))
	prompt, err := json.Marshal(script.Prompt("x"))
	if err != nil {
		t.Fatal(err)
	}
	user := `{"role":"user","content":` + string(prompt) + `}`
	context := `{"role":"user","content":"cwd: /x"}`
	for _, tt := range []struct {
		name     string
		messages string
		position int
		ended    bool
	}{
		{"prompt alone", user, 0, false},
		{"context behind", user + `,` + context + `,` + context, 0, false},
		{"system behind", user + `,{"role":"system","content":"[[dshconform.script/v1 {]]"}`, 0, false},
		{"chat result", user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"subagent","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}`, 1, false},
		{"chat, two calls in one message", user + `,{"role":"assistant","tool_calls":[{"id":"1"},{"id":"2"}]},{"role":"tool","content":"r"},{"role":"tool","content":"r"}`, 1, false},
		{"messages result", user + `,{"role":"assistant","content":[{"type":"text","text":"0"},{"type":"tool_use","id":"1","name":"subagent","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r"}]},{"type":"text","text":"cwd"}]}`, 1, false},
		{"text and call apart", user + `,{"role":"assistant","content":"0"},{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"}`, 1, false},
		{"two results", user + `,{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"},{"role":"assistant","tool_calls":[{"id":"2"}]},{"role":"tool","content":"r"}`, 2, false},
		{"more results than the script has calls", user + `,{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool"},{"role":"assistant","tool_calls":[{"id":"2"}]},{"role":"tool"},{"role":"assistant","tool_calls":[{"id":"3"}]},{"role":"tool"}`, 0, true},
		{"ended", user + `,{"role":"assistant","content":"0"},` + context, 0, true},
		{"woken by a background child", user + `,{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"started"},{"role":"assistant","content":"1"},{"role":"user","content":"subagent finished"}`, 0, true},
		{"a marker in a result is none", user + `,{"role":"assistant","content":[{"type":"tool_use","id":"1"}]},{"role":"user","content":[{"type":"tool_result","content":` + string(prompt) + `}]}`, 1, false},
		{"earlier turns", user + `,{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"},{"role":"assistant","content":"1"},` + user, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stub := start(t, model.Options{})
			for _, d := range dialects {
				g := NewWithT(t)
				stub.Forget()
				got := post(t.Context(), stub, d, []byte(`{"tools":[{"name":"subagent"}],"stream":false,"model":"m","messages":[`+tt.messages+`]}`))
				g.Expect(got.broken).NotTo(HaveOccurred())
				call := stub.Calls()[0]
				if tt.ended {
					g.Expect(got.text).To(Equal("ok"))
					g.Expect(call.Ended).To(Equal("t"))
					continue
				}
				g.Expect(got.text).To(Equal(script.Answer(tt.position)))
				g.Expect(call.Position).To(Equal(tt.position))
				g.Expect(slices.Contains(tags(stub.CallsByTag("t")), "t")).To(BeTrue())
			}
		})
	}
}
