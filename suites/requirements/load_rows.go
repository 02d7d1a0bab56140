package requirements

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
)

var (
	kebab        = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	revisionName = regexp.MustCompile(`^\d{4}\.\d{2}(\.\d+)?$`)
	rowID        = regexp.MustCompile(`^[SCP]-[A-Z]{2,3}-\d{2}$`)
)

// rolePrefix is the first letter of the ids of a role.
var rolePrefix = map[Role]string{Server: "S", Client: "C", Parity: "P"}

type yamlFamily struct {
	Family string    `yaml:"family"`
	Role   Role      `yaml:"role"`
	Title  string    `yaml:"title"`
	About  string    `yaml:"about"`
	Rows   []yamlRow `yaml:"rows"`
}

type yamlRow struct {
	ID       string        `yaml:"id"`
	Level    Level         `yaml:"level"`
	Profiles []string      `yaml:"profiles"`
	Source   []string      `yaml:"source"`
	Since    string        `yaml:"since"`
	Revised  []yamlRevised `yaml:"revised"`
	Monitor  bool          `yaml:"monitor"`
	Property bool          `yaml:"property"`
	Needs    []string      `yaml:"needs"`
	Sentence string        `yaml:"sentence"`
	Variants []yamlVariant `yaml:"variants"`
	Tested   string        `yaml:"tested"`
	Breaks   string        `yaml:"breaks"`
	Departs  string        `yaml:"departs"`
	Why      string        `yaml:"why"`
}

type yamlVariant struct {
	Name     string   `yaml:"name"`
	Sentence string   `yaml:"sentence"`
	Needs    []string `yaml:"needs"`
	Since    string   `yaml:"since"`
}

type yamlRevised struct {
	In   string `yaml:"in"`
	What string `yaml:"what"`
}

func (l *loader) family(name string) error {
	var file yamlFamily
	doc, err := l.decode(name, &file)
	if err != nil {
		return err
	}
	if rolePrefix[file.Role] == "" {
		return doc.Errorf("$.role", "role %q is none of server, client, parity", file.Role)
	}
	if file.Family == "" || file.Title == "" || file.About == "" {
		return doc.Errorf("$", "a family has a name, a title and says what it is about")
	}
	l.c.families = append(l.c.families, Family{Role: file.Role, Name: file.Family, Title: file.Title, About: text(file.About)})
	for i, y := range file.Rows {
		row, err := l.row(doc, fmt.Sprintf("$.rows[%d]", i), file, y)
		if err != nil {
			return err
		}
		if at, ok := l.c.index[row.ID]; ok {
			return doc.Errorf(fmt.Sprintf("$.rows[%d].id", i), "%s stands here twice (row %d of the catalogue)", row.ID, at+1)
		}
		if i > 0 && row.ID < file.Rows[i-1].ID {
			return doc.Errorf(fmt.Sprintf("$.rows[%d].id", i), "%s comes after %s: ids are in order, and a new one goes to the end", row.ID, file.Rows[i-1].ID)
		}
		l.c.index[row.ID] = len(l.c.rows)
		l.c.rows = append(l.c.rows, row)
	}
	return nil
}

