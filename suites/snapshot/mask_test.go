package snapshot

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/go-json-experiment/json/jsontext"
)

func masked(m *mask, text string) string {
	var b strings.Builder
	m.json(&b, "", jsontext.Value(text), "")
	return b.String()
}

func TestMask(t *testing.T) {
	for name, c := range map[string][2]string{
		"times":               {`{"time":1796050026712,"createdAt":"2026-11-30T14:46:55.12Z","at":1796050026.5}`, `{"at": «time», "createdAt": "«date»", "time": «time»}`},
		"durations, pids":     {`{"durationMs":17,"elapsed":0.4,"pid":4711,"count":17}`, `{"count": 17, "durationMs": «duration», "elapsed": «duration», "pid": «pid»}`},
		"tokens":              {`{"usage":{"inputTokens":9055,"output_tokens":2},"dt":[0,6]}`, `{"dt": [«duration», «duration»], "usage": {"inputTokens": «tokens», "output_tokens": «tokens»}}`},
		"seq stays":           {`{"seq":12,"turn":3,"kind":"completed"}`, `{"kind": "completed", "seq": 12, "turn": 3}`},
		"ids":                 {`{"messageId":"m-123456789","b":"see m-123456789, twice m-123456789","id":"7"}`, `{"b": "see m-123456789, twice m-123456789", "id": "«id-1»", "messageId": "«id-2»"}`},
		"the client's own":    {`{"sessionId":"one","id":"q-1"}`, `{"id": "q-1", "sessionId": "one"}`},
		"paths":               {`{"text":"in /tmp/run/work/x and /tmp/run"}`, `{"text": "in «cwd»/x and «scratch»"}`},
		"versions":            {`{"serverInfo":{"name":"n","version":"1.2.3"}}`, `{"serverInfo": {"name": "n", "version": "«version»"}}`},
		"uuids anywhere":      {`{"text":"agent 0b8a8b1e-1c1d-4c1e-8f1f-0123456789ab."}`, `{"text": "agent «id-1»."}`},
		"numbers as they are": {`{"x":1e400,"y":9007199254740993}`, `{"x": 1e400, "y": 9007199254740993}`},
		"an empty id":         {`{"id":"","n":null,"t":true,"a":[1,"x"]}`, `{"a": [1, "x"], "id": "", "n": null, "t": true}`},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMask(map[string]string{"/tmp/run": "«scratch»", "/tmp/run/work": "«cwd»", "": "nothing"})
			m.own["one"], m.own["q-1"] = true, true
			NewWithT(t).Expect(masked(m, c[0])).To(Equal(c[1]))
		})
	}
}

// A value has one name wherever it stands, inside other strings too once it is known.
func TestMaskIsOneNameForOneValue(t *testing.T) {
	g := NewWithT(t)
	m := newMask(nil)
	g.Expect(masked(m, `{"childSessionId":"child-abcdef"}`)).To(Equal(`{"childSessionId": "«id-1»"}`))
	g.Expect(masked(m, `{"text":"agent child-abcdef is done","value":"child-abcdef"}`)).To(Equal(`{"text": "agent «id-1» is done", "value": "«id-1»"}`))
	g.Expect(masked(m, `{"agentId":"child-abcdef","childSessionId":"other-child"}`)).To(Equal(`{"agentId": "«id-1»", "childSessionId": "«id-2»"}`))
}

func TestLongValuesTakeSeveralLines(t *testing.T) {
	m := newMask(nil)
	long := strings.Repeat("x", width)
	NewWithT(t).Expect(masked(m, `{"b":["`+long+`",{}],"a":{"c":1}}`)).To(Equal("{\n  \"a\": {\"c\": 1},\n  \"b\": [\n    \"" + long + "\",\n    {}\n  ]\n}"))
}
