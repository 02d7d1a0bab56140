package model_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/model"
)

func control(ctx context.Context, g *WithT, method, url, body string) (int, string) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	g.Expect(err).NotTo(HaveOccurred())
	response, err := transport.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(data)
}

func TestInServerModelReports(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	status, body := control(t.Context(), g, "POST", stub.Control()+"/calls",
		`{"tag":"t","model":"m","messages":[{"role":"user","texts":["a","\ud800"]},{"role":"assistant","texts":[]}]}`)
	g.Expect(status).To(Equal(204), body)
	call := stub.CallsByTag("t")[0]
	g.Expect(call.Dialect).To(Equal(model.InServer))
	g.Expect(call.Model).To(Equal("m"))
	g.Expect(call.Outcome).To(Equal(model.Replied))
	g.Expect(call.Messages).To(HaveLen(2))
	g.Expect(call.Messages[0].Texts).To(Equal([]string{"a", "\ufffd"}))
	g.Expect(call.Messages[0].RawTexts).To(Equal([]string{"", `"\ud800"`}))
	g.Expect(call.Path).NotTo(ContainSubstring(strings.TrimPrefix(stub.Control(), stub.URL()+"/control/")), "the secret is not recorded")

	status, body = control(t.Context(), g, "POST", stub.Control()+"/calls", `{"tag":`)
	g.Expect(status).To(Equal(400))
	g.Expect(body).To(ContainSubstring("no JSON object"))
	g.Expect(stub.Calls()[1].BodyError).NotTo(BeEmpty())
}

func TestInServerModelWaitsAtGates(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	for _, name := range []string{"g", "t/1", "a b%20?#中", ".."} {
		done := make(chan int, 1)
		go func() {
			status, _ := control(t.Context(), g, "POST", stub.GateURL(name), "")
			done <- status
		}()
		g.Expect(stub.Gate(name).WaitReached(t.Context())).To(Succeed())
		g.Expect(done).NotTo(Receive())
		stub.Gate(name).Open()
		g.Expect(<-done).To(Equal(204))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		status, _ := control(ctx, g, "POST", stub.GateURL("left"), "{}")
		done <- status
	}()
	g.Expect(stub.Gate("left").WaitReached(t.Context())).To(Succeed())
	cancel()
	<-done
	g.Eventually(stub.Gate("left").Waiting).Should(BeZero())
	g.Expect(stub.Calls()).To(BeEmpty(), "waiting at a gate is no call")
}

func TestControlRefuses(t *testing.T) {
	g := NewWithT(t)
	stub := start(t, model.Options{})
	for _, tt := range []struct {
		method, url string
		status      int
	}{
		{"POST", stub.URL() + "/control/other/calls", 401},
		{"POST", stub.URL() + "/control/", 401},
		{"GET", stub.Control() + "/calls", 404},
		{"POST", stub.Control() + "/gates/", 404},
		{"POST", stub.Control() + "/v1/messages", 404},
		{"POST", stub.Control(), 404},
	} {
		stub.Forget()
		status, _ := control(t.Context(), g, tt.method, tt.url, "")
		g.Expect(status).To(Equal(tt.status), tt.url)
		g.Expect(stub.Calls()).To(HaveLen(1), tt.url)
		g.Expect(stub.Calls()[0].BadKey).To(Equal(tt.status == 401))
		g.Expect(stub.Calls()[0].Outcome).To(Equal(model.Refused))
	}
}
