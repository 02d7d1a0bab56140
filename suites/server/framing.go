package server

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// malformed are lines that are no JSON for any reader. What some readers take for
// JSON (NaN, comments, invalid UTF-8, a BOM) is not among them.
var malformed = []string{
	`hello`,
	`{`,
	`}`,
	`{"jsonrpc":"2.0","id":"cut-1","method":"no/such/method"`,
	`{"jsonrpc":"2.0","id":"cut-2","method":"no/such/meth`,
	`{"jsonrpc":"2.0" "id":"comma-1","method":"no/such/method"}`,
	`{"jsonrpc":"2.0","id":"bracket-1","method":"no/such/method"]`,
	`{jsonrpc:"2.0",id:"bare-1",method:"no/such/method"}`,
	`Content-Length: 52`,
}

// framing: what a line is, and what becomes of lines that are no frames.
func framing(s *suite) {
	s.It("S-FRM-01", shared, func(t *T) {
		srv := t.Shared()
		if !t.WithoutModel() {
			t.Run(srv, t.Session(), model.Text("An ordinary turn."))
		}
		t.Barrier(srv)
		t.Exercised(srv, "S-FRM-01")
	})
	s.It("S-FRM-02", shared, func(t *T) {
		srv := t.Shared()
		for _, blank := range []string{"\n", " \n", "\t \n", "\r\n", "\n\n\n", strings.Repeat(" ", 4096) + "\n"} {
			t.Write(srv, blank)
			t.Served(srv, fmt.Sprintf("the next request is answered behind the blank line %q", protocol.Short(blank)))
		}
	})
	each(s, "S-FRM-03", shared, []named[[2]string]{
		{"crlf", [2]string{"", "\r"}}, {"leading", [2]string{" \t ", ""}}, {"trailing", [2]string{"", " \t "}},
	}, func(t *T, around [2]string) {
		srv := t.Shared()
		frame := strings.TrimSuffix(string(unknown(srv)), "\n")
		for _, c := range t.Write(srv, around[0]+frame+around[1]+"\n") {
			t.Answered(c, "a frame with white space around it is answered")
		}
	})
	s.It("S-FRM-04", shared, func(t *T) {
		behindEach := func(srv *harness.Server, when string) bool {
			for _, line := range malformed {
				t.Write(srv, line+"\n")
				if !t.Served(srv, fmt.Sprintf("the next request is answered behind the malformed line %q%s", line, when)) {
					return false
				}
			}
			return true
		}
		if behindEach(t.Shared(), "") {
			t.alongside("a malformed line", func(srv *harness.Server, _ *Turn) bool { return behindEach(srv, ", while a turn runs") })
		}
	})
	s.It("S-FRM-05", shared, func(t *T) {
		// The monitor knows which lines must get no reply; one barrier behind each
		// makes sure that a reply would have come.
		behindEach := func(srv *harness.Server) {
			for _, line := range malformed {
				t.Write(srv, line+"\n")
				t.Barrier(srv)
			}
		}
		srv := t.Shared()
		behindEach(srv)
		if !t.WithoutModel() {
			turn, gate := t.Held(srv, t.Session(), nil, []model.Step{model.Text("Fine.")})
			behindEach(srv)
			gate.Open()
			t.ran(turn)
		}
	})
	each(s, "S-FRM-06", shared, []named[string]{{"null", `null`}, {"true", `true`}, {"number", `42`}, {"string", `"hello"`}},
		func(t *T, line string) {
			srv := t.Shared()
			t.Write(srv, line+"\n")
			t.Served(srv, "the next request is answered behind the line "+line)
		})
	s.It("S-FRM-07", shared, func(t *T) {
		srv := t.Shared()
		for _, batch := range []string{`[]`, `[1,2]`, `[{"jsonrpc":"2.0","id":"batch-1","method":"no/such/method"}]`} {
			t.Write(srv, batch+"\n")
			if !t.Served(srv, "the next request is answered behind the batch "+batch) {
				return
			}
		}
	})
	s.It("S-FRM-08", shared, func(t *T) {
		srv := t.Shared()
		t.Observe("a batch of two requests", "%s", t.replies(srv, `[{"jsonrpc":"2.0","id":"batch-2","method":"no/such/method"},{"jsonrpc":"2.0","id":"batch-3","method":"no/such/method"}]`+"\n"))
		t.Observe("an empty batch", "%s", t.replies(srv, "[]\n"))
	})
	s.It("S-FRM-09", shared, cutAnywhere)
	s.It("S-FRM-10", shared, func(t *T) {
		srv := t.Shared()
		var all strings.Builder
		for range 50 {
			all.Write(unknown(srv))
		}
		for _, c := range t.Write(srv, all.String()) {
			if _, ok := t.Answered(c, "each of 50 frames in one write is answered"); !ok {
				return
			}
		}
	})
	s.It("S-FRM-11", shared, func(t *T) { t.sized(1 << 20) })
	s.It("S-FRM-12", shared, separators)
	each(s, "S-FRM-13", shared, []named[string]{
		{"nul", "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\",\"params\":{\"text\":\"a\x00b\"}}"},
		{"invalid-utf8", "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\",\"params\":{\"text\":\"a\xff\xfe\xc3(b\"}}"},
	}, func(t *T, line string) {
		srv := t.Shared()
		t.Write(srv, line+"\n")
		t.Served(srv, fmt.Sprintf("the next request is answered behind the line %q", line))
	})
	s.It("S-FRM-14", shared, func(t *T) {
		srv := t.Shared()
		frame := func(id string) string {
			return string(harness.Frame(wire.StringID(id), UnknownMethod, nil))
		}
		t.Observe("a BOM before a frame", "%s", t.replies(srv, "\ufeff"+frame("bom-1")))
		t.Observe("two objects in one line", "%s", t.replies(srv, strings.TrimSuffix(frame("two-1"), "\n")+" "+frame("two-2")))
	})
	s.It("S-FRM-15", 1, func(t *T) {
		got := "dropped"
		if t.ended(byEOFInLine, false).answered {
			got = "answered"
		}
		t.Observe("a last line without LF at EOF", "%s", got)
	})
	each(s, "S-FRM-16", shared, []named[[]string]{
		{"nesting", []string{deep(100_000), `{"jsonrpc":"2.0","method":"no/such","params":{"x":` + deep(100_000) + `}}`}},
		{"digits", []string{strings.Repeat("7", 5000), `{"jsonrpc":"2.0","method":"no/such","params":{"n":` + strings.Repeat("7", 5000) + `}}`}},
	}, func(t *T, lines []string) {
		srv := t.Shared()
		for _, line := range lines {
			t.Write(srv, line+"\n")
			if !t.Served(srv, "the next request is answered behind the line "+protocol.Short(line)) {
				return
			}
		}
	})
	s.It("S-FRM-17", shared, anyMix)
	s.It("S-FRM-18", shared, func(t *T) {
		srv := t.Shared()
		id := srv.NewID().Token()
		for _, c := range t.Write(srv, "{\r\"jsonrpc\":\r\"2.0\",\r\"id\":"+id+"\r,\"method\":\"no/such/method\"\r}\n") {
			t.Answered(c, "a frame with a lone CR between its tokens is answered")
		}
	})
	each(s, "S-FRM-19", shared, []named[int]{{"below-64k", 64<<10 - 1}, {"at-64k", 64 << 10}, {"above-64k", 64<<10 + 1}},
		func(t *T, size int) { t.sized(size) })
	s.It("S-FRM-20", shared, func(t *T) {
		srv := t.Shared()
		t.Observe("a request with invalid UTF-8 in a string", "%s", t.replies(srv, "{\"jsonrpc\":\"2.0\",\"id\":\"utf-1\",\"method\":\"no/such/\xff\"}\n"))
	})
	s.It("S-FRM-21", shared, func(t *T) {
		srv := t.Shared()
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"no/such/method","params":{"x":%s}}`, srv.NewID().Token(), deep(99))
		for _, c := range t.Write(srv, line+"\n") {
			t.Answered(c, "a request whose params nest a hundred levels deep is answered")
		}
	})
	s.It("S-FRM-22", shared, func(t *T) { t.sized(16 << 20) })
}

func unknown(s *harness.Server) []byte { return harness.Frame(s.NewID(), UnknownMethod, nil) }

func deep(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// sized judges that a request whose line has size bytes, LF included, is answered
// without further input.
func (t *T) sized(size int) {
	srv := t.Shared()
	id := srv.NewID()
	frame := func(pad int) []byte {
		return harness.Frame(id, UnknownMethod, map[string]any{"pad": strings.Repeat("x", pad)})
	}
	line := frame(size - len(frame(0)))
	for _, c := range t.Write(srv, string(line)) {
		t.Answered(c, fmt.Sprintf("a request of %d bytes is answered", len(line)))
	}
}

// replies writes a line whose reply has no right answer and tells what came
// before the answer of a barrier.
func (t *T) replies(s *harness.Server, line string) string {
	mark := s.Mark()
	t.Write(s, line)
	if err := s.Barrier(t.Ctx); err != nil {
		t.Conclude(err)
		s.Spoil("did not serve on")
		return "does not serve on: " + err.Error()
	}
	var got []string
	for _, e := range s.Since(mark) {
		if e.Dir != wire.ServerToClient || e.Message.Kind == wire.Notification || (e.Answered != nil && strings.HasPrefix(e.Answered.Method, "dshconform/")) {
			continue
		}
		got = append(got, describe(e.Message))
	}
	if len(got) == 0 {
		return "ignored"
	}
	return strings.Join(got, ", ")
}

// describe tells the form of a reply without what varies between runs.
func describe(m wire.Message) string {
	id := "id " + protocol.Short(m.ID.Token())
	switch {
	case m.IsArray:
		return "an array"
	case m.Error != nil:
		e, _ := wire.AsObject(m.Error)
		return fmt.Sprintf("error %s, %s", e["code"], id)
	case m.Result != nil:
		return "a result, " + id
	}
	return m.Kind.String()
}

// cutAnywhere writes a frame in two pieces at each byte boundary, and one byte
// at a time. The pieces arrive one by one: each is written when the pipe is empty.
func cutAnywhere(t *T) {
	srv := t.Shared()
	frame := func() []byte {
		return harness.Frame(srv.NewID(), UnknownMethod, map[string]any{"text": "a中😀\"\\é"})
	}
	for cut := 1; cut < len(frame()); cut++ {
		f := frame()
		if cut >= len(f) {
			break
		}
		for _, c := range t.WriteApart(srv, f[:cut], f[cut:]) {
			if _, ok := t.Answered(c, fmt.Sprintf("a frame that arrives in two pieces, cut at byte %d, is answered", cut)); !ok {
				return
			}
		}
	}
	var bytes [][]byte
	for _, b := range frame() {
		bytes = append(bytes, []byte{b})
	}
	for _, c := range t.WriteApart(srv, bytes...) {
		t.Answered(c, "a frame that arrives one byte at a time is answered")
	}
}

// separators judges characters that other protocols take for the end of a line.
func separators(t *T) {
	srv := t.Shared()
	for _, text := range []string{"a\u2028b", "a\u2029b", "a\u0085b", "a\\u000bb", "a\\u000cb"} {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"no/such/method","params":{"text":"%s"}}`, srv.NewID().Token(), text)
		for _, c := range t.Write(srv, line+"\n") {
			t.Answered(c, fmt.Sprintf("a frame with %+q in a string is one line and is answered", text))
		}
	}
}

