package interop

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/shlex"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
	"github.com/dshconform/dshconform/suites/target"
)

// PairsSchema names the format of files with clients and servers.
const PairsSchema = "dshconform.interop/v1"

// Pairs are the clients and servers that are brought together, each with each.
type Pairs struct {
	Clients []PairedClient
	Servers []Server
}

// PairedClient is a client with its driver as a command line.
type PairedClient struct {
	Name, Driver string
	Baseline     *reports.Baseline
}

type yamlPairs struct {
	Schema  string `yaml:"schema"`
	Clients []struct {
		Name     string `yaml:"name"`
		Driver   string `yaml:"driver"`
		Baseline string `yaml:"baseline"`
	} `yaml:"clients"`
	Servers []struct {
		Name     string `yaml:"name"`
		Command  string `yaml:"command"`
		Target   string `yaml:"target"`
		Baseline string `yaml:"baseline"`
	} `yaml:"servers"`
}

// ReadPairs reads a file with clients and servers, and the target files and baselines
// that it names, relative to the working directory. Errors name file, line and column.
func ReadPairs(cat *requirements.Catalogue, file string) (Pairs, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Pairs{}, fmt.Errorf("reading the file of pairs: %w", err)
	}
	var y yamlPairs
	doc, err := strictyaml.Decode(file, data, &y)
	if err != nil {
		return Pairs{}, err
	}
	if y.Schema != PairsSchema {
		return Pairs{}, doc.Errorf("$.schema", "the schema is %q, not %s", y.Schema, PairsSchema)
	}
	var p Pairs
	for i, c := range y.Clients {
		at := fmt.Sprintf("$.clients[%d]", i)
		client := PairedClient{Name: c.Name, Driver: c.Driver}
		if c.Name == "" || strings.TrimSpace(c.Driver) == "" {
			return p, doc.Errorf(at, "a client has a name and a driver")
		}
		if client.Baseline, err = baseline(cat, c.Baseline); err != nil {
			return p, doc.Errorf(at+".baseline", "%w", err)
		}
		p.Clients = append(p.Clients, client)
	}
	for i, s := range y.Servers {
		at := fmt.Sprintf("$.servers[%d]", i)
		server := Server{Name: s.Name, Target: target.Default()}
		if s.Name == "" || (s.Command == "") == (s.Target == "") {
			return p, doc.Errorf(at, "a server has a name, and a command or a target")
		}
		if s.Target != "" {
			if server.Target, err = target.Load(cat, s.Target); err != nil {
				return p, doc.Errorf(at+".target", "%w", err)
			}
			if len(server.Target.Command) == 0 {
				return p, doc.Errorf(at+".target", "%s names no command", s.Target)
			}
		} else if server.Target.Command, err = shlex.Split(s.Command); err != nil || len(server.Target.Command) == 0 {
			return p, doc.Errorf(at+".command", "%q is no command line", s.Command)
		}
		if server.Baseline, err = baseline(cat, s.Baseline); err != nil {
			return p, doc.Errorf(at+".baseline", "%w", err)
		}
		p.Servers = append(p.Servers, server)
	}
	return p, nil
}

func baseline(cat *requirements.Catalogue, file string) (*reports.Baseline, error) {
	if file == "" {
		return nil, nil
	}
	return reports.ReadBaseline(cat, file)
}

// Check finds names that stand twice: results go by them.
func (p Pairs) Check() error {
	var names []string
	for _, c := range p.Clients {
		names = append(names, c.Name)
	}
	if twice := twice(names); twice != "" {
		return fmt.Errorf("two clients are named %q", twice)
	}
	names = nil
	for _, s := range p.Servers {
		names = append(names, s.Name)
	}
	if twice := twice(names); twice != "" {
		return fmt.Errorf("two servers are named %q", twice)
	}
	return nil
}

func twice(names []string) string {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return n
		}
	}
	return ""
}
