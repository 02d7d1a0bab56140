package model_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/dshconform/dshconform/harness/model"
)

// benchmark posts one prompt again and again, as a server with a pool of connections does.
func benchmark(b *testing.B, d model.Dialect, script model.Script) {
	stub := start(b, model.Options{})
	a := &agent{stub: stub, dialect: d}
	a.user(script.Prompt("x"))
	body := a.request()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for b.Loop() {
		r := newRequest(b.Context(), stub, d, body)
		response, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(response.Body)
		if err != nil || !bytes.HasSuffix(data, []byte("\n\n")) {
			b.Fatalf("%v, %d bytes", err, len(data))
		}
		response.Body.Close()
		b.SetBytes(int64(len(data)))
	}
}

func BenchmarkTurn(b *testing.B) {
	for _, d := range dialects {
		b.Run(string(d), func(b *testing.B) { benchmark(b, d, model.NewScript("t", model.Text("Hello"))) })
	}
}

func BenchmarkTenThousandEvents(b *testing.B) {
	for _, d := range dialects {
		b.Run(string(d), func(b *testing.B) { benchmark(b, d, model.NewScript("t", model.Events(10_000, 1))) })
	}
}
