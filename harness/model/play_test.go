package model_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

func TestTextsArriveInOrder(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		script := model.NewScript("t", model.Text("eins "), model.Text("二 "), model.Text("\u2028\u2029\u0085\"\\\n<&>😀"))
		got := a.run(t.Context(), script.Prompt("Count."))
		g.Expect(got.broken).NotTo(HaveOccurred())
		g.Expect(got.status).To(Equal(200))
		g.Expect(got.ended).To(BeTrue(), "the reply must end as its dialect says: %s", got.body)
		g.Expect(got.text).To(Equal(script.Answer(0)))
		if !a.whole {
			g.Expect(got.deltas).To(HaveLen(3), "one delta a text step")
			g.Expect(got.headers.Get("Content-Type")).To(Equal("text/event-stream"))
		}
		g.Expect(a.stub.CallsByTag("t")).To(HaveLen(1))
	})
}

func TestNoMarkerGetsTheDefault(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		g.Expect(a.run(t.Context(), "Hello").text).To(Equal("ok"))
		g.Expect(a.stub.Calls()[0].Tag).To(BeEmpty())
	})
	g := NewWithT(t)
	stub := start(t, model.Options{Default: []model.Step{model.Text("a"), model.Finish("length")}})
	a := &agent{stub: stub, dialect: model.ChatCompletions}
	got := a.run(t.Context(), "Hello")
	g.Expect(got.text).To(Equal("a"))
	g.Expect(got.reason).To(Equal("length"))
	_, err := model.Start(t.Context(), model.Options{Default: []model.Step{model.Spawn(model.Subagent{})}})
	g.Expect(err).To(MatchError(ContainSubstring("default reply calls a subagent")))
}

func TestFinishReasons(t *testing.T) {
	for _, reason := range []struct{ script, chat, messages string }{
		{"stop", "stop", "end_turn"},
		{"length", "length", "max_tokens"},
		{"content_filter", "content_filter", "content_filter"},
		{"nobody knows 😀", "nobody knows 😀", "nobody knows 😀"},
	} {
		eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
			got := a.run(t.Context(), model.NewScript("t", model.Text("x"), model.Finish(reason.script)).Prompt(""))
			want := reason.chat
			if a.dialect == model.Messages {
				want = reason.messages
			}
			g.Expect(got.reason).To(Equal(want))
			g.Expect(got.ended).To(BeTrue())
		})
	}
}

func TestFailBeforeOutput(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 413, 429, 500, 529, 599} {
		eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
			// The gate comes first: waiting must not send a status.
			a.stub.Gate("g").Open()
			script := model.NewScript("t", model.AtGate("g"), model.Fail(status, `no "luck"`), model.Text("never"))
			got := a.run(t.Context(), script.Prompt("x"))
			g.Expect(got.status).To(Equal(status))
			g.Expect(got.errorText).To(Equal(`no "luck"`))
			g.Expect(got.text).To(BeEmpty())
			g.Expect(a.stub.CallsByTag("t")[0].Outcome).To(Equal(model.Failed))
		})
	}
}

func TestFailAfterOutputIsAnErrorEventAndACut(t *testing.T) {
	eachStream(t, func(t *testing.T, g *WithT, a *agent) {
		got := a.run(t.Context(), model.NewScript("t", model.Text("half"), model.Fail(500, "gone")).Prompt("x"))
		g.Expect(got.status).To(Equal(200))
		g.Expect(got.text).To(Equal("half"))
		g.Expect(got.errorText).To(Equal("gone"))
		g.Expect(got.broken).To(MatchError(io.ErrUnexpectedEOF))
		g.Expect(got.ended).To(BeFalse())
	})
}

func TestDrop(t *testing.T) {
	eachStream(t, func(t *testing.T, g *WithT, a *agent) {
		got := a.run(t.Context(), model.NewScript("before", model.Drop()).Prompt("x"))
		g.Expect(got.broken).To(HaveOccurred())
		g.Expect(got.status).To(BeZero(), "no status before the cut")
		a.messages = nil
		got = a.run(t.Context(), model.NewScript("after", model.Text("half"), model.Drop()).Prompt("x"))
		g.Expect(got.text).To(Equal("half"))
		g.Expect(got.errorText).To(BeEmpty())
		g.Expect(got.broken).To(MatchError(io.ErrUnexpectedEOF))
		_, err := a.stub.WaitCalls(t.Context(), 2, func(c model.Call) bool { return c.Outcome == model.Dropped })
		g.Expect(err).NotTo(HaveOccurred())
	})
}

