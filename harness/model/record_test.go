package model_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

func TestRecordIsBounded(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{KeepBody: 2000, KeepBodies: 3500, KeepTexts: 6000, KeepCalls: 8})
	for range 10 {
		post(t.Context(), stub, model.ChatCompletions, []byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("x", 960)+`"}]}`))
	}
	calls := stub.Calls()
	g.Expect(calls).To(HaveLen(8))
	g.Expect(calls[0].Seq).To(Equal(3), "the oldest calls went")
	bodies, texts, trimmed := 0, 0, 0
	for _, c := range calls {
		if c.Body != nil {
			bodies++
		}
		if c.Messages != nil {
			texts++
		}
		if c.Trimmed {
			trimmed++
		}
		g.Expect(c.BodySize).To(BeEquivalentTo(1003))
		g.Expect(c.Digest).To(Equal(calls[0].Digest))
		g.Expect(c.Outcome).To(Equal(model.Replied))
	}
	g.Expect(bodies).To(Equal(3))
	g.Expect(texts).To(Equal(5))
	g.Expect(trimmed).To(Equal(3))
	g.Expect(calls[7].Body).NotTo(BeNil())

	// A body over KeepBody leaves the others where they are; a text over KeepTexts is kept while it is the newest.
	post(t.Context(), stub, model.Messages, []byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("y", 10_000)+`"}]}`))
	calls = stub.Calls()
	g.Expect(calls[7].Body).To(BeNil())
	g.Expect(calls[7].UserTexts()[0]).To(HaveLen(10_000))
	g.Expect(calls[6].Messages).To(BeNil())
	g.Expect(calls[6].Body).NotTo(BeNil())

	stub.Forget()
	g.Expect(stub.Calls()).To(BeEmpty())
	post(t.Context(), stub, model.Messages, []byte(`{}`))
	g.Expect(stub.Calls()[0].Seq).To(Equal(12), "numbers go on")
}

func TestObserversSeeCallsInOrder(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	var mu sync.Mutex
	var seen []int
	remove := stub.OnCall(func(c model.Call) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, c.Seq)
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { post(t.Context(), stub, model.Messages, []byte(`{}`)) })
	}
	wg.Wait()
	g.Expect(seen).To(HaveLen(20))
	for i, seq := range seen {
		g.Expect(seq).To(Equal(i + 1))
	}
	remove()
	post(t.Context(), stub, model.Messages, []byte(`{}`))
	g.Expect(seen).To(HaveLen(20))
}

func TestWaiting(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := stub.WaitTag(ctx, "t", 1)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(err).To(MatchError(ContainSubstring(`tag "t": waiting for model calls: 0 of 1 came`)))
	g.Expect(stub.Gate("g").WaitReached(ctx)).To(MatchError(ContainSubstring(`at gate "g": 0 of 1 came`)))
	done := make(chan error, 1)
	go func() {
		_, err := stub.WaitTag(t.Context(), "t", 2)
		done <- err
	}()
	for range 2 {
		a := &agent{stub: stub, dialect: model.Messages}
		a.run(t.Context(), model.NewScript("t").Marker())
	}
	g.Expect(<-done).To(Succeed())
}

func TestGates(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	early := stub.Gate("b")
	early.Open()
	early.Open()
	g.Expect(early.IsOpen()).To(BeTrue())
	g.Expect(early.Reached()).NotTo(BeClosed())
	a := &agent{stub: stub, dialect: model.ChatCompletions}
	g.Expect(a.run(t.Context(), model.WithGate("t", "b", "passed").Marker()).text).To(Equal("passed"))
	g.Expect(early.Reached()).To(BeClosed())
	shut := stub.Gate("a")
	g.Expect(stub.Gates()).To(Equal([]*model.Gate{shut, early}))
	g.Expect(shut.Name()).To(Equal("a"))
	stub.Forget()
	g.Expect(stub.Gates()).To(Equal([]*model.Gate{shut}), "a gate that is shut may hold somebody")
	g.Expect(stub.Gate("b").IsOpen()).To(BeFalse())
}

func TestWithoutSubagentsLooksAtWholeTurns(t *testing.T) {
	g := NewWithT(t)
	lacks := func(tag string) model.Call { return model.Call{Tag: tag, NoSubagentTool: true} }
	has := func(tag string) model.Call { return model.Call{Tag: tag} }
	g.Expect(model.WithoutSubagents(nil)).To(BeFalse())
	g.Expect(model.WithoutSubagents([]model.Call{lacks("a"), lacks("a")})).To(BeTrue())
	g.Expect(model.WithoutSubagents([]model.Call{lacks("a"), has("a")})).To(BeFalse(), "the first was for a title")
	g.Expect(model.WithoutSubagents([]model.Call{has("a"), lacks("b")})).To(BeTrue(), "another turn's call tells nothing of it")
}
