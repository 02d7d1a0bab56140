package client

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/suites/requirements"
)

// The schema that the program checks by is the one that is published.
func TestPublishedSchemaIsTheEmbeddedOne(t *testing.T) {
	for name, want := range Schemas() {
		got, err := os.ReadFile("../../docs/schemas/" + name)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(string(got)).To(Equal(string(want)), name)
	}
}

// The example on the page of drivers is a conversation that holds to the schema, once what is cut is put back.
func TestExampleOfThePageIsValid(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/driver.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, example, ok := strings.Cut(string(page), "## An example")
	g.Expect(ok).To(BeTrue())
	example = strings.NewReplacer(`,…}`, `}`, `[…]`, `[]`).Replace(example)

	whole := wholeSchema(t)
	calls := map[string]string{}
	n := 0
	for l := range strings.Lines(example) {
		direction, line := l[0], strings.TrimSpace(l[1:])
		if direction != '>' && direction != '<' {
			continue
		}
		n++
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		g.Expect(err).NotTo(HaveOccurred(), line)
		g.Expect(whole.Validate(doc)).To(Succeed(), line)
		o, _ := wire.AsObject(jsontext.Value(line))
		switch {
		case direction == '>':
			calls[string(o["id"])] = wire.Unquote(o["call"])
		case o["result"] != nil:
			g.Expect(misfit("result."+calls[string(o["id"])], o["result"])).To(BeEmpty(), line)
		}
	}
	g.Expect(n).To(Equal(13))
}

func wholeSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	g := NewWithT(t)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(driverSchema)))
	g.Expect(err).NotTo(HaveOccurred())
	c := jsonschema.NewCompiler()
	g.Expect(c.AddResource(schemaURL, doc)).To(Succeed())
	s, err := c.Compile(schemaURL)
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// The page and the schema name the same members, calls, classes and offers.
func TestPageNamesWhatTheSchemaHas(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/driver.md")
	g.Expect(err).NotTo(HaveOccurred())
	var schema any
	g.Expect(json.Unmarshal(driverSchema, &schema)).To(Succeed())
	var walk func(v any)
	names := map[string]bool{}
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, key := range []string{"properties"} {
				if o, ok := v[key].(map[string]any); ok {
					for name := range o {
						names[name] = true
					}
				}
			}
			if list, ok := v["enum"].([]any); ok {
				for _, e := range list {
					names[e.(string)] = true
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(schema)
	g.Expect(len(names)).To(BeNumerically(">", 50))
	for name := range names {
		g.Expect(string(page)).To(MatchRegexp(`\b`+name+`\b`), "docs/driver.md says nothing of %s", name)
	}
}

// Every command that is written fits the schema.
func TestCommandsFitTheSchema(t *testing.T) {
	whole := wholeSchema(t)
	for _, m := range []command{
		{Call: CallHello, Protocol: DriverProtocol},
		{Call: CallCreate, Client: "c", Cwd: ptr(""), Provider: ptr("p"), Model: ptr("m"), Launch: &launch{Argv: []string{"a"}, Executable: "/e", Cwd: "/"}, Timeouts: &timeouts{Call: 1}},
		{Call: CallStart, Client: "c"},
		{Call: CallInitialize, Client: "c"},
		{Call: CallPrompt, Client: "c", SessionID: ptr(""), Blocks: Prompt{Text: "\u0000"}.blocks(), Callback: CallbackThrow},
		{Call: CallRequest, Client: "c", Method: ptr(""), Params: jsontext.Value(`{}`)},
		{Call: CallSubscribe, Client: "c", Filter: FilterAll, Callback: CallbackReport},
		{Call: CallUnsubscribe, Client: "c", Of: 3},
		{Call: CallSurface},
		{Call: CallClose, Client: "c"},
	} {
		t.Run(m.Call, func(t *testing.T) {
			g := NewWithT(t)
			m.ID = 7
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Encode(m))))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(whole.Validate(doc)).To(Succeed(), "%s", Encode(m))
		})
	}
}

// What a driver can offer is in the catalogue, and nothing else of it is about drivers.
func TestCapabilitiesAreThoseOfTheCatalogue(t *testing.T) {
	g := NewWithT(t)
	cat, err := requirements.Load()
	g.Expect(err).NotTo(HaveOccurred())
	have := Hello{}.Capabilities()
	known := map[string]bool{}
	for _, k := range cat.Capabilities("") {
		known[k.Name] = true
		if strings.HasPrefix(k.Name, "driver-") {
			g.Expect(have).To(HaveKey(k.Name))
		}
	}
	for name := range have {
		g.Expect(known).To(HaveKey(name))
	}
}