// row checks one row and brings it to the form that the program uses.
func (l *loader) row(doc *strictyaml.Document, at string, f yamlFamily, y yamlRow) (Row, error) {
	prefix := rolePrefix[f.Role] + "-" + f.Family + "-"
	switch {
	case !rowID.MatchString(y.ID):
		return Row{}, doc.Errorf(at+".id", "the id %q has not the form S-ABC-01", y.ID)
	case !strings.HasPrefix(y.ID, prefix):
		return Row{}, doc.Errorf(at+".id", "the id %s does not start with %s", y.ID, prefix)
	case !slices.Contains([]Level{Must, Should, Observe}, y.Level):
		return Row{}, doc.Errorf(at+".level", "%s: level %q is none of MUST, SHOULD, OBSERVE", y.ID, y.Level)
	case len(y.Source) == 0:
		return Row{}, doc.Errorf(at+".id", "%s has no source", y.ID)
	case y.Sentence == "" || y.Tested == "" || y.Breaks == "":
		return Row{}, doc.Errorf(at+".id", "%s needs a sentence, and says how it is tested and what breaks it", y.ID)
	case slices.Contains(y.Source, "S") && y.Why == "":
		return Row{}, doc.Errorf(at+".id", "%s is the suite's own requirement and does not say why", y.ID)
	}
	profiles, err := profilesOf(y.Profiles)
	if err != nil {
		return Row{}, doc.Errorf(at+".profiles", "%s: %w", y.ID, err)
	}
	for i, s := range y.Source {
		if _, ok := l.c.Source(s); !ok {
			return Row{}, doc.Errorf(fmt.Sprintf("%s.source[%d]", at, i), "%s: there is no source %q", y.ID, s)
		}
	}
	if err := l.c.CheckRevision(y.Since); err != nil {
		return Row{}, doc.Errorf(at+".since", "%s: %w", y.ID, err)
	}
	if err := l.needs(f.Role, y.Needs); err != nil {
		return Row{}, doc.Errorf(at+".needs", "%s: %w", y.ID, err)
	}
	row := Row{
		ID: y.ID, Role: f.Role, Family: f.Family, FamilyTitle: f.Title, Level: y.Level, Profiles: profiles,
		Sentence: text(y.Sentence), Source: y.Source, Since: y.Since, Monitor: y.Monitor, Property: y.Property,
		Needs: y.Needs, Tested: text(y.Tested), Breaks: text(y.Breaks), Departs: text(y.Departs), Why: text(y.Why),
	}
	for i, re := range y.Revised {
		if err := l.c.CheckRevision(re.In); err != nil || re.What == "" {
			return Row{}, doc.Errorf(fmt.Sprintf("%s.revised[%d]", at, i), "%s: an entry of revised names a revision and says what changed", y.ID)
		}
		row.Revised = append(row.Revised, Revised{In: re.In, What: text(re.What)})
	}
	for i, v := range y.Variants {
		vat := fmt.Sprintf("%s.variants[%d]", at, i)
		if !kebab.MatchString(v.Name) {
			return Row{}, doc.Errorf(vat+".name", "%s: the variant %q is not kebab-case ASCII", y.ID, v.Name)
		}
		if _, ok := row.Variant(v.Name); ok {
			return Row{}, doc.Errorf(vat+".name", "%s: the variant %s stands here twice", y.ID, v.Name)
		}
		if err := l.needs(f.Role, v.Needs); err != nil {
			return Row{}, doc.Errorf(vat+".needs", "%s: %w", JoinID(y.ID, v.Name), err)
		}
		if v.Since != "" {
			if err := l.c.CheckRevision(v.Since); err != nil {
				return Row{}, doc.Errorf(vat+".since", "%s: %w", JoinID(y.ID, v.Name), err)
			}
		}
		row.Variants = append(row.Variants, Variant{Name: v.Name, Sentence: text(v.Sentence), Needs: v.Needs, Since: v.Since})
	}
	return row, nil
}

func (l *loader) needs(role Role, names []string) error {
	if role == Parity {
		role = Client
	}
	for _, n := range names {
		if err := l.c.CheckCapability(role, n); err != nil {
			return err
		}
	}
	return nil
}

// profilesOf expands "all" and puts the names into their usual order.
func profilesOf(names []string) ([]string, error) {
	if slices.Equal(names, []string{"all"}) {
		return Profiles(), nil
	}
	var out []string
	for _, p := range Profiles() {
		if slices.Contains(names, p) {
			out = append(out, p)
		}
	}
	if len(out) != len(names) || len(out) == 0 {
		return nil, fmt.Errorf("profiles are [all], or some of %s, each once", strings.Join(Profiles(), ", "))
	}
	return out, nil
}

// text brings a text of the YAML to one line: how it is wrapped is up to who prints it.
func text(s string) string { return strings.Join(strings.Fields(s), " ") }