func TestEvents(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		script := model.NewScript("t", model.Events(10_000, 3), model.Text("|"), model.Events(30, 1))
		got := a.run(t.Context(), script.Prompt("x"))
		g.Expect(got.broken).NotTo(HaveOccurred())
		if !a.whole {
			g.Expect(got.deltas).To(HaveLen(10_031))
			g.Expect(got.deltas[:9]).To(Equal([]string{"abc", "def", "ghi", "jkl", "mno", "pqr", "stu", "vwx", "yza"}))
		}
		g.Expect(got.text).To(Equal(script.Answer(0)))
		g.Expect(got.text).To(HaveLen(30_031))
		g.Expect(got.text).To(HaveSuffix("|" + got.text[30_000%26:30_000%26+30]))
	})
}

// rawChunks posts over a plain connection and gives the chunks of the response as they were framed, and whether the
// body was ended.
func rawChunks(t *testing.T, stub *model.Stub, d model.Dialect, body []byte) (chunks [][]byte, ended bool) {
	t.Helper()
	g := NewWithT(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(stub.URL(), "http://"))
	g.Expect(err).NotTo(HaveOccurred())
	defer conn.Close()
	g.Expect(newRequest(t.Context(), stub, d, body).Write(conn)).To(Succeed())
	r := bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		g.Expect(err).NotTo(HaveOccurred())
		if line == "\r\n" {
			break
		}
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return chunks, false
		}
		size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		g.Expect(err).NotTo(HaveOccurred())
		chunk := make([]byte, size+2)
		_, err = io.ReadFull(r, chunk)
		g.Expect(err).NotTo(HaveOccurred())
		if size == 0 {
			return chunks, true
		}
		chunks = append(chunks, chunk[:size])
	}
}

func TestCutTextIsCutInsideEachCharacterAndArrivesWhole(t *testing.T) {
	const text = "aé中😀👩‍👩‍👧z"
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		script := model.NewScript("t", model.Text("é"), model.CutText(text), model.Text("中"))
		a.user(script.Prompt("x"))
		chunks, ended := rawChunks(t, a.stub, a.dialect, a.request())
		g.Expect(ended).To(BeTrue())
		cuts := 0
		for _, chunk := range chunks {
			if r, _ := utf8.DecodeRune(chunk); r == utf8.RuneError {
				cuts++
			}
		}
		inside := len(text) - utf8.RuneCountInString(text)
		if a.whole {
			inside += len("é中") - 2 // the body is one piece of JSON: all of it is cut
		}
		g.Expect(cuts).To(Equal(inside), "a chunk begins at each byte inside a character, and nowhere else inside one")
		got := post(t.Context(), a.stub, a.dialect, a.request())
		g.Expect(got.broken).NotTo(HaveOccurred())
		g.Expect(got.text).To(Equal("é" + text + "中"))
		if !a.whole {
			g.Expect(got.deltas).To(HaveLen(3))
		}
	})
}

func TestGateHoldsWhatFollowsAndSendsWhatWasBefore(t *testing.T) {
	eachStream(t, func(t *testing.T, g *WithT, a *agent) {
		script := model.NewScript("t", model.Text("before"), model.Events(5000, 1), model.AtGate("t/1"), model.Text("after"))
		a.user(script.Prompt("x"))
		response, err := transport.RoundTrip(newRequest(t.Context(), a.stub, a.dialect, a.request()))
		g.Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		g.Expect(a.stub.Gate("t/1").WaitReached(t.Context())).To(Succeed())
		g.Expect(a.stub.Gate("t/1").Waiting()).To(Equal(1))
		g.Expect(a.stub.CallsByTag("t")[0].Outcome).To(Equal(model.Pending))
		// Everything before the gate can be read while it is shut.
		r := bufio.NewReader(response.Body)
		for seen := 0; seen < 5001; {
			line, err := r.ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred())
			if strings.Contains(line, "before") || strings.Contains(line, `"text_delta"`) || strings.Contains(line, `{"content":`) {
				seen++
			}
		}
		a.stub.Gate("t/1").Open()
		rest, err := io.ReadAll(r)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(rest)).To(ContainSubstring("after"))
		_, err = a.stub.WaitCalls(t.Context(), 1, func(c model.Call) bool { return c.Outcome == model.Replied })
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(a.stub.Gate("t/1").Waiting()).To(BeZero())
	})
}

