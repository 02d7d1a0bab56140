package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/fixtures/refserver"
)

// titleVariable makes the test's own executable a subject: the reference server, whose model is asked for a title
// before each answer to a user, with the same messages and without tools.
const titleVariable = "DSHCONFORM_TEST_TITLE"

func serveWithTitles() int {
	endpoint, err := url.Parse(os.Getenv("DEEPSEEK_BASE_URL"))
	if err == nil {
		var listener net.Listener
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			go func() { _ = http.Serve(listener, titles(endpoint)) }() // as long as the process
			err = os.Setenv("DEEPSEEK_BASE_URL", "http://"+listener.Addr().String())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return refserver.Run(context.Background(), refserver.Options{
		Profile: refserver.Directional, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
	})
}

// titles passes calls on to the endpoint, and asks it for a title before.
func titles(endpoint *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(endpoint) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the server has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var asked map[string]any
		if json.Unmarshal(body, &asked) == nil && !answered(asked["messages"]) {
			delete(asked, "tools")
			title, _ := json.Marshal(asked) // it was JSON
			call := r.Clone(r.Context())
			call.Body, call.ContentLength = io.NopCloser(bytes.NewReader(title)), int64(len(title))
			proxy.ServeHTTP(nobody{http.Header{}}, call)
		}
		proxy.ServeHTTP(w, r)
	})
}

// answered reports whether an assistant has spoken in a conversation.
func answered(messages any) bool {
	list, _ := messages.([]any)
	return slices.ContainsFunc(list, func(m any) bool {
		o, _ := m.(map[string]any)
		return o["role"] == "assistant"
	})
}

// nobody reads a title.
type nobody struct{ header http.Header }

func (n nobody) Header() http.Header         { return n.header }
func (n nobody) Write(p []byte) (int, error) { return len(p), nil }
func (n nobody) WriteHeader(int)             {}

// The first call of a turn need not be the one that offers the tools.
func TestServerThatAsksForATitleFirst(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "server", "--id", "S-ORD-02,S-SUB-01,S-SUB-04,S-SUB-07", "--env", titleVariable+"=1", "--", os.Args[0])
	g.Expect(r.code).To(BeZero(), "%s%s", r.out, r.err)
	g.Expect(r.out).To(ContainSubstring("4 pass"))
}
