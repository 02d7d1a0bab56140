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
	// Set are "NAME=value" entries that come last and win, the last of a name among them. What has
	// another form is left out.
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
	for _, name := range locale {
		b.copy(caller, name)
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
		if name := nameOf(entry); name != "" && len(name) < len(entry) {
			b.set(name, entry[len(name)+1:])
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
	from := 0
	if runtime.GOOS == "windows" && entry != "" {
		from = 1
	}
	if i := strings.IndexByte(entry[from:], '='); i >= 0 {
		return entry[:from+i]
	}
	return entry
}

// locale are the variables that say how text is written. They are named one by one, because LC_ as a prefix
// is also how things are carried through ssh.
var locale = []string{
	"LANG", "LANGUAGE", "LC_ADDRESS", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
	"LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME", "TZ",
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
