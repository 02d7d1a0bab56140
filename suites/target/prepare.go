package target

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
)

// ModelAccess is how a subject finds the stub of the model.
type ModelAccess struct{ URL, Key, Control string }

// Prepared is a target made ready to be started in one profile.
type Prepared struct {
	Argv []string
	Env  []string // the whole environment of the process
	Set  []string // what of it the run made up
	Dir  string   // working directory of the process
	Cwd  string   // sent in initialize
	// Home, Work and Temp are directories in the scratch tree.
	Home, Work, Temp string
	// Expand replaces the ${…} of a target's strings.
	Expand func(string) string
}

// Prepare lays out the scratch tree, which exists, and builds the command and its
// environment up.
func (t Target) Prepare(p protocol.Profile, scratch string, m ModelAccess) (Prepared, error) {
	out := Prepared{Home: filepath.Join(scratch, "home"), Work: filepath.Join(scratch, "work"), Temp: filepath.Join(scratch, "tmp")}
	for _, dir := range []string{out.Home, out.Work, out.Temp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return out, fmt.Errorf("lay out the scratch tree: %w", err)
		}
	}
	values := map[string]string{"MODEL_URL": m.URL, "MODEL_KEY": m.Key, "SCRATCH": scratch, "HOME": out.Home}
	out.Expand = func(s string) string { return Expand(s, values) }
	own := t.For(p)
	for _, a := range append(append([]string{}, t.Command...), own.Args...) {
		out.Argv = append(out.Argv, out.Expand(a))
	}
	out.Set = []string{"DEEPSEEK_BASE_URL=" + m.URL, "DEEPSEEK_API_KEY=" + m.Key, "DSHCONFORM_CONTROL=" + m.Control}
	for _, v := range append(append([]Variable{}, t.Env...), own.Env...) {
		out.Set = append(out.Set, v.Name+"="+out.Expand(v.Value))
	}
	out.Env = process.Environment(process.EnvOptions{Home: out.Home, TempDir: out.Temp, Inherit: t.Inherit, Set: out.Set})
	out.Dir, out.Cwd = out.Expand(t.ProcessCwd), out.Expand(t.Cwd)
	if out.Cwd == "" {
		out.Cwd = out.Work
	}
	return out, nil
}
