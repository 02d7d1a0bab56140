package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Cell is a pair of a client and a server in an interop run.
type Cell struct {
	Client string `json:"client"`
	Server string `json:"server"`
	// Profile is what the pair was held to.
	Profile string `json:"profile"`
	// Spoken is the profile that the server was seen to speak, where it is another one.
	Spoken string `json:"spoken,omitempty"`
	// Works is set where every conversation that could be held works, and nothing was violated that is not known.
	Works         bool            `json:"works"`
	Conversations []Conversation  `json:"conversations"`
	Violations    []CellViolation `json:"violations"`
	// Transcripts are the files with what the two said, a file for each process, relative to the folder of the report.
	Transcripts []string `json:"transcripts,omitempty"`
	// Repeat is the command that repeats the pair.
	Repeat  string  `json:"repeat"`
	Seconds float64 `json:"seconds"`
}

// What becomes of a conversation. The strings are part of results.json.
const (
	TalkWorks      = "works"
	TalkFails      = "fails"
	TalkNotOffered = "not_offered" // the client or the server lacks what it takes
	TalkNotReached = "not_reached" // an earlier one went wrong
)

// Conversation is a standard one that a pair has held.
type Conversation struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	// Why says why it does not work, or was not held.
	Why string `json:"why,omitempty"`
	// Saw is what the caller saw, in order.
	Saw []Observation `json:"saw"`
}

// CellViolation is a row that one of a pair violated.
type CellViolation struct {
	ID       string `json:"id"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	Known    *Known `json:"known,omitempty"`
}

// held counts the conversations that work, and those that could be held.
func (c *Cell) held() (works, of int) {
	for _, t := range c.Conversations {
		if t.Verdict != TalkNotOffered {
			of++
		}
		if t.Verdict == TalkWorks {
			works++
		}
	}
	return works, of
}

// unknown are the violations that no baseline knows.
func (c *Cell) unknown() []CellViolation {
	return slices.DeleteFunc(slices.Clone(c.Violations), func(v CellViolation) bool { return v.Known != nil })
}

// Short is the cell in a few words.
func (c *Cell) Short() string {
	works, of := c.held()
	if c.Spoken != "" {
		return fmt.Sprintf("%s meets %s", c.Profile, c.Spoken)
	}
	text := fmt.Sprintf("%d of %d", works, of)
	if works == of {
		text = fmt.Sprintf("works, %d", of)
	}
	if n := len(c.unknown()); n > 0 {
		text += fmt.Sprintf(", %d violated", n)
	}
	if n := len(c.Violations) - len(c.unknown()); n > 0 {
		text += fmt.Sprintf(", %d known", n)
	}
	return text
}

// details are what does not work, a line each.
func (c *Cell) details() string {
	var b strings.Builder
	if c.Spoken != "" {
		fmt.Fprintf(&b, "the client speaks the %s profile, and the server %s\n", c.Profile, c.Spoken)
	}
	for _, t := range c.Conversations {
		if t.Verdict == TalkFails {
			fmt.Fprintf(&b, "%s: %s\n", t.Name, strings.ReplaceAll(strings.TrimRight(t.Why, "\n"), "\n", "\n  "))
		}
	}
	for _, v := range c.unknown() {
		fmt.Fprintf(&b, "%s: expected %s; came %s\n", v.ID, oneLine(v.Expected), oneLine(v.Actual))
	}
	if c.Repeat != "" && b.Len() > 0 {
		fmt.Fprintf(&b, "repeat: %s\n", c.Repeat)
	}
	return b.String()
}

// cells shows the pairs that do not work, and the matrix.
func (c *console) cells() {
	for i := range c.r.Cells {
		cell := &c.r.Cells[i]
		if cell.Works {
			continue
		}
		c.line(bold(c.o.Color, Fail, "DOES NOT WORK") + " " + Visible(cell.Client+" × "+cell.Server))
		for line := range strings.Lines(cell.details()) {
			c.line("  " + Shorten(Visible(strings.TrimSuffix(line, "\n")), 400, 0))
		}
		c.line("")
	}
	if len(c.r.Cells) > 0 {
		c.line(matrix(c.r.Cells))
	}
}

// matrix shows cells, clients down and servers across.
func matrix(cells []Cell) string {
	var clients, servers []string
	at := map[[2]string]string{}
	for i := range cells {
		c := &cells[i]
		at[[2]string{c.Client, c.Server}] = c.Short()
		if !slices.Contains(clients, c.Client) {
			clients = append(clients, c.Client)
		}
		if !slices.Contains(servers, c.Server) {
			servers = append(servers, c.Server)
		}
	}
	rows := [][]string{append([]string{""}, visibleAll(servers)...)}
	for _, client := range clients {
		row := []string{Visible(client)}
		for _, server := range servers {
			row = append(row, cmp.Or(at[[2]string{client, server}], "-"))
		}
		rows = append(rows, row)
	}
	return aligned(rows)
}

// groupedDifferences shows differences with those together that show the same.
func groupedDifferences(list []Difference) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "  %s, %s\n", Visible(d.ID), Visible(d.Field))
		pairs := map[string][]string{}
		for _, name := range sortedKeys(d.Values) {
			pairs[d.Values[name]] = append(pairs[d.Values[name]], name)
		}
		for _, value := range sortedKeys(pairs) {
			fmt.Fprintf(&b, "    %s: %s\n", cut(Visible(oneLine(value)), 100), Visible(strings.Join(pairs[value], ", ")))
		}
	}
	return b.String()
}

// interopClosing is the last line of an interop run.
func (t verdictTally) interopClosing(r *Run) string {
	judged := fmt.Sprintf("%d rows judged in what they said", len(r.Requirements))
	switch {
	case r.Abort != nil && r.Abort.Kind == AbortInterrupted:
		return fmt.Sprintf("interrupted; %s so far", plural(len(r.Cells), "pair", "pairs"))
	case r.Abort != nil:
		return "not run: " + Visible(oneLine(r.Abort.Reason))
	case !r.Complete:
		return fmt.Sprintf("so far: %s", plural(len(r.Cells), "pair", "pairs"))
	case t.pairs > 0:
		return fmt.Sprintf("%d of %d pairs do not work; %s", t.pairs, len(r.Cells), judged)
	case r.Exit != ExitConforms:
		return fmt.Sprintf("all %d pairs work, but %d rows do not hold; %s", len(r.Cells), t.failed, judged)
	}
	return fmt.Sprintf("all %d pairs work; %s", len(r.Cells), judged)
}
