package interop

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dshconform/dshconform/suites/requirements"
)

// The example on the page is one that the program and the published schema take.
func TestExamplePairsAreValid(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/interop.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, rest, ok := strings.Cut(string(page), "```yaml\n")
	g.Expect(ok).To(BeTrue())
	example, _, _ := strings.Cut(rest, "```")

	published, err := os.ReadFile("../../docs/schemas/interop.v1.json")
	g.Expect(err).NotTo(HaveOccurred())
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(published))
	g.Expect(err).NotTo(HaveOccurred())
	compiler := jsonschema.NewCompiler()
	g.Expect(compiler.AddResource("interop.v1.json", doc)).To(Succeed())
	schema, err := compiler.Compile("interop.v1.json")
	g.Expect(err).NotTo(HaveOccurred())
	var y map[string]any
	g.Expect(yaml.Unmarshal([]byte(example), &y)).To(Succeed())
	g.Expect(schema.Validate(y)).To(Succeed())

	t.Chdir("../..") // the example's paths are those of the project
	const file = "pairs.yaml"
	path := t.TempDir() + "/" + file
	g.Expect(os.WriteFile(path, []byte(example), 0o600)).To(Succeed())
	cat, err := requirements.Load()
	g.Expect(err).NotTo(HaveOccurred())
	pairs, err := ReadPairs(cat, path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pairs.Clients).To(HaveLen(1))
	g.Expect(pairs.Servers).To(HaveLen(2))
	g.Expect(pairs.Check()).To(Succeed())
	g.Expect(Pairs{Clients: append(pairs.Clients, pairs.Clients[0])}.Check()).To(MatchError(ContainSubstring("py")))
}

// Every conversation is on the page.
func TestPageNamesEveryConversation(t *testing.T) {
	page, err := os.ReadFile("../../docs/interop.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Conversations() {
		if !strings.Contains(string(page), "| "+name+" |") {
			t.Errorf("docs/interop.md says nothing of %q", name)
		}
	}
}
