package requirements

import (
	"slices"
	"strings"
)

// Level says what a violation of a row means.
type Level string

const (
	// Must fails the run.
	Must Level = "MUST"
	// Should is a warning, and fails the run under --strict.
	Should Level = "SHOULD"
	// Observe has no right answer: what the subject does is recorded, shown, and compared.
	Observe Level = "OBSERVE"
)

// Role says which end of the conversation a row binds.
type Role string

const (
	Server Role = "server"
	Client Role = "client"
	// Parity rows are scenarios that are run on several clients and compared.
	Parity Role = "parity"
	// Both is used by capabilities alone: a row binds one role.
	Both Role = "both"
)

// Names of the three profiles of the protocol, in the order in which they are listed everywhere.
const (
	Directional = "directional"
	Accepted    = "accepted"
	Receipt     = "receipt"
)

// Profiles returns the names of all profiles, in their usual order.
func Profiles() []string { return []string{Directional, Accepted, Receipt} }

// Row is one requirement. Rows are handed out by value, their slices are shared and must not be changed.
type Row struct {
	// ID is the stable id, such as "S-FRM-13".
	ID   string
	Role Role
	// Family is the middle part of the id, such as "FRM"; FamilyTitle is its name in words.
	Family      string
	FamilyTitle string
	Level       Level
	// Profiles are the profiles that the row binds, in the usual order.
	Profiles []string
	// Sentence is the requirement, in one sentence.
	Sentence string
	// Source are ids of sources, see Catalogue.Source.
	Source []string
	// Since is the revision of the catalogue that brought the row.
	Since string
	// Revised tells when and how the row was tightened or corrected, oldest first.
	Revised []Revised
	// Variants are the inputs or situations that are judged one by one; none for a plain row.
	Variants []Variant
	// Monitor marks a row that no stimulus can provoke on a sound subject: it is judged when its situation
	// arises, and otherwise not applicable.
	Monitor bool
	// Property marks a row that is tested with generated input.
	Property bool
	// Needs are the capabilities without which the row is not applicable.
	Needs []string
	// Tested says how the suite tests it; Breaks what usually breaks it in real implementations.
	Tested string
	Breaks string
	// Departs says where and why the row departs from JSON-RPC 2.0. Empty where it does not.
	Departs string
	// Why gives the suite's reason for a row that no document asks for, and for the level of some others.
	Why string
}

// Variant is one named input or situation of a row.
type Variant struct {
	// Name is kebab-case ASCII and unique in its row.
	Name string
	// Sentence says what is particular to it.
	Sentence string
	// Needs are capabilities that this variant needs besides those of its row.
	Needs []string
	// Since is set where the variant was added after its row.
	Since string
}

// Revised is one change of a row.
type Revised struct {
	// In is the revision of the catalogue.
	In string
	// What says what changed, in one sentence.
	What string
}

// Binds says whether the row binds a subject of that profile.
func (r Row) Binds(profile string) bool { return slices.Contains(r.Profiles, profile) }

// AllProfiles says whether the row binds every profile.
func (r Row) AllProfiles() bool { return len(r.Profiles) == len(Profiles()) }

// Variant returns the variant of that name.
func (r Row) Variant(name string) (Variant, bool) {
	for _, v := range r.Variants {
		if v.Name == name {
			return v, true
		}
	}
	return Variant{}, false
}

// IDs returns the ids that verdicts are given for: one for each variant ("S-FRM-13/nul"), or the bare id of
// a row without variants.
func (r Row) IDs() []string {
	if len(r.Variants) == 0 {
		return []string{r.ID}
	}
	ids := make([]string, len(r.Variants))
	for i, v := range r.Variants {
		ids[i] = JoinID(r.ID, v.Name)
	}
	return ids
}

// NeedsOf returns the capabilities that the variant needs, those of the row included. An empty variant stands
// for the row itself.
func (r Row) NeedsOf(variant string) []string {
	needs := slices.Clone(r.Needs)
	if v, ok := r.Variant(variant); ok {
		for _, n := range v.Needs {
			if !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
	}
	return needs
}

// SentenceOf returns the sentence of the row, with that of the variant behind it where there is one.
func (r Row) SentenceOf(variant string) string {
	v, ok := r.Variant(variant)
	if !ok || v.Sentence == "" {
		return r.Sentence
	}
	return strings.TrimSuffix(r.Sentence, ".") + ": " + strings.TrimSuffix(v.Sentence, ".") + "."
}

// Labels returns what the row can be selected by in a label expression: its id, its family ("FRM" and
// "S-FRM"), level, role, profiles, "property" and "monitor" where they apply, and what it needs.
// Labels hold no character that has a meaning in Ginkgo's label expressions.
func (r Row) Labels() []string {
	labels := []string{r.ID, r.Family, familyPrefix(r.ID), string(r.Level), string(r.Role)}
	labels = append(labels, r.Profiles...)
	if r.Property {
		labels = append(labels, "property")
	}
	if r.Monitor {
		labels = append(labels, "monitor")
	}
	needs := slices.Clone(r.Needs)
	for _, v := range r.Variants {
		needs = append(needs, v.Needs...)
	}
	slices.Sort(needs)
	return append(labels, slices.Compact(needs)...)
}

// JoinID makes the id of a variant; an empty variant gives the bare id.
func JoinID(id, variant string) string {
	if variant == "" {
		return id
	}
	return id + "/" + variant
}

// SplitID takes an id apart into that of its row and its variant, which is empty for a bare id. It does not
// look whether they exist.
func SplitID(id string) (row, variant string) {
	row, variant, _ = strings.Cut(id, "/")
	return row, variant
}

// familyPrefix turns S-FRM-13 into S-FRM.
func familyPrefix(id string) string { return id[:strings.LastIndexByte(id, '-')] }
