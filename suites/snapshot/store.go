package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
)

// extension is that of the files.
const extension = ".snapshot"

// Save writes a file for each scenario, and removes those of scenarios that are not
// among them. Other files in the directory stay.
func Save(dir string, scenarios []Scenario) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of snapshots: %w", err)
	}
	for _, s := range Scenarios() {
		if err := os.Remove(filepath.Join(dir, s.Name+extension)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace a snapshot: %w", err)
		}
	}
	for _, s := range scenarios {
		if err := os.WriteFile(filepath.Join(dir, s.Name+extension), []byte(s.Text), 0o644); err != nil {
			return fmt.Errorf("write a snapshot: %w", err)
		}
	}
	return nil
}

// Load reads the scenarios of a directory, in their order. One without any is an error.
func Load(dir string) ([]Scenario, error) {
	var out []Scenario
	for _, named := range Scenarios() {
		path := filepath.Join(dir, named.Name+extension)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read a snapshot: %w", err)
		}
		s := Scenario{Name: named.Name, Title: named.Title, Text: strings.ReplaceAll(string(data), "\r\n", "\n")}
		if s.Profile, err = header(s.Text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no snapshots: `dshconform snapshot record` makes them", dir)
	}
	return out, nil
}

// header reads the first lines of a file.
func header(text string) (protocol.Profile, error) {
	first, rest, _ := strings.Cut(text, "\n")
	if first != "# "+Schema {
		return "", fmt.Errorf("no snapshot: the first line is not %q", "# "+Schema)
	}
	second, _, _ := strings.Cut(rest, "\n")
	name, ok := strings.CutPrefix(second, "# profile: ")
	if !ok {
		return "", errors.New("no snapshot: the second line names no profile")
	}
	return protocol.ParseProfile(name)
}

// Difference is one scenario that is not what it was.
type Difference struct {
	Name string
	Text string // a unified diff
}

// Compare gives the scenarios that differ, in their order, those that only one side
// has included.
func Compare(want, got []Scenario) []Difference {
	var out []Difference
	for _, named := range Scenarios() {
		before, wanted := find(want, named.Name)
		after, there := find(got, named.Name)
		if !wanted && !there {
			continue
		}
		file := named.Name + extension
		if d := unified("recorded/"+file, "now/"+file, before.Text, after.Text); d != "" {
			out = append(out, Difference{named.Name, d})
		}
	}
	return out
}

func find(list []Scenario, name string) (Scenario, bool) {
	for _, s := range list {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}