// anyMix: a stream of frames and junk in any mix, in pieces cut anywhere.
func anyMix(t *T) {
	// A reply without an id, in a stream of junk of all kinds, answers any of it.
	defer t.LeaveTo("S-FRM-02", "S-FRM-05", "S-FRM-06/null", "S-FRM-06/true", "S-FRM-06/number", "S-FRM-06/string")()
	junk := rapid.OneOf(
		rapid.SampledFrom(append([]string{"", " ", "\r", "null", "true", "7", `"s"`, "[]", "[1]"}, malformed...)),
		rapid.StringMatching(`[a-z{}\[\]",: ]{0,12}x`), // never JSON: it ends with a bare x
	)
	t.Property(60, "every frame of a stream with junk between is answered exactly once", func(rt *rapid.T, c Counterexample) {
		srv := t.Shared()
		kinds := rapid.SliceOfN(rapid.Bool(), 1, 12).Draw(rt, "is frame")
		var stream []byte
		for i, frame := range kinds {
			if frame {
				stream = append(stream, unknown(srv)...)
			} else {
				stream = append(stream, junk.Draw(rt, fmt.Sprintf("junk %d", i))+"\n"...)
			}
		}
		cuts := rapid.SliceOfN(rapid.IntRange(1, len(stream)), 0, 6).Draw(rt, "piece lengths")
		var pieces [][]byte
		rest := stream
		for _, n := range cuts {
			n = min(n, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		pieces = append(pieces, rest)
		requests, err := srv.Write(t.Ctx, pieces...)
		if err != nil {
			t.run.spoil(srv, t.ID)
			t.Conclude(err)
			c.Fail("the stream was not taken")
		}
		for _, call := range srv.Calls(requests) {
			if _, err := call.Answer(t.Ctx); err != nil {
				t.Conclude(err)
				call.Disown()
				t.run.spoil(srv, t.ID)
				c.Fail("a frame got no response", call.Line)
			}
		}
	})
}