func TestClientThatLeavesAtAGate(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		for _, first := range []model.Step{model.Text("a"), model.Events(0, 1)} {
			a.messages = nil
			a.user(model.NewScript("t", first, model.AtGate("g"), model.Text("never")).Prompt("x"))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan answer, 1)
			go func() { done <- post(ctx, a.stub, a.dialect, a.request()) }()
			g.Eventually(a.stub.Gate("g").Waiting).Should(Equal(1))
			cancel()
			g.Expect((<-done).broken).To(MatchError(context.Canceled))
			g.Eventually(a.stub.Gate("g").Waiting).Should(BeZero())
		}
		_, err := a.stub.WaitCalls(t.Context(), 2, func(c model.Call) bool { return c.Outcome == model.ClientLeft })
		g.Expect(err).NotTo(HaveOccurred())
	})
}

func TestConcurrentTurns(t *testing.T) {
	eachStream(t, func(t *testing.T, g *WithT, a *agent) {
		const turns = 32
		type result struct {
			i   int
			got answer
		}
		done := make(chan result, turns)
		for i := range turns {
			go func() {
				b := &agent{stub: a.stub, dialect: a.dialect}
				tag := fmt.Sprintf("t%d", i)
				done <- result{i, b.run(t.Context(), model.NewScript(tag,
					model.Events(200, 2), model.AtGate("all"), model.CutText("中"+tag)).Prompt(tag))}
			}()
		}
		g.Expect(a.stub.Gate("all").WaitCount(t.Context(), turns)).To(Succeed())
		a.stub.Gate("all").Open()
		for range turns {
			r := <-done
			g.Expect(r.got.broken).NotTo(HaveOccurred())
			g.Expect(r.got.text).To(HaveSuffix(fmt.Sprintf("中t%d", r.i)))
			g.Expect(r.got.deltas).To(HaveLen(201))
			g.Expect(a.stub.CallsByTag(fmt.Sprintf("t%d", r.i))).To(HaveLen(1))
		}
		calls := a.stub.Calls()
		g.Expect(calls).To(HaveLen(turns))
		for i, c := range calls {
			g.Expect(c.Seq).To(Equal(i + 1))
		}
	})
}

