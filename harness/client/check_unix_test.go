//go:build linux || darwin

package client_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/client"
)

func check(t *testing.T, habits ...string) (client.Hello, map[string]client.Finding) {
	t.Helper()
	o := client.CheckOptions{Driver: driverOptions(t, habits...), Dir: t.TempDir(), Program: self(t)}
	if len(habits) > 0 && habits[0] == "hangs" {
		o.Driver.Deadlines.Call = 3 * time.Second // which the sound steps before have to be done in
		o.Brief = true
	}
	hello, list := client.Check(t.Context(), o)
	byStep := map[string]client.Finding{}
	for _, f := range list {
		byStep[f.Step] = f
	}
	NewWithT(t).Expect(byStep).To(HaveLen(len(list)), "each step has a name of its own")
	return hello, byStep
}

func TestCheckOfASoundDriver(t *testing.T) {
	for _, habit := range []string{"directional", "receipt"} {
		t.Run(habit, func(t *testing.T) {
			g := NewWithT(t)
			hello, findings := check(t, habit)
			g.Expect(string(hello.Profile)).To(Equal(habit))
			g.Expect(len(findings)).To(BeNumerically(">=", 20))
			for _, f := range findings {
				g.Expect(f.Problem).To(BeEmpty(), f.Step)
			}
			g.Expect(findings["a filter that throws"].Skipped).To(Equal("not offered: filters: throw"))
			g.Expect(findings["close"].Skipped).To(BeEmpty())
		})
	}
}

// Each wrong reply is named at the step that finds it, and what can still be checked is.
func TestCheckNamesWhatIsWrong(t *testing.T) {
	for habit, want := range map[string]struct{ step, says string }{
		"dies":              {"hello", "no such module"},
		"wrong-cwd":         {"initialize", "cwd in initialize"},
		"early":             {"prompt", "came before the runtime had answered"},
		"wrong-status":      {"prompt", `status: fine, where ok is right`},
		"unlisted":          {"prompt", "an outcome has messageId, which hello does not list"},
		"lacks-reason":      {"prompt", "an outcome has no reason, which hello lists"},
		"reversed":          {"prompt", "out of order"},
		"text-only":         {"content blocks", "contentBlocks on the wire"},
		"no-data":           {"an error response", "data of the error: nothing"},
		"other-class":       {"the runtime dies", "the class is other, where closed is right"},
		"one-at-a-time":     {"several calls in flight", "while another prompt waits"},
		"no-callback":       {"a callback of prompt", "no event came"},
		"request-unwrapped": {"request", "result: nothing"},
		"no-timeout":        {"the time-out of a call", "no end of the SDK's call of prompt"},
		"leaves-runtime":    {"close", "no end of the runtime's process"},
		"obliging":          {"an unknown call", "an unknown call succeeded"},
		"exits-1":           {"the end of stdin", "exit status 1"},
	} {
		t.Run(habit, func(t *testing.T) {
			g := NewWithT(t)
			o := client.CheckOptions{Driver: driverOptions(t, habit), Dir: t.TempDir(), Program: self(t), Steps: []string{want.step, "surface"}}
			switch habit {
			case "one-at-a-time":
				o.Driver.Deadlines.Call = 3 * time.Second
			case "no-timeout":
				o.Driver.Deadlines.Turn = 5 * time.Second
			case "leaves-runtime":
				o.Driver.Deadlines.Leave = 300 * time.Millisecond
			}
			_, list := client.Check(t.Context(), o)
			var wrong []string
			for _, f := range list {
				if f.Problem != "" {
					wrong = append(wrong, f.Step+": "+f.Problem)
				}
			}
			g.Expect(wrong).To(ContainElement(And(HavePrefix(want.step+": "), ContainSubstring(want.says))), "%s", strings.Join(wrong, "\n"))
			if habit != "dies" {
				g.Expect(list).To(ContainElement(client.Finding{Step: "surface"}), "what can still be checked is")
			}
		})
	}
}

func TestBriefCheckOfAHangingDriver(t *testing.T) {
	g := NewWithT(t)
	_, findings := check(t, "hangs")
	g.Expect(findings["prompt"].Problem).To(ContainSubstring("the prompt did not reach the runtime"))
	g.Expect(findings["close"].Skipped).To(Equal("left out of a brief check"))
	g.Expect(client.Trouble([]client.Finding{{Step: "a"}, findings["prompt"]}).Step).To(Equal("prompt"))
	g.Expect(client.Trouble(nil)).To(BeNil())
}
