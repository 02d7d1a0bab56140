package target

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
)

// DefaultFile is the name of the target file that is taken by itself from the working directory.
const DefaultFile = "dshconform.yaml"

// Load reads a target file. What the file leaves out has the values of [Default]. Errors about its contents are
// *strictyaml.Error and give line and column.
func Load(cat *requirements.Catalogue, path string) (Target, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return Target{}, fmt.Errorf("target file %s: %w", path, err)
	}
	return Parse(cat, path, data)
}

// Parse reads a target out of bytes; the name stands in errors and in [Target].Path.
func Parse(cat *requirements.Catalogue, name string, data []byte) (Target, error) {
	var content any
	doc, err := strictyaml.Decode(name, data, &content)
	if err != nil {
		return Target{}, err
	}
	if err := checkShape(name, data, content); err != nil {
		return Target{}, err
	}
	t := fromContent(object(content.(map[string]any)))
	t.Path = name
	if t.Name == "" && filepath.Base(name) != DefaultFile {
		t.Name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	for i, l := range t.Lacks {
		if slices.ContainsFunc(t.Lacks[:i], func(o Lack) bool { return o.Capability == l.Capability }) {
			return Target{}, doc.Errorf(fmt.Sprintf("$.lacks[%d].capability", i), "%s stands here twice", l.Capability)
		}
		if err := cat.CheckCapability(requirements.Server, l.Capability); err != nil {
			return Target{}, doc.Errorf(fmt.Sprintf("$.lacks[%d].capability", i), "%w", err)
		}
	}
	for i, p := range t.Profiles {
		if slices.ContainsFunc(t.Profiles[:i], func(o Profile) bool { return o.Name == p.Name }) {
			return Target{}, doc.Errorf(fmt.Sprintf("$.profiles[%d]", i), "the profile %s stands here twice", p.Name)
		}
	}
	if t.Catalogue != "" {
		if err := cat.CheckRevision(t.Catalogue); err != nil {
			return Target{}, doc.Errorf("$.catalogue", "%w", err)
		}
	}
	return t, nil
}

// object is a mapping whose shape was checked, so that what is there has the type that it should have.
type object map[string]any

func fromContent(o object) Target {
	t := Default()
	set := func(to *string, key string) {
		if s, ok := o[key].(string); ok {
			*to = s
		}
	}
	set(&t.Name, "name")
	set(&t.ProcessCwd, "process-cwd")
	set(&t.Cwd, "cwd")
	set(&t.Provider, "provider")
	set(&t.Model, "model")
	set((*string)(&t.ModelEndpoint), "model-endpoint")
	set((*string)(&t.Launch), "launch")
	set(&t.Catalogue, "catalogue")
	t.Command = o.strings("command")
	t.Inherit = o.strings("inherit-env")
	t.Env = o.variables("env")
	t.MaxTokensAsSuccess, _ = o["maxTokensAsSuccess"].(bool)
	if flood, ok := o["stderr-flood"].(map[string]any); ok {
		t.StderrFlood = &StderrFlood{Args: object(flood).strings("args"), Env: object(flood).variables("env")}
	}
	if list, ok := o["profiles"].([]any); ok {
		t.Profiles = nil
		for _, item := range list {
			t.Profiles = append(t.Profiles, profileFrom(item))
		}
	}
	for _, item := range o.list("lacks") {
		l := object(item.(map[string]any))
		t.Lacks = append(t.Lacks, Lack{Capability: l["capability"].(string), Reason: strings.TrimSpace(l["reason"].(string))})
	}
	return t
}

func profileFrom(item any) Profile {
	if name, ok := item.(string); ok {
		return Profile{Name: protocol.Profile(name)}
	}
	o := object(item.(map[string]any))
	return Profile{Name: protocol.Profile(o["name"].(string)), Args: o.strings("args"), Env: o.variables("env")}
}

func (o object) list(key string) []any {
	list, _ := o[key].([]any)
	return list
}

func (o object) strings(key string) []string {
	var out []string
	for _, v := range o.list(key) {
		out = append(out, v.(string))
	}
	return out
}

// variables are sorted by name: a mapping has no order.
func (o object) variables(key string) []Variable {
	m, _ := o[key].(map[string]any)
	var out []Variable
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Variable{Name: name, Value: m[name].(string)})
	}
	return out
}
