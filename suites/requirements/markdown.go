package requirements

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the reference page of the whole catalogue, docs/requirements.md.
func (c *Catalogue) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Requirements\n\n")
	b.WriteString("<!-- Written by `go generate ./suites/requirements` out of the catalogue. Edit that, not this. -->\n\n")
	fmt.Fprintf(&b, "Catalogue %s: %s\n\n", c.Revision(), c.roleCounts())
	b.WriteString("`dshconform explain ID` prints the same on a terminal. MUST fails a run, SHOULD warns and fails under\n" +
		"`--strict`, OBSERVE is recorded and compared. A row with variants is judged for each of them, and a\n" +
		"variant is addressed as `ID/variant`.\n\n")
	c.markdownSources(&b)
	c.markdownCapabilities(&b)
	for _, role := range []Role{Server, Client, Parity} {
		families := c.Families(role)
		if len(families) == 0 {
			continue
		}
		fmt.Fprintf(&b, "## %s\n\n", strings.ToUpper(string(role[:1]))+string(role[1:]))
		for _, f := range families {
			fmt.Fprintf(&b, "### %s-%s: %s\n\n%s\n\n", rolePrefix[role], f.Name, f.Title, f.About)
			for _, r := range c.rows {
				if r.Role == role && r.Family == f.Name {
					c.markdownRow(&b, r)
				}
			}
		}
	}
	c.markdownChangelog(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the page of requirements: %w", err)
	}
	return nil
}

func (c *Catalogue) roleCounts() string {
	var parts []string
	for _, role := range []Role{Server, Client, Parity} {
		if n := len(c.Rows(role)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d rows for a %s", n, role))
		}
	}
	return strings.Join(parts, ", ") + "."
}

func (c *Catalogue) markdownSources(b *strings.Builder) {
	b.WriteString("## Sources\n\n| id | what it is | what it says |\n|---|---|---|\n")
	for _, s := range c.sources {
		fmt.Fprintf(b, "| %s | %s. %s | %s |\n", s.ID, s.Title, s.From, cell(s.Text))
	}
	b.WriteByte('\n')
}

func (c *Catalogue) markdownCapabilities(b *strings.Builder) {
	b.WriteString("## Capabilities\n\nWhat a subject may lack. What needs it is then not applicable, by name.\n\n" +
		"| capability | role | what one that has it can do | controls |\n|---|---|---|---|\n")
	for _, k := range c.capabilities {
		controls := c.Controls(k.Name)
		list := strings.Join(controls, ", ")
		if len(controls) > 12 {
			list = fmt.Sprintf("%d rows (`dshconform list --capabilities` names them)", len(controls))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Name, k.Role, cell(k.Sentence), list)
	}
	b.WriteByte('\n')
}

func (c *Catalogue) markdownRow(b *strings.Builder, r Row) {
	fmt.Fprintf(b, "#### %s\n\n**%s**, %s. Source: %s. %s.\n\n%s\n\n", r.ID, r.Level, profileList(r), c.SourceText(r), upperFirst(revisionText(r)), r.Sentence)
	for _, v := range r.Variants {
		fmt.Fprintf(b, "- `%s`: %s", JoinID(r.ID, v.Name), v.Sentence)
		if len(v.Needs) > 0 {
			fmt.Fprintf(b, " (needs %s)", strings.Join(v.Needs, ", "))
		}
		b.WriteByte('\n')
	}
	if len(r.Variants) > 0 {
		b.WriteByte('\n')
	}
	if len(r.Needs) > 0 {
		fmt.Fprintf(b, "*Needs:* %s.\n\n", strings.Join(r.Needs, ", "))
	}
	for _, part := range []struct{ title, text string }{
		{"How it is tested", r.Tested}, {"What usually breaks it", r.Breaks},
		{"Where it departs from JSON-RPC 2.0", r.Departs}, {"Why", r.Why},
	} {
		if part.text != "" {
			fmt.Fprintf(b, "*%s:* %s\n\n", part.title, part.text)
		}
	}
}

func (c *Catalogue) markdownChangelog(b *strings.Builder) {
	b.WriteString("## Changes\n\n")
	for i, ch := range c.Changelog() {
		fmt.Fprintf(b, "### %s\n\n%s\n\n", ch.Revision.Name, ch.Revision.About)
		// The first revision added everything, which the page above lists.
		if i < len(c.revisions)-1 && len(ch.Added) > 0 {
			fmt.Fprintf(b, "Added: %s.\n\n", strings.Join(ch.Added, ", "))
		}
		for _, re := range ch.Revised {
			fmt.Fprintf(b, "- revised %s: %s\n", re.ID, re.What)
		}
		if len(ch.Revised) > 0 {
			b.WriteByte('\n')
		}
	}
}

// cell makes a text fit into a cell of a table.
func cell(s string) string { return strings.ReplaceAll(text(s), "|", `\|`) }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
