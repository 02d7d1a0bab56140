package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/fixtures/refserver"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/target"
)

// subject is what a command line asks to be judged.
type subject struct {
	target   target.Target
	profiles []protocol.Profile // to judge; none where the profile is to be found
	embedded bool               // the reference server of this program
}

// subjectOf merges the target file and the flags into a subject. The flags win over the file, and a command behind --
// over the file's command.
func subjectOf(cat *requirements.Catalogue, f *serverFlags, command []string, program string) (subject, error) {
	t, err := targetFile(cat, f)
	if err != nil {
		return subject{}, err
	}
	s := subject{target: t}
	if err := s.choose(f); err != nil {
		return s, err
	}
	t = s.target
	switch {
	case len(command) > 0:
		t.Command = command
		// What a profile and the flood add are arguments of the file's command, and no other's. A command that is to be told
		// its profile by them speaks one.
		for i := range t.Profiles {
			if len(t.Profiles[i].Args) > 0 && len(s.profiles) > 1 {
				s.profiles = s.profiles[:1]
			}
			t.Profiles[i].Args = nil
		}
		if t.StderrFlood != nil && len(t.StderrFlood.Env) == 0 {
			t.StderrFlood = nil
		} else if t.StderrFlood != nil {
			t.StderrFlood.Args = nil
		}
	case len(t.Command) > 0:
	case t.Path != "":
		return s, misuse("%s names no command: give it one, or put one behind --", t.Path)
	default:
		s.embedded = true
		t.Command = []string{program, "refserver", "--profile", string(s.first())}
		t.Name = "reference server"
	}
	if t.StderrFlood == nil && isReference(t.Command, program) {
		t.StderrFlood = &target.StderrFlood{Env: []target.Variable{{Name: refserver.FloodVariable, Value: "1048576"}}}
	}
	if t.Name == "" {
		t.Name = filepath.Base(t.Command[0])
	}
	if err := merge(&t, f); err != nil {
		return s, err
	}
	s.target = t
	return s, nil
}

// isReference says whether a command starts the reference server of this program. What a target file would say of it
// is known.
func isReference(command []string, program string) bool {
	if len(command) < 2 || command[1] != "refserver" {
		return false
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := os.Stat(program)
	return err == nil && os.SameFile(named, own)
}

// targetFile reads the file that --target names, or dshconform.yaml where there is one.
func targetFile(cat *requirements.Catalogue, f *serverFlags) (target.Target, error) {
	path := f.target
	if !f.changed("target") {
		info, err := os.Stat(target.DefaultFile)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			return target.Default(), nil
		}
		path = target.DefaultFile
	}
	t, err := target.Load(cat, path)
	if err != nil {
		return t, misuse("%w", err)
	}
	return t, nil
}

// auto is the word for a profile that is to be found.
const auto = "auto"

// choose picks the profiles: the one that was asked for, else those that the target lists.
func (s *subject) choose(f *serverFlags) error {
	switch {
	case !f.changed("profile"):
		for _, p := range s.target.Profiles {
			s.profiles = append(s.profiles, p.Name)
		}
	case f.profile == auto:
	case slices.Contains(requirements.Profiles(), f.profile):
		s.profiles = []protocol.Profile{protocol.Profile(f.profile)}
	default:
		return misuse("--profile: there is no profile %q: there are %s, and %s finds it", f.profile, strings.Join(requirements.Profiles(), ", "), auto)
	}
	return nil
}

// first is the profile that is judged first, the usual one where it is to be found.
func (s *subject) first() protocol.Profile {
	if len(s.profiles) == 0 {
		return s.target.Profiles[0].Name
	}
	return s.profiles[0]
}

// merge lets the flags win over what the target says.
func merge(t *target.Target, f *serverFlags) error {
	if err := f.checkProcess(); err != nil {
		return err
	}
	for _, entry := range f.env {
		name, value, _ := strings.Cut(entry, "=")
		t.Env = append(without(t.Env, name), target.Variable{Name: name, Value: value})
		for i := range t.Profiles {
			t.Profiles[i].Env = without(t.Profiles[i].Env, name)
		}
	}
	t.Inherit = append(t.Inherit, f.inherit...)
	for flag, to := range map[string]*string{"cwd": &t.Cwd, "process-cwd": &t.ProcessCwd, "provider": &t.Provider, "model": &t.Model} {
		if f.changed(flag) {
			*to = *map[string]*string{"cwd": &f.cwd, "process-cwd": &f.processCwd, "provider": &f.provider, "model": &f.model}[flag]
		}
	}
	return places(t)
}

func without(vars []target.Variable, name string) []target.Variable {
	return slices.DeleteFunc(slices.Clone(vars), func(v target.Variable) bool { return v.Name == name })
}

// places makes the two directories absolute: the server would take a relative one from where it stands. One that
// begins with a directory of the run does not exist yet.
func places(t *target.Target) error {
	var err error
	if t.Cwd != "" && !strings.HasPrefix(t.Cwd, "${") {
		if t.Cwd, err = filepath.Abs(t.Cwd); err != nil {
			return failed("finding the working directory: %w", err)
		}
	}
	if strings.HasPrefix(t.ProcessCwd, "${") {
		return nil
	}
	if t.ProcessCwd, err = filepath.Abs(t.ProcessCwd); err != nil { // of "" it is the caller's
		return failed("finding the working directory: %w", err)
	}
	if info, err := os.Stat(t.ProcessCwd); err != nil || !info.IsDir() {
		return misuse("the working directory of the process, %s, is not a directory", t.ProcessCwd)
	}
	return nil
}
