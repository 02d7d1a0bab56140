package process

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// EnvOptions says what an environment is built up from.
type EnvOptions struct {
	// Home is the fresh directory that becomes HOME (and USERPROFILE, APPDATA and LOCALAPPDATA on
	// Windows). Empty leaves HOME out.
	Home string
	// TempDir becomes TMPDIR (TEMP and TMP on Windows). Empty leaves it out.
	TempDir string
	// Inherit names variables to pass on from the caller; those that the caller lacks are left out.
	Inherit []string
	// Set are "NAME=value" entries that come last and win, the last of a name among them.
	Set []string

	// Caller is the environment that PATH, locale, toolchains and Inherit are taken from; nil for that of
	// this process.
	Caller []string
	// CallerHome is where the toolchains of the caller are looked for when their variables are not set;
	// empty for the user's home directory.
	CallerHome string
}

// Environment builds the whole environment of a subject: PATH, the locale, TMPDIR, a fresh HOME, the
// homes of toolchains (which launchers such as cargo, nvm's node, pyenv's python, uv or dotnet need once
// HOME is another), what the system itself can't do without, and then what o names. Nothing
// else of the caller's environment is passed on, so no credential of the caller is.
//
// The entries come in a fixed order, each name once.
func Environment(o EnvOptions) []string {
	if o.Caller == nil {
		o.Caller = os.Environ()
	}
	if o.CallerHome == "" {
		o.CallerHome, _ = os.UserHomeDir()
	}
	caller := lookup(o.Caller)
	var b builder

	b.copy(caller, "PATH")
	if _, ok := caller["PATH"]; !ok && runtime.GOOS != "windows" {
		b.set("PATH", "/usr/local/bin:/usr/bin:/bin")
	}
	for _, entry := range sorted(o.Caller) {
		if name := nameOf(entry); isLocale(name) {
			b.copy(caller, name)
		}
	}
	if runtime.GOOS == "windows" {
		for _, name := range windowsSystem {
			b.copy(caller, name)
		}
	}
	for _, t := range toolchains {
		value, ok := caller[key(t.name)]
		if !ok {
			value, ok = t.existing(o.CallerHome)
		}
		if ok {
			b.set(t.name, value)
		}
	}
	if o.TempDir != "" {
		if runtime.GOOS == "windows" {
			b.set("TEMP", o.TempDir)
			b.set("TMP", o.TempDir)
		}
		b.set("TMPDIR", o.TempDir)
	}
	if o.Home != "" {
		b.set("HOME", o.Home)
		if runtime.GOOS == "windows" {
			b.set("USERPROFILE", o.Home)
			b.set("APPDATA", filepath.Join(o.Home, "AppData", "Roaming"))
			b.set("LOCALAPPDATA", filepath.Join(o.Home, "AppData", "Local"))
		}
	}
	for _, name := range o.Inherit {
		b.copy(caller, name)
	}
	for _, entry := range o.Set {
		if name := nameOf(entry); name != "" {
			b.set(name, strings.TrimPrefix(entry[len(name):], "="))
		}
	}
	return b.entries
}

// Names are the names of an environment's variables, sorted: what a report may show of it.
func Names(env []string) []string {
	names := make([]string, 0, len(env))
	for _, entry := range env {
		names = append(names, nameOf(entry))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nameOf is the part of "NAME=value" before the sign. Windows has hidden names that begin with one.
func nameOf(entry string) string {
	if i := strings.IndexByte(entry[min(1, len(entry)):], '='); i >= 0 {
		return entry[:i+min(1, len(entry))]
	}
	return entry
}

// isLocale is whether a variable only says how text is written.
func isLocale(name string) bool {
	return name == "LANG" || name == "LANGUAGE" || name == "TZ" || strings.HasPrefix(name, "LC_")
}

// builder collects entries; a name that is set again keeps its place.
type builder struct {
	entries []string
	at      map[string]int
}

func (b *builder) set(name, value string) {
	if b.at == nil {
		b.at = map[string]int{}
	}
	entry := name + "=" + value
	if i, ok := b.at[key(name)]; ok {
		b.entries[i] = entry
		return
	}
	b.at[key(name)] = len(b.entries)
	b.entries = append(b.entries, entry)
}

func (b *builder) copy(from map[string]string, name string) {
	if value, ok := from[key(name)]; ok {
		b.set(name, value)
	}
}

// key is a name as the platform compares it.
func key(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// lookup indexes an environment; of several entries with one name the first counts, as in getenv.
func lookup(env []string) map[string]string {
	values := make(map[string]string, len(env))
	for _, entry := range env {
		name := nameOf(entry)
		if name == "" || len(name) == len(entry) {
			continue
		}
		if _, ok := values[key(name)]; !ok {
			values[key(name)] = entry[len(name)+1:]
		}
	}
	return values
}

func sorted(env []string) []string {
	c := slices.Clone(env)
	slices.Sort(c)
	return c
}
