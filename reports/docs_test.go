package reports

import (
	"os"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The page for readers names every member of the top level and of a requirement.
func TestPageOfResultsNamesEveryMember(t *testing.T) {
	page, err := os.ReadFile("../docs/results.md")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	var names func(typ reflect.Type)
	names = func(typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Anonymous {
				names(f.Type)
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			g.Expect(string(page)).To(ContainSubstring("`"+name+"`"), "docs/results.md says nothing of %s", name)
		}
	}
	names(reflect.TypeFor[Run]())
	names(reflect.TypeFor[Requirement]())
	names(reflect.TypeFor[Frame]())
	names(reflect.TypeFor[Summary]())
	names(reflect.TypeFor[Musts]())
}

// The example on the page of baselines is one that the program takes.
func TestExampleBaselineIsValid(t *testing.T) {
	page, err := os.ReadFile("../docs/baseline.md")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, ok := strings.Cut(string(page), "```yaml\n")
	g.Expect(ok).To(BeTrue())
	example, _, _ := strings.Cut(rest, "```")
	b, err := ParseBaseline(catalogue(t), "docs/baseline.md", []byte(example))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Known).To(HaveLen(2))
	var y map[string]any
	g.Expect(yamlToAny(example, &y)).To(Succeed())
	g.Expect(compile(t, unmarshal(t, baselineSchema)).Validate(y)).To(Succeed())
}
