package tap

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// recording makes one out of lines: "> frame", "< frame", "note …" and, with a size
// behind the direction, frames that were cut: ">5000 frame".
func recording(header string, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"schema":%q,"started":"2026-01-02T03:04:05Z"%s}`+"\n", wire.TranscriptSchema, header)
	for i, l := range lines {
		head, text, _ := strings.Cut(l, " ")
		size := ""
		if len(head) > 1 && head != "note" {
			size = `,"size":` + head[1:]
		}
		dir := map[byte]string{'>': "c2s", '<': "s2c", 'n': "note"}[head[0]]
		if size == "" {
			text += "\n"
		}
		fmt.Fprintf(&b, `{"t":%d,"dir":%q,"raw":%q%s}`+"\n", i, dir, text, size)
	}
	return b.String()
}

const (
	initialize  = `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"cwd":"/","provider":"p","model":"m"}}`
	initialized = `< {"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"deepseek-harness-sdk-runtime","version":"1"}}}`
	unknown     = `> {"jsonrpc":"2.0","id":2,"method":"no/such"}`
	unknownGot  = `< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}`
	prompt      = `> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","contentBlocks":[]}}`
	turnStart   = `< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"turn/start","seq":0,"time":1796050026712,"data":{"turn":1}}}}`
	turnEnd     = `< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"turn/end","seq":1,"time":1796050026712,"data":{"turn":1,"reason":{"kind":"completed"}}}}}`
	settledD    = `< {"jsonrpc":"2.0","id":3,"result":{"status":"ok","reason":{"kind":"completed"}}}`
	settledH    = `< {"jsonrpc":"2.0","id":3,"result":{"messageId":"m","status":"ok","reason":{"kind":"completed"}}}`
	settledA    = `< {"jsonrpc":"2.0","id":3,"result":{"accepted":true}}`
	finishedA   = `< {"jsonrpc":"2.0","method":"session.finished","params":{"sessionId":"s","status":"ok","reason":{"kind":"completed"}}}`
	shutdown    = `> {"jsonrpc":"2.0","id":4,"method":"shutdown"}`
	shutdownGot = `< {"jsonrpc":"2.0","id":4,"result":{}}`
	request     = `< {"jsonrpc":"2.0","id":9,"method":"permission/ask","params":{}}`
	closed      = "note stdin closed"
	ended       = "note process ended: exit status 0"
)

// judged gives the rows that a recording violates, in order.
func judged(t *testing.T, text string, o JudgeOptions) ([]string, Recording) {
	t.Helper()
	var rows []string
	o.OnViolation = func(v protocol.Violation) { rows = append(rows, v.Row) }
	r, err := Check(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return rows, r
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"clean":                                  {[]string{initialize, initialized, prompt, turnStart, turnEnd, settledD, shutdown, shutdownGot, ended}, nil},
		"a request of the server":                {[]string{initialize, initialized, request}, []string{"S-DIR-01"}},
		"no answer before EOF":                   {[]string{initialize, initialized, unknown, closed, ended}, []string{"S-SHD-10/running"}},
		"no answer, and the end is not told":     {[]string{initialize, initialized, unknown, closed}, nil},
		"no answer, stopped by the recorder":     {[]string{unknown, closed, "note stopped", ended}, nil},
		"no answer behind a signal":              {[]string{unknown, closed, "note SIGTERM sent", ended}, nil},
		"no answer, killed":                      {[]string{unknown, closed, "note process ended: killed by SIGKILL"}, nil},
		"no answer, and lines are missing":       {[]string{unknown, "note gap: some lines", closed, ended}, nil},
		"no answer in a crash that nobody asked": {[]string{unknown, "note process ended: exit status 1"}, nil},
		"shutdown with another exit code":        {[]string{shutdown, shutdownGot, "note process ended: exit status 3"}, []string{"S-SHD-01"}},
		"the same behind a signal":               {[]string{shutdown, shutdownGot, "note SIGTERM sent", "note process ended: killed by SIGTERM"}, nil},
		"the same where the client was deaf":     {[]string{shutdown, shutdownGot, "note stdout closed by the client", "note process ended: exit status 1"}, nil},
		"no answer to shutdown":                  {[]string{shutdown, ended}, []string{"S-SHD-01"}},
		"a remark is none of the notes":          {[]string{unknown, "note the spec was sent", closed, unknownGot, ended}, nil},
		"a cut event hides a seq":                {[]string{prompt, turnStart, "<5000 {\"jsonrpc\":\"2.0\",\"method\":\"session.ev", strings.Replace(turnEnd, `"seq":1`, `"seq":2`, 1), settledD, shutdown, shutdownGot, ended}, nil},
		"a cut response answers":                 {[]string{unknown, "<5000 {\"jsonrpc\":\"2.0\",\"id\":2", shutdown, shutdownGot, ended}, nil},
		"a cut request is asked":                 {[]string{">5000 {\"jsonrpc\":\"2.0\",\"id\":2", unknownGot, shutdown, shutdownGot, ended}, nil},
		"a cut line that is no frame":            {[]string{"<5000 hello"}, []string{"S-FRM-01"}},
		"a gap, and a request of the server":     {[]string{"note gap: x", request}, []string{"S-DIR-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			rows, _ := judged(t, recording(`,"profile":"directional"`, c.lines...), JudgeOptions{})
			NewWithT(t).Expect(rows).To(Equal(c.want))
		})
	}
}