func TestCloseEndsWhatIsHeldAndWhatIsIdle(t *testing.T) {
	g := NewWithT(t)
	stub, err := model.Start(t.Context(), model.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	idle, err := net.Dial("tcp", strings.TrimPrefix(stub.URL(), "http://"))
	g.Expect(err).NotTo(HaveOccurred())
	defer idle.Close()
	a := &agent{stub: stub, dialect: model.Messages}
	done := make(chan answer, 1)
	go func() { done <- a.run(t.Context(), model.WithGate("t", "g", "x").Prompt("x")) }()
	g.Expect(stub.Gate("g").WaitReached(t.Context())).To(Succeed())
	g.Expect(stub.Close()).To(Succeed())
	g.Expect(stub.Close()).To(Succeed(), "closing again is harmless")
	<-done
	g.Expect(stub.CallsByTag("t")).To(HaveLen(1), "the record can be read after Close")
	g.Expect(stub.CallsByTag("t")[0].Outcome).NotTo(Equal(model.Pending), "every handler was joined")
	g.Expect(stub.Gate("late").IsOpen()).To(BeTrue(), "nothing can be held any more")
	_, err = idle.Read(make([]byte, 1))
	g.Expect(err).To(HaveOccurred())
	// A handler that has cut its connection is joined by what it defers, with its own frames still below.
	g.Eventually(func() string {
		stacks := make([]byte, 1<<20)
		return string(stacks[:runtime.Stack(stacks, true)])
	}).ShouldNot(ContainSubstring("model.(*Stub)."), "no goroutine of the stub is left")
}

func TestSlowReaderDoesNotStopClose(t *testing.T) {
	g := NewWithT(t)
	stub, err := model.Start(t.Context(), model.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	a := &agent{stub: stub, dialect: model.ChatCompletions}
	a.user(model.NewScript("t", model.Text("x"), model.AtGate("g"), model.Events(1<<16, 1<<10)).Prompt("x"))
	response, err := transport.RoundTrip(newRequest(t.Context(), stub, a.dialect, a.request()))
	g.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	stub.Gate("g").Open()
	g.Expect(stub.Close()).To(Succeed()) // 64 MiB are on their way to nobody
	g.Expect(stub.CallsByTag("t")[0].Outcome).To(Equal(model.ClientLeft))
}

func TestWrongKeyAndUnknownPathAreRecorded(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		a.user(model.NewScript("t", model.Text("x")).Prompt("hello"))
		r := newRequest(t.Context(), a.stub, a.dialect, a.request())
		r.Header.Set("X-Api-Key", "other")
		r.Header.Set("Authorization", "Bearer other")
		got := do(r, a.dialect)
		g.Expect(got.status).To(Equal(401))
		g.Expect(got.errorText).NotTo(BeEmpty())
		call := a.stub.Calls()[0]
		g.Expect(call.BadKey).To(BeTrue())
		g.Expect(call.Tag).To(Equal("t"))
		g.Expect(call.Outcome).To(Equal(model.Refused))
		g.Expect(fmt.Sprint(call.Header)).NotTo(ContainSubstring("other"))

		for _, unserved := range []struct{ method, path string }{
			{"GET", "/models"}, {"POST", "/v1/messages/count_tokens"}, {"GET", "/v1/messages"}, {"POST", "/"},
		} {
			a.stub.Forget()
			r, err := http.NewRequestWithContext(t.Context(), unserved.method, a.stub.URL()+unserved.path, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(do(r, a.dialect).status).To(Equal(404))
			call := a.stub.Calls()[0]
			g.Expect(call.Dialect).To(Equal(model.Unserved))
			g.Expect(call.Method + call.Path).To(Equal(unserved.method + unserved.path))
			g.Expect(call.Outcome).To(Equal(model.Refused))
		}
	})
}

func TestAnyBasePathAndEitherPlaceOfTheKey(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	for _, d := range dialects {
		for _, base := range []string{"", "/v1", "/a%20b/beta", "//x"} {
			a := &agent{stub: stub, dialect: d}
			a.user("hello")
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, stub.URL()+base+path(d), bytes.NewReader(a.request()))
			g.Expect(err).NotTo(HaveOccurred())
			if base == "" {
				r.Header.Set("X-Api-Key", stub.Key())
			} else {
				r.Header.Set("Authorization", "bearer "+stub.Key())
			}
			got := do(r, d)
			g.Expect(got.text).To(Equal("ok"), base)
		}
	}
}

func TestMalformedMarkerIsExplained(t *testing.T) {
	eachDialect(t, func(t *testing.T, g *WithT, a *agent) {
		got := a.run(t.Context(), `x [[dshconform.script/v1 {"tag":"t","steps":[{"gat":"g"}]}]]`)
		g.Expect(got.status).To(Equal(400))
		g.Expect(got.errorText).To(ContainSubstring("gat"))
		call := a.stub.Calls()[0]
		g.Expect(call.ScriptError).To(Equal(got.errorText))
		g.Expect(call.Tag).To(BeEmpty())
	})
}

func TestStartFails(t *testing.T) {
	g := NewWithT(t)
	_, err := model.Start(t.Context(), model.Options{Listen: "127.0.0.1:x"})
	var opErr *net.OpError
	g.Expect(errors.As(err, &opErr)).To(BeTrue(), "%v", err)
	g.Expect(err).To(MatchError(ContainSubstring("starting the model stub")))
}

func TestAdvertisedHost(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{Listen: "0.0.0.0:0", AdvertiseHost: "host.docker.internal", Key: "k"})
	g.Expect(stub.URL()).To(MatchRegexp(`^http://host\.docker\.internal:\d+$`))
	g.Expect(stub.Control()).To(HavePrefix(stub.URL() + "/control/"))
	g.Expect(stub.Key()).To(Equal("k"))
	stub = start(t, model.Options{Listen: "0.0.0.0:0"})
	g.Expect(stub.URL()).To(HavePrefix("http://127.0.0.1:"))
	a := &agent{stub: stub, dialect: model.Messages}
	g.Expect(a.run(t.Context(), "x").text).To(Equal("ok"))
}
