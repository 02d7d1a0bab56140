package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dshconform/dshconform/fixtures/refclient"
	"github.com/dshconform/dshconform/fixtures/refserver"
	"github.com/dshconform/dshconform/suites/client"
	"github.com/dshconform/dshconform/suites/parity"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/server"
)

// listedRow is a row as `list --json` prints it.
type listedRow struct {
	ID          string          `json:"id"`
	Role        string          `json:"role"`
	Level       string          `json:"level"`
	Profiles    []string        `json:"profiles"`
	Sentence    string          `json:"sentence"`
	Source      string          `json:"source"`
	Implemented bool            `json:"implemented"`
	Faults      []string        `json:"faults"`
	Since       string          `json:"since"`
	Monitor     bool            `json:"monitor,omitempty"`
	Property    bool            `json:"property,omitempty"`
	Needs       []string        `json:"needs,omitempty"`
	Variants    []listedVariant `json:"variants,omitempty"`
}

// listedVariant is a variant of a row.
type listedVariant struct {
	ID          string   `json:"id"`
	Sentence    string   `json:"sentence"`
	Implemented bool     `json:"implemented"`
	Faults      []string `json:"faults"`
}

// listedCapability is a capability as `list --capabilities --json` prints it.
type listedCapability struct {
	Name     string   `json:"name"`
	Role     string   `json:"role"`
	Sentence string   `json:"sentence"`
	Implies  []string `json:"implies"`
	Rows     []string `json:"rows"`
}

func listCommand() *cobra.Command {
	var asJSON, capabilities bool
	var label string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the requirements, or the capabilities that a target may lack",
		Long: `List the requirements: id, level, profiles, and the sentence. A row that this version
can't judge yet is marked "not yet".`,
		Example: `  dshconform list --label 'server && OVL'
  dshconform list --json | jq -r '.[] | select(.level == "MUST") | .id'
  dshconform list --capabilities`,
		GroupID: "read",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cat, err := requirements.Load()
			if err != nil {
				return failed("%w", err)
			}
			if capabilities {
				return listCapabilities(c, cat, asJSON)
			}
			filter, err := labelFilter(cat, "", label)
			if err != nil {
				return err
			}
			rows := listRows(cat, filter)
			if len(rows) == 0 {
				return misuse("--label %q matches no requirement", label)
			}
			if asJSON {
				return printJSON(c, rows)
			}
			return printRows(c, rows)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&label, "label", "", "list what an `expression` over labels selects")
	f.BoolVar(&capabilities, "capabilities", false, "list the capabilities that a target may lack, with the rows that each controls")
	completeLabels(c, "")
	return c
}

// listRows describes the rows that a filter selects, with what this program has for each.
func listRows(cat *requirements.Catalogue, selected func(requirements.Row) bool) []listedRow {
	done := server.Implemented(cat)
	maps.Copy(done, client.Implemented(cat))
	maps.Copy(done, parity.Implemented(cat))
	faults := faultsByID()
	var rows []listedRow
	for _, r := range cat.Rows("") {
		if !selected(r) {
			continue
		}
		l := listedRow{
			ID: r.ID, Role: string(r.Role), Level: string(r.Level), Profiles: r.Profiles, Sentence: r.Sentence, Source: cat.SourceText(r),
			Implemented: done[r.ID], Faults: nonNil(faults[r.ID]), Since: r.Since, Monitor: r.Monitor, Property: r.Property, Needs: r.Needs,
		}
		for _, v := range r.Variants {
			id := requirements.JoinID(r.ID, v.Name)
			l.Variants = append(l.Variants, listedVariant{ID: id, Sentence: v.Sentence, Implemented: done[id], Faults: nonNil(faults[id])})
		}
		rows = append(rows, l)
	}
	return rows
}

// faultsByID are the names of the faults that break an id. Those of a variant are among its row's too.
func faultsByID() map[string][]string {
	faults := map[string][]string{}
	add := func(name string, breaks []string) {
		for _, id := range breaks {
			row, _ := requirements.SplitID(id)
			for _, i := range slices.Compact([]string{row, id}) {
				if !slices.Contains(faults[i], name) {
					faults[i] = append(faults[i], name)
				}
			}
		}
	}
	for _, f := range refserver.Faults() {
		add(f.Name, f.Breaks)
	}
	for _, f := range refclient.Faults() {
		add(f.Name, f.Breaks)
	}
	return faults
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func printRows(c *cobra.Command, rows []listedRow) error {
	var b strings.Builder
	type count struct{ rows, done int }
	counts := map[string]*count{}
	for _, r := range rows {
		profiles := strings.Join(r.Profiles, ",")
		if len(r.Profiles) == len(requirements.Profiles()) {
			profiles = "all"
		}
		mark := ""
		if !r.Implemented {
			mark = "not yet: "
		}
		fmt.Fprintf(&b, "%-9s %-7s %-20s %s%s\n", r.ID, r.Level, profiles, mark, r.Sentence)
		n := counts[r.Role]
		if n == nil {
			n = &count{}
			counts[r.Role] = n
		}
		n.rows++
		if r.Implemented {
			n.done++
		}
	}
	var sums []string
	for _, role := range []requirements.Role{requirements.Server, requirements.Client, requirements.Parity} {
		if n := counts[string(role)]; n != nil {
			sums = append(sums, fmt.Sprintf("%s: %d of %d judged by this version", role, n.done, n.rows))
		}
	}
	b.WriteString(strings.Join(sums, "; ") + "\n")
	_, err := fmt.Fprint(c.OutOrStdout(), b.String())
	return written(err)
}

func listCapabilities(c *cobra.Command, cat *requirements.Catalogue, asJSON bool) error {
	var list []listedCapability
	for _, k := range cat.Capabilities("") {
		list = append(list, listedCapability{
			Name: k.Name, Role: string(k.Role), Sentence: k.Sentence, Implies: nonNil(k.Implies), Rows: nonNil(cat.Controls(k.Name)),
		})
	}
	if asJSON {
		return printJSON(c, list)
	}
	var b strings.Builder
	for _, k := range list {
		fmt.Fprintf(&b, "%s (%s): %s\n  controls: %s\n", k.Name, k.Role, k.Sentence, cmp.Or(strings.Join(k.Rows, " "), "nothing"))
	}
	_, err := fmt.Fprint(c.OutOrStdout(), b.String())
	return written(err)
}
