package reports

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// Clients that show the same everywhere share a column; what differs is not cut off.
func TestDifferencesTable(t *testing.T) {
	g := NewWithT(t)
	frame := `{"id":"«id»","jsonrpc":"2.0","method":"shutdown"`
	table := differencesTable([]Difference{
		{ID: "P-INI-01", Field: "frames[3]", Values: map[string]string{"py 1": frame + "}", "py 2": frame + "}", "ts": frame + `,"params":{}}`}},
		{ID: "P-FRM-03", Field: strings.Repeat("x", 70) + ": next", Values: map[string]string{"py 1": "hangs", "py 2": "hangs", "ts": "succeeds"}, Known: &Known{Reason: "r"}},
		{ID: "P-FRM-03", Field: strings.Repeat("x", 70), Values: map[string]string{"py 1": "fails", "py 2": "fails"}},
	}, []string{"py 1", "ts", "py 2"})
	g.Expect(table).To(Equal(strings.Join([]string{
		`scenario  field                                                               py 1                    ts`,
		`                                                                              py 2`,
		`P-INI-01  frames[3]                                                           …,"method":"shutdown"}  …,"method":"shutdown","params":{}}`,
		`P-FRM-03  ` + strings.Repeat("x", 51) + `…: next (known)  hangs                   succeeds`,
		`          ` + strings.Repeat("x", 57) + `…          fails                   -`,
		``,
	}, "\n")))
}

// Clients that differ in nothing but one row stand apart.
func TestTogether(t *testing.T) {
	g := NewWithT(t)
	list := []Difference{{Values: map[string]string{"a": "x", "b": "x", "c": "y"}}, {Values: map[string]string{"a": "x", "c": "y"}}}
	g.Expect(together(list, []string{"a", "b", "c"})).To(Equal([][]string{{"a"}, {"b"}, {"c"}}))
	g.Expect(together(list[:1], []string{"a", "c", "b"})).To(Equal([][]string{{"a", "b"}, {"c"}}))
}
