package requirements

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
)

//go:embed catalogue/*.yaml
var embedded embed.FS

var loadOnce = sync.OnceValues(func() (*Catalogue, error) {
	sub, err := fs.Sub(embedded, "catalogue")
	if err != nil {
		return nil, fmt.Errorf("opening the embedded catalogue: %w", err)
	}
	return LoadFS(sub)
})

// Load returns the catalogue that is embedded in the program. It is read once; later calls return the same one.
// An error means that the program was built with a broken catalogue, which a test rules out.
func Load() (*Catalogue, error) { return loadOnce() }

// LoadFS reads a catalogue from the folder that fsys stands for. Every slip is an error with file, line and
// column: unknown keys, ids that are malformed, doubled or out of order, unknown levels, profiles, sources,
// capabilities and revisions, empty texts, a file that the index does not name.
func LoadFS(fsys fs.FS) (*Catalogue, error) {
	l := loader{fs: fsys, c: &Catalogue{index: map[string]int{}}}
	for _, step := range []func() error{l.sources, l.capabilities, l.revisions, l.families} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("loading the catalogue: %w", err)
		}
	}
	return l.c, nil
}

type loader struct {
	fs fs.FS
	c  *Catalogue
}

func (l *loader) decode(name string, v any) (*strictyaml.Document, error) {
	data, err := fs.ReadFile(l.fs, name)
	if err != nil {
		return nil, err
	}
	return strictyaml.Decode(name, data, v)
}

type yamlSource struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
	From  string `yaml:"from"`
	Text  string `yaml:"text"`
}

func (l *loader) sources() error {
	var file struct {
		Sources []yamlSource `yaml:"sources"`
	}
	doc, err := l.decode("sources.yaml", &file)
	if err != nil {
		return err
	}
	for i, s := range file.Sources {
		at := fmt.Sprintf("$.sources[%d]", i)
		if s.ID == "" || s.Title == "" || s.From == "" || s.Text == "" {
			return doc.Errorf(at, "a source has id, title, from and text")
		}
		if _, ok := l.c.Source(s.ID); ok {
			return doc.Errorf(at+".id", "source %s stands here twice", s.ID)
		}
		l.c.sources = append(l.c.sources, Source(s))
	}
	return nil
}

type yamlCapability struct {
	Name     string   `yaml:"name"`
	Role     Role     `yaml:"role"`
	Sentence string   `yaml:"sentence"`
	Lacking  string   `yaml:"lacking"`
	Implies  []string `yaml:"implies"`
	Declared bool     `yaml:"declared"`
}

func (l *loader) capabilities() error {
	var file struct {
		Capabilities []yamlCapability `yaml:"capabilities"`
	}
	doc, err := l.decode("capabilities.yaml", &file)
	if err != nil {
		return err
	}
	for i, k := range file.Capabilities {
		at := fmt.Sprintf("$.capabilities[%d]", i)
		if !kebab.MatchString(k.Name) {
			return doc.Errorf(at+".name", "the name %q is not kebab-case", k.Name)
		}
		if _, ok := l.c.Capability(k.Name); ok {
			return doc.Errorf(at+".name", "capability %s stands here twice", k.Name)
		}
		if !slices.Contains([]Role{Server, Client, Both}, k.Role) {
			return doc.Errorf(at+".role", "role %q is none of server, client, both", k.Role)
		}
		if k.Sentence == "" || k.Lacking == "" {
			return doc.Errorf(at, "a capability has a sentence and says how its lack is called")
		}
		// Only what stands above may be implied, so there are no cycles.
		for _, im := range k.Implies {
			if _, ok := l.c.Capability(im); !ok {
				return doc.Errorf(at+".implies", "capability %q is not defined above", im)
			}
		}
		l.c.capabilities = append(l.c.capabilities, Capability(k))
	}
	return nil
}

func (l *loader) revisions() error {
	var file struct {
		Revisions []struct {
			Name  string `yaml:"name"`
			About string `yaml:"about"`
		} `yaml:"revisions"`
	}
	doc, err := l.decode("revisions.yaml", &file)
	if err != nil {
		return err
	}
	if len(file.Revisions) == 0 {
		return doc.Errorf("$.revisions", "there is no revision")
	}
	for i, r := range file.Revisions {
		at := fmt.Sprintf("$.revisions[%d]", i)
		if !revisionName.MatchString(r.Name) || r.About == "" {
			return doc.Errorf(at, "a revision has a name such as 2026.12 and says what it is about")
		}
		if l.c.revisionIndex(r.Name) >= 0 {
			return doc.Errorf(at+".name", "revision %s stands here twice", r.Name)
		}
		l.c.revisions = append(l.c.revisions, Revision{Name: r.Name, About: r.About})
	}
	return nil
}

func (l *loader) families() error {
	var index struct {
		Families []string `yaml:"families"`
	}
	doc, err := l.decode("index.yaml", &index)
	if err != nil {
		return err
	}
	known := []string{"index.yaml", "sources.yaml", "capabilities.yaml", "revisions.yaml"}
	for i, name := range index.Families {
		file := name + ".yaml"
		if slices.Contains(known, file) {
			return doc.Errorf(fmt.Sprintf("$.families[%d]", i), "%s stands here twice or is no family", name)
		}
		known = append(known, file)
		if err := l.family(file); err != nil {
			return err
		}
	}
	present, err := fs.Glob(l.fs, "*.yaml")
	if err != nil {
		return err
	}
	for _, f := range present {
		if !slices.Contains(known, path.Base(f)) {
			return doc.Errorf("$.families", "the file %s is not in the index", f)
		}
	}
	return nil
}
