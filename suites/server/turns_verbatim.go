package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
)

// scriptHere is where the script of a prompt stands that has one block.
const scriptHere = "{script}"

// verbatimPrompts are the text blocks of prompts, by variant of S-TRN-11.
var verbatimPrompts = []named[[][]string]{
	{"one", [][]string{
		{"  Two  spaces, {{braces}}, ${HOME}, %s and <b>tags</b>. {script} "},
		// what trims and splits in one language is no white space in another
		{"\u00a0\u2003no-break\u00a0space, line\u2028paragraph\u2029mark\ufeffzero\u200bideographic\u3000 {script}\u2003\u00a0"},
		{longText(200_000) + "{script} "},
	}},
	{"several", [][]string{{"The first block.", "", " the second ", "The third block."}}},
	{"escapes", [][]string{
		{"\"quotes\" 'single' `ticks` \\ \\n \\\\ \\u0041 / \\/ tab\t newline\n\nreturn\r\n nul-free \u0001\u0008\u000c\u001b\u001f\u007f{script} "},
		{"\r\n\t white space \r\n around {script}\r\n\t"},
	}},
}

// longText is a text of so many bytes in which no part is like another.
func longText(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d of a long prompt. ", i)
	}
	return b.String()
}

// verbatim looks for blocks in the model's call. The script stands in the last of
// them.
func verbatim(t *T, texts []string) bool {
	srv := t.Shared()
	session, script := t.Session(), t.Script(model.Text("Fine."))
	var blocks []any
	if len(texts) > 1 {
		texts = append(slices.Clone(texts), script.Prompt("The last block."))
	} else {
		texts = []string{strings.Replace(texts[0], scriptHere, script.Marker(), 1)}
	}
	for _, text := range texts {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	mark := srv.Mark()
	turn := &Turn{t.Send(srv, protocol.MethodPrompt, PromptBlocks(session, blocks...)), session, t, srv, mark}
	turn.Settle()
	calls := t.run.stub.CallsByTag(script.Tag)
	if len(calls) == 0 {
		t.NotReached("the prompt reaches the model", fmt.Errorf("no model call holds its script"))
	}
	var got []string
	for _, c := range calls { // further ones make titles and the like, in whichever order
		for _, m := range c.Messages {
			if m.Role == "user" {
				got = append(got, strings.Join(m.Texts, ""))
			}
		}
	}
	// An endpoint whose messages are plain strings has no place for the borders of
	// blocks; nothing may stand in for them.
	want := strings.Join(texts, "")
	for _, text := range got {
		if strings.Contains(text, want) {
			return true
		}
	}
	return t.Expect(false, "the text blocks reach the model in order and unchanged: "+protocol.Short(fmt.Sprintf("%q", texts)), fmt.Sprintf("the user messages hold %s", protocol.Short(fmt.Sprintf("%q", got))), turn.Line)
}
