package reports

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/suites/requirements"
)

func catalogue(t testing.TB) *requirements.Catalogue {
	t.Helper()
	c, err := requirements.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// collect makes a collector for ids in a profile.
func collect(t testing.TB, profile string, ids ...string) *Collector {
	t.Helper()
	c, err := NewCollector(catalogue(t), profile, "", ids)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// finish makes a complete, judged run out of a collector.
func finish(c *Collector) *Run {
	r := sampleRun()
	r.Profile = c.profile
	r.Requirements = c.Requirements(true, "the run ended before it")
	r.Besides = c.Besides()
	Judge(r)
	return r
}

// sampleRun is a run without requirements, always the same.
func sampleRun() *Run {
	return &Run{
		Schema: Schema, Kind: KindServer, Version: "1.2.3", Catalogue: "2026.12", Platform: "linux/amd64",
		Started: time.Date(2026, 12, 1, 10, 20, 30, 0, time.UTC), Seconds: 2.25, Profile: requirements.Directional, Seed: 42,
		Subject:  Subject{Name: "subject", Argv: []string{"node", "lib/bin.js", "a file.yml"}, Dir: "/project", Env: []string{"HOME", "PATH"}},
		Complete: true, Requirements: []Requirement{}, Besides: []Requirement{},
	}
}

var (
	passed = Outcome{Verdict: Pass, Seconds: 0.01}
	failed = Outcome{
		Verdict: Fail, Expected: "an error response", Actual: "no response within 2s",
		Frames: []Frame{
			NewFrame(0.1, "c2s", []byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n")),
			NewFrame(0.2, "s2c", []byte("\x1b[31mhello\xff\n")),
		},
		Repeat: "dshconform server --id S-DIR-01 -- node lib/bin.js", Seconds: 2,
	}
)

// golden compares with a file in testdata, and writes it where UPDATE_GOLDEN is set.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Expect(string(got)).To(Equal(string(want)), "UPDATE_GOLDEN=1 go test ./reports writes %s anew", path)
}

// yamlToAny decodes YAML into the shapes that a JSON Schema validator takes.
func yamlToAny(text string, v any) error { return yaml.Unmarshal([]byte(text), v) }
