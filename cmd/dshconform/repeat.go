package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// repeater makes command lines that judge the same subject again.
type repeater struct {
	flags   *judgingFlags
	role    requirements.Role
	own     []string // the flags of this command that say what the subject is
	profile protocol.Profile
	seed    uint64
	command []string // what stood behind --
}

// ids is the command line that judges these ids alone.
func (r repeater) ids(ids ...string) string {
	return r.line(r.profile, "--id", strings.Join(ids, ","))
}

// behind is the same where what came before on the process may be needed.
func (r repeater) behind(ids ...string) string {
	return r.line(r.profile, "--id", strings.Join(ids, ","), "--predecessors")
}

// instead is the command line that judges the subject in another profile.
func (r repeater) instead(p protocol.Profile) string { return r.line(p) }

// line keeps the options that say how the subject is run and judged. Those that say what to select, what to print and
// where, and what a whole run has to reach are left out.
func (r repeater) line(p protocol.Profile, extra ...string) string {
	words := []string{os.Args[0], string(r.role), "--profile", string(p)}
	f := r.flags
	for _, name := range append(slices.Clone(r.own), "timeout-scale", "catalogue") {
		if f.changed(name) {
			for _, v := range f.values(name) {
				words = append(words, "--"+name, v)
			}
		}
	}
	if r.seed != defaultSeed {
		words = append(words, "--seed", strconv.FormatUint(r.seed, 10))
	}
	if f.strict {
		words = append(words, "--strict")
	}
	for _, name := range f.inherit {
		words = append(words, "--inherit-env", name)
	}
	words = append(words, extra...)
	for i, w := range words {
		words[i] = reports.ShellQuote(w)
	}
	for _, entry := range f.env {
		words = append(words, "--env", quoteEnv(entry))
	}
	if len(r.command) > 0 {
		words = append(words, "--")
		for _, w := range r.command {
			words = append(words, reports.ShellQuote(w))
		}
	}
	return strings.Join(words, " ")
}

var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)

// quoteEnv quotes NAME=VALUE. The command line goes into reports and CI logs, so the value of a variable that
// looks like a secret is left to the shell that repeats it.
func quoteEnv(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	if secretName.MatchString(name) {
		return reports.ShellQuote(name) + `="$` + name + `"`
	}
	return reports.ShellQuote(entry)
}
