package target_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
	"github.com/dshconform/dshconform/suites/target"
)

func catalogue(t *testing.T) *requirements.Catalogue {
	t.Helper()
	cat, err := requirements.Load()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

const head = "schema: dshconform.target/v1\n"

func TestWholeTarget(t *testing.T) {
	g := NewWithT(t)
	got, err := target.Parse(catalogue(t), "dir/node-server.yaml", []byte(head+`
command: [node, lib/bin.js, "${SCRATCH}/cordis.yml"]
env:
  ZED: last
  DEEPSEEK_BASE_URL: ${MODEL_URL}
  EMPTY: ""
inherit-env: [NODE_OPTIONS]
process-cwd: server
cwd: ${SCRATCH}/ws
provider: deepseek
model: m
model-endpoint: messages
profiles:
  - receipt
  - name: accepted
    args: [--old]
    env: {OLD: "1"}
lacks:
  - {capability: subagents, reason: " the tool is not offered\n"}
maxTokensAsSuccess: true
stderr-flood:
  args: [--noisy]
launch: wrapper
catalogue: "2026.12"
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(target.Target{
		Path:    "dir/node-server.yaml",
		Name:    "node-server",
		Command: []string{"node", "lib/bin.js", "${SCRATCH}/cordis.yml"},
		Env: []target.Variable{
			{"DEEPSEEK_BASE_URL", "${MODEL_URL}"}, {"EMPTY", ""}, {"ZED", "last"},
		},
		Inherit:       []string{"NODE_OPTIONS"},
		ProcessCwd:    "server",
		Cwd:           "${SCRATCH}/ws",
		Provider:      "deepseek",
		Model:         "m",
		ModelEndpoint: target.Messages,
		Profiles: []target.Profile{
			{Name: protocol.Receipt},
			{Name: protocol.Accepted, Args: []string{"--old"}, Env: []target.Variable{{"OLD", "1"}}},
		},
		Lacks:              []target.Lack{{"subagents", "the tool is not offered"}},
		MaxTokensAsSuccess: true,
		StderrFlood:        &target.StderrFlood{Args: []string{"--noisy"}},
		Launch:             target.Wrapper,
		Catalogue:          "2026.12",
	}))
}

func TestDefaultsStay(t *testing.T) {
	g := NewWithT(t)
	got, err := target.Parse(catalogue(t), target.DefaultFile, []byte(head))
	g.Expect(err).NotTo(HaveOccurred())
	want := target.Default()
	want.Path = target.DefaultFile
	g.Expect(got).To(Equal(want), "a target that says nothing is the default one, and the default file gives no name")
}

func TestErrorsGiveTheirPlace(t *testing.T) {
	for name, tc := range map[string]struct{ file, err string }{
		"no YAML":           {"profile: directional\n  label: [\n", "t.yaml:1:10: "},
		"unknown key":       {head + "command: [x]\nnonsense: 1\n", `t.yaml:3:1: unknown key "nonsense"`},
		"nested unknown":    {head + "profiles:\n  - name: receipt\n    arg:\n      - a\n", `t.yaml:4:5: unknown key "arg"`},
		"first unknown key": {head + "zebra: 1\nape: 2\n", `t.yaml:2:1: unknown key "zebra"`},
		"key twice":         {head + "model: a\nmodel: b\n", "t.yaml:3:1: "},
		"no schema":         {"command: [x]\n", `t.yaml:1:1: the file lacks the key "schema"`},
		"another schema":    {"schema: dshconform.target/v2\n", `t.yaml:1:9: schema is "dshconform.target/v2" and has to be dshconform.target/v1`},
		"no mapping":        {"- a\n", "t.yaml:1:1: the file is a list and has to be a mapping"},
		"a scalar":          {"hello\n", "t.yaml:1:1: the file is a string and has to be a mapping"},
		"empty":             {"", "t.yaml:1:1: the file is empty"},
		"comment alone":     {"# nothing\n", "t.yaml:1:1: the file is empty"},
		"command as text":   {head + "command: node x\n", "t.yaml:2:10: command is a string and has to be a list"},
		"empty command":     {head + "command: []\n", "t.yaml:2:10: command is empty"},
		"empty program":     {head + "command: ['']\n", "t.yaml:2:11: command[0] is empty"},
		"number":            {head + "command: [serve, 8080]\n", "t.yaml:2:18: command[1] is a number and has to be a string: put it in quotes"},
		"number in env":     {head + "env:\n  PORT: 8080\n", "t.yaml:3:9: env.PORT is a number and has to be a string: put it in quotes"},
		"yes in env":        {head + "env:\n  A: true\n", "t.yaml:3:6: env.A is a boolean and has to be a string: put it in quotes"},
		"name of variable":  {head + "env:\n  A=B: x\n", `t.yaml:3:3: "A=B" can't be the name of a variable`},
		"env as list":       {head + "env: [A=B]\n", "t.yaml:2:6: env is a list and has to be a mapping"},
		"nothing":           {head + "provider:\n", "t.yaml:2:11: provider is empty and has to be a string"},
		"unknown profile":   {head + "profiles: [recept]\n", `t.yaml:2:12: profiles[0] is "recept" and has to be one of directional, accepted, receipt`},
		"profile twice":     {head + "profiles: [receipt, {name: receipt}]\n", "t.yaml:2:"},
		"profile a number":  {head + "profiles: [1]\n", "t.yaml:2:12: profiles[0] is 1 and has to be one of directional"},
		"nameless profile":  {head + "profiles:\n  - args: [a]\n", `t.yaml:3:5: profiles[0] lacks the key "name"`},
		"no profiles":       {head + "profiles: []\n", "t.yaml:2:11: profiles is empty"},
		"capability":        {head + "lacks:\n  - capability: telepathy\n    reason: x\n", `t.yaml:3:17: lacks[0].capability is "telepathy" and has to be one of model, `},
		"capability twice":  {head + "lacks:\n  - {capability: model, reason: x}\n  - {capability: model, reason: y}\n", "t.yaml:4:18: model stands here twice"},
		"no reason":         {head + "lacks:\n  - capability: model\n", `t.yaml:3:5: lacks[0] lacks the key "reason"`},
		"blank reason":      {head + "lacks:\n  - capability: model\n    reason: ' '\n", "t.yaml:4:13: lacks[0].reason"},
		"endpoint":          {head + "model-endpoint: http\n", `t.yaml:2:17: model-endpoint is "http" and has to be one of auto, `},
		"launch":            {head + "launch: docker\n", `t.yaml:2:9: launch is "docker" and has to be one of direct, wrapper, container`},
		"flag":              {head + "maxTokensAsSuccess: 1\n", "t.yaml:2:21: maxTokensAsSuccess is a number and has to be a boolean"},
		"flood":             {head + "stderr-flood: {}\n", "t.yaml:2:"},
		"revision":          {head + "catalogue: '1999.01'\n", `t.yaml:2:12: revision "1999.01"`},
		"revision a number": {head + "catalogue: 2026.12\n", "t.yaml:2:12: catalogue is a number"},
		"number as key":     {head + "1: x\n", `t.yaml:2:1: unknown key "1"`},
		"the first of two":  {head + "launch: docker\nmodel: 1\n", "t.yaml:2:9"},
		"two documents":     {head + "---\n" + head, "t.yaml:3:7: a second document"},
		"alias":             {head + "command: &a [x]\nenv: *a\n", "t.yaml:3:"},
		"BOM":               {"\ufeff" + head + "nonsense: 1\n", `t.yaml:2:1: unknown key "nonsense"`},
		"no text":           {head + "model: \xff\n", "t.yaml:2:8: byte 0xff is not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := target.Parse(catalogue(t), "t.yaml", []byte(tc.file))
			g.Expect(err).To(HaveOccurred())
			g.Expect(err.Error()).To(HavePrefix(tc.err))
			g.Expect(err.Error()).NotTo(ContainSubstring("\n"), "one line")
			g.Expect(err.Error()).NotTo(ContainSubstring("empty and has to be a string: put it in quotes"))
			var placed *strictyaml.Error
			g.Expect(errors.As(err, &placed)).To(BeTrue())
		})
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	_, err := target.Load(catalogue(t), filepath.Join(t.TempDir(), "no.yaml"))
	g.Expect(err).To(MatchError(ContainSubstring("no.yaml: no such file")))
	g.Expect(errors.Is(err, os.ErrNotExist)).To(BeTrue())
}

func TestSchemaIsPublished(t *testing.T) {
	g := NewWithT(t)
	published, err := os.ReadFile(filepath.Join("..", "..", "docs", "schemas", target.SchemaName))
	g.Expect(err).NotTo(HaveOccurred())
	published = bytes.ReplaceAll(published, []byte("\r\n"), []byte("\n"))
	g.Expect(string(published) == string(target.JSONSchema())).To(BeTrue(), "docs/schemas is stale: run `go generate ./suites/target`")
}

// The set of capabilities is the catalogue's; the schema repeats it for editors.
func TestSchemaKnowsTheCapabilities(t *testing.T) {
	g := NewWithT(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(target.JSONSchema()))
	g.Expect(err).NotTo(HaveOccurred())
	at := func(v any, steps ...string) any {
		for _, s := range steps {
			v = v.(map[string]any)[s]
		}
		return v
	}
	var want []any
	for _, c := range catalogue(t).Capabilities(requirements.Server) {
		want = append(want, c.Name)
	}
	g.Expect(at(doc, "properties", "lacks", "items", "properties", "capability", "enum")).To(Equal(want))
}

// What an editor with the published schema accepts is what the program accepts.
func TestLoaderAndSchemaAgree(t *testing.T) {
	g := NewWithT(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(target.JSONSchema()))
	g.Expect(err).NotTo(HaveOccurred())
	c := jsonschema.NewCompiler()
	g.Expect(c.AddResource("target.json", doc)).To(Succeed())
	schema, err := c.Compile("target.json")
	g.Expect(err).NotTo(HaveOccurred())

	samples, err := filepath.Glob("testdata/*/*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(samples)).To(BeNumerically(">=", 20))
	for _, file := range samples {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			data, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			var content any
			g.Expect(yaml.Unmarshal(data, &content)).To(Succeed())
			bySchema := schema.Validate(content)
			_, byLoader := target.Load(catalogue(t), file)
			if filepath.Base(filepath.Dir(file)) == "good" {
				g.Expect(bySchema).NotTo(HaveOccurred())
				g.Expect(byLoader).NotTo(HaveOccurred())
			} else {
				g.Expect(bySchema).To(HaveOccurred())
				g.Expect(byLoader).To(HaveOccurred())
			}
		})
	}
}

// The targets of the project are examples for users, so they have to be right.
func TestOwnTargets(t *testing.T) {
	g := NewWithT(t)
	files, err := filepath.Glob("../../fixtures/targets/*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty())
	for _, file := range files {
		got, err := target.Load(catalogue(t), file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got.Command).NotTo(BeEmpty(), file)
	}
}

func TestExpand(t *testing.T) {
	g := NewWithT(t)
	values := map[string]string{"HOME": "/h", "MODEL_URL": "http://x/${HOME}"}
	g.Expect(target.Expand("a ${HOME} b", values)).To(Equal("a /h b"))
	g.Expect(target.Expand("${OTHER} $HOME ${HOME", values)).To(Equal("${OTHER} $HOME ${HOME"), "what is not ours stays")
	g.Expect(target.Expand("${MODEL_URL}", values)).To(Equal("http://x/${HOME}"), "values are not expanded again")
}
