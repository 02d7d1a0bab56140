package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// judgingFlags are the flags that every command has which judges a subject, as they were given.
type judgingFlags struct {
	set *pflag.FlagSet

	// The subject.
	profile string
	processFlags
	// What is judged, and how strictly.
	ids          []string
	label        string
	strict       bool
	baseline     string
	update       bool // the baseline
	catalogue    string
	minExercised int
	seed         string
	// What is shown.
	report           string
	json             bool
	verbose, noColor bool
	keep             bool // the scratch tree
}

func (f *judgingFlags) changed(name string) bool { return f.set.Changed(name) }

// values are those of a flag, several where it may be repeated.
func (f *judgingFlags) values(name string) []string {
	v := f.set.Lookup(name).Value
	if list, ok := v.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{v.String()}
}

// addProfile adds --profile; unless says in words whose word goes before the default.
func (f *judgingFlags) addProfile(otherwise protocol.Profile, unless string) {
	f.set.StringVar(&f.profile, "profile", string(otherwise), "`profile` to judge: directional, accepted or receipt (default: "+unless+")")
	f.set.Lookup("profile").DefValue = "" // said in the text
}

// clientProfile reads --profile where a driver may name it, which "" leaves to do.
func (f *judgingFlags) clientProfile() (protocol.Profile, error) {
	switch {
	case !f.changed("profile"):
		return "", nil
	case slices.Contains(requirements.Profiles(), f.profile):
		return protocol.Profile(f.profile), nil
	}
	return "", misuse("--profile: there is no profile %q: there are %s", f.profile, strings.Join(requirements.Profiles(), ", "))
}

// addJudging adds the flags that say what is judged, how strictly, and what is shown.
func (f *judgingFlags) addJudging() {
	s := f.set
	f.addSelection("requirement or a variant to judge", "requirements")
	s.BoolVar(&f.strict, "strict", false, "SHOULDs that do not hold fail the run")
	f.addBaseline("failures")
	s.StringVar(&f.catalogue, "catalogue", "", "`revision` of the catalogue that decides about the exit code (default: the newest)")
	s.IntVar(&f.minExercised, "min-exercised", 0, "least `number` of MUSTs that have to be exercised")
	f.addSeed()
	f.addShown()
}

func (f *judgingFlags) addSelection(one, several string) {
	f.set.StringSliceVar(&f.ids, "id", nil, "`id` of a "+one+", repeated or with commas for several")
	f.set.StringVar(&f.label, "label", "", "`expression` over labels (family, level, profile, …) that selects "+several)
}

func (f *judgingFlags) addBaseline(what string) {
	f.set.StringVar(&f.baseline, "baseline", "", "baseline `file` with the "+what+" that are known")
	f.set.BoolVar(&f.update, "update-baseline", false, "write the baseline file anew: without what holds now, and with what fails, for you to fill in the reasons (default: "+defaultBaseline+")")
}

func (f *judgingFlags) addSeed() {
	f.set.StringVar(&f.seed, "seed", "1", "`seed` of what is generated: a number, or random")
}

// addShown adds the flags that say what is shown and kept.
func (f *judgingFlags) addShown() {
	s := f.set
	s.StringVar(&f.report, "report", "", "`directory` for "+reports.FileName+", "+reports.JUnitName+" and "+transcriptsName+"/")
	s.BoolVar(&f.json, "json", false, "print the results as JSON on stdout, and everything else on stderr")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "show every requirement")
	s.BoolVar(&f.noColor, "no-color", false, "no colours, also on a terminal")
	s.BoolVar(&f.keep, "keep", false, "keep the scratch tree of the run, and say where it is")
}

// completeJudging offers the values of the flags that have a fixed set of them.
func completeJudging(c *cobra.Command, role requirements.Role) {
	complete(c, "profile", requirements.Profiles)
	complete(c, "id", func() []string { return allIDs(role) })
	completeLabels(c, role)
}
