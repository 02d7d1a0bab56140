package snapshot

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// Schema names the format of the files.
const Schema = "dshconform.snapshot/v1"

// render writes a conversation as text.
func render(s Scenario, log []harness.Entry, end string, m *mask) string {
	c := canonical(log, s.Profile)
	for own := range c.own {
		m.own[own] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n# profile: %s\n# scenario: %s: %s\n", Schema, s.Profile, s.Name, s.Title)
	section(&b, "client", c.client, m)
	for _, strand := range c.sessions {
		section(&b, "session "+m.text("sessionId", strand.id), strand.entries, m)
	}
	for _, strand := range c.others {
		section(&b, "session "+m.text("sessionId", strand.id)+", which nobody announced", strand.entries, m)
	}
	section(&b, "other responses", c.replies, m)
	if len(c.loose) > 0 {
		section(&b, "other lines", c.loose, m)
	}
	b.WriteString("\n== end ==\n")
	if end != "" {
		fmt.Fprintf(&b, "%s\n", end)
	}
	if s.Problem != "" {
		fmt.Fprintf(&b, "!! %s\n", m.text("", s.Problem))
	}
	return b.String()
}

func section(b *strings.Builder, title string, entries []harness.Entry, m *mask) {
	fmt.Fprintf(b, "\n== %s ==\n", title)
	for _, e := range entries {
		arrow := "<--"
		if e.Dir == wire.ClientToServer {
			arrow = "-->"
		}
		msg := wire.Parse(e.Line)
		fmt.Fprintf(b, "%s ", arrow)
		if msg.Kind <= wire.Blank {
			fmt.Fprintf(b, "%s: %q\n", msg.Kind, m.text("", string(e.Raw)))
			continue
		}
		m.json(b, "", jsontext.Value(strings.Trim(string(e.Raw), " \t\r\n")), "    ")
		b.WriteByte('\n')
	}
}