// A last line without LF may be served or not.
func TestLastLineWithoutLF(t *testing.T) {
	text := recording(`,"profile":"directional"`, unknown, closed)
	text = strings.Replace(text, `\"no/such\"}\n"`, `\"no/such\"}"`, 1)
	rows, _ := judged(t, text+recordingLines(ended), JudgeOptions{})
	NewWithT(t).Expect(rows).To(BeEmpty())
	rows, _ = judged(t, text+recordingLines(unknownGot, ended), JudgeOptions{})
	NewWithT(t).Expect(rows).To(BeEmpty())
}

// The beginning of a line that nobody read to its end is none of the server's doing.
func TestLastLineThatWasNotRead(t *testing.T) {
	cut := strings.Replace(recordingLines(turnStart), `\n"`, `"`, 1)
	for note, want := range map[string][]string{
		"note stdout closed by the client": nil,
		"note gap: " + wire.GapHeldOpen:    nil,
		"note gap: something else":         {"S-FRM-01"},
		"note SIGTERM sent":                nil,
		"note a remark":                    {"S-FRM-01"},
	} {
		for _, line := range []string{cut, strings.Replace(cut, `}"`, `"`, 1)} {
			rows, _ := judged(t, recording(`,"profile":"directional"`, prompt, note)+line+recordingLines(ended), JudgeOptions{})
			NewWithT(t).Expect(rows).To(Equal(want), note)
		}
	}
}

func recordingLines(lines ...string) string {
	_, rest, _ := strings.Cut(recording("", lines...), "\n")
	return rest
}

func TestJoinedConversation(t *testing.T) {
	g := NewWithT(t)
	strange := `< {"jsonrpc":"2.0","id":"of-before","result":{}}`
	middle := []string{
		strange, turnEnd, settledD,
		strings.Replace(turnStart, `"seq":0`, `"seq":7`, 1),
	}
	rows, r := judged(t, recording(`,"profile":"directional","joined":true`, middle...), JudgeOptions{})
	g.Expect(rows).To(Equal([]string{"S-ORD-03/root"}), "the sequence is known from the first event on: 1, then 7")
	g.Expect(r.Header.Joined).To(BeTrue())

	rows, _ = judged(t, recording(`,"profile":"directional"`, middle...), JudgeOptions{})
	g.Expect(rows).To(ContainElement("S-MSG-04"), "without the word the response is one too many")

	rows, _ = judged(t, recording(`,"profile":"directional","joined":true`, prompt, turnStart, settledD), JudgeOptions{})
	g.Expect(rows).To(BeEmpty())
	rows, _ = judged(t, recording(`,"profile":"directional","joined":true`, prompt, turnStart, settledD, turnEnd), JudgeOptions{})
	g.Expect(rows).To(Equal([]string{"S-ORD-01"}), "a session that began here is judged in full")
}

func TestProfileIsFound(t *testing.T) {
	idle := `< {"jsonrpc":"2.0","method":"session.status","params":{"sessionId":"s","status":"idle"}}`
	for name, c := range map[string]struct {
		header string
		lines  []string
		given  protocol.Profile
		want   protocol.Profile
		spoken protocol.Profile
	}{
		"by the answer, directional": {"", []string{prompt, turnStart, turnEnd, settledD}, "", protocol.Directional, protocol.Directional},
		"by the answer, accepted":    {"", []string{prompt, turnStart, turnEnd, finishedA, settledA}, "", protocol.Accepted, protocol.Accepted},
		"a hybrid that settles":      {"", []string{prompt, turnStart, turnEnd, settledH}, "", protocol.Directional, protocol.Directional},
		"a hybrid that queues":       {"", []string{prompt, turnStart, settledH, turnEnd}, "", protocol.Receipt, protocol.Receipt},
		"a hybrid by its header":     {`,"profile":"receipt"`, []string{prompt, turnStart, turnEnd, settledH}, "", protocol.Receipt, protocol.Receipt},
		"by the header":              {`,"profile":"accepted"`, []string{initialize, initialized}, "", protocol.Accepted, ""},
		"against the header":         {`,"profile":"accepted"`, []string{initialize, initialized}, protocol.Receipt, protocol.Receipt, ""},
		"by a status":                {"", []string{initialize, initialized, idle}, "", protocol.Receipt, ""},
		"by nothing":                 {"", []string{initialize, initialized}, "", protocol.Directional, ""},
		"not the one that is spoken": {`,"profile":"directional"`, []string{prompt, turnStart, turnEnd, finishedA, settledA}, "", protocol.Directional, protocol.Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, r := judged(t, recording(c.header, c.lines...), JudgeOptions{Monitor: protocol.Options{Profile: c.given}})
			g.Expect(r.Profile).To(Equal(c.want))
			g.Expect(r.Spoken).To(Equal(c.spoken))
			g.Expect(r.How != "").To(Equal(c.header == "" && c.given == ""))
			g.Expect(r.Lines).To(Equal(len(c.lines)), "what was held back is judged too")
		})
	}
}

// However much comes before the first prompt's answer, the profile is that of the answer.
func TestProfileIsFoundBehindALongTurn(t *testing.T) {
	const many = 40
	for profile, answer := range map[protocol.Profile][]string{
		protocol.Directional: {settledD},
		protocol.Accepted:    {finishedA, settledA},
	} {
		g := NewWithT(t)
		lines := []string{prompt, turnStart}
		for i := range many {
			text := strings.Repeat("x", 256<<10)
			lines = append(lines, fmt.Sprintf(`< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"assistant/chunk","seq":%d,"time":1796050026712,"data":{"turn":1,"text":%q}}}}`, i+1, text))
		}
		lines = append(lines, request, strings.Replace(turnEnd, `"seq":1`, fmt.Sprintf(`"seq":%d`, many+1), 1))
		rows, r := judged(t, recording("", append(lines, answer...)...), JudgeOptions{})
		g.Expect(r.Profile).To(Equal(profile))
		g.Expect(r.How).To(Equal("from the first prompt's answer"))
		g.Expect(rows).To(Equal([]string{"S-DIR-01"}), "what was found before is told, of this profile alone")
		g.Expect(r.Rows["S-DIR-01"].Violated).To(Equal(1))
	}
}

// However often a rule is broken, and across gaps, the kinds are capped and counted.
func TestViolationsAreCappedForEachKind(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	for i := range 30 {
		lines = append(lines, "< junk", request)
		if i%7 == 0 {
			lines = append(lines, "note gap: something")
		}
	}
	rows, r := judged(t, recording(`,"profile":"directional"`, lines...), JudgeOptions{})
	counts := map[string]int{}
	for _, row := range rows {
		counts[row]++
	}
	g.Expect(counts).To(Equal(map[string]int{"S-FRM-01": perRow, "S-DIR-01": perRow}))
	g.Expect(r.Rows["S-FRM-01"].Violated).To(Equal(30))
	g.Expect(r.Rows["S-DIR-01"].Violated).To(Equal(30))
	g.Expect(r.Violations()).To(Equal(60))
	g.Expect(r.NotJudged).To(ContainElement("something (5 times)"))
}

func TestWhatIsNoRecording(t *testing.T) {
	whole := recording(`,"profile":"directional"`, initialize, initialized)
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "no header"},
		"text":              {"hello\n", "line 1"},
		"another schema":    {`{"schema":"x/v1"}` + "\n", `the schema in line 1 is "x/v1"`},
		"unknown profile":   {recording(`,"profile":"x"`), "line 1: unknown profile"},
		"junk in its midst": {strings.Replace(whole, `{"t":1`, `{{"t":1`, 1), "line 3"},
		"no direction":      {whole + "{\"t\":5,\"raw\":\"\"}\n", "line 4"},
		"no bytes":          {whole + "{\"t\":5,\"dir\":\"s2c\"}\n", "line 4"},
	} {
		_, err := Check(strings.NewReader(c.text), JudgeOptions{})
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)), name)
	}
}

// A recording whose writer was killed is judged as far as it goes, wherever it was cut.
func TestRecordingThatIsCut(t *testing.T) {
	whole := recording(`,"profile":"directional"`, initialize, initialized, request, ended)
	header := strings.IndexByte(whole, '\n') + 1
	asked := strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n") // where the entry before the last one is whole
	for cut := header; cut < len(whole); cut++ {
		rows := 0
		r, err := Check(strings.NewReader(whole[:cut]), JudgeOptions{OnViolation: func(protocol.Violation) { rows++ }})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		inside := whole[cut-1] != '\n' && whole[cut] != '\n' // a last entry that lacks its LF alone is whole
		if r.Cut != inside {
			t.Fatalf("cut at %d: told as cut: %v", cut, r.Cut)
		}
		if want := cut >= asked; (rows == 1) != want {
			t.Fatalf("cut at %d: %d violations", cut, rows)
		}
	}
	_, err := Check(strings.NewReader(whole[:header/2]), JudgeOptions{})
	NewWithT(t).Expect(errors.Is(err, wire.ErrCutTranscript)).To(BeFalse(), "a cut header is no recording")
	NewWithT(t).Expect(err).To(HaveOccurred())
}
