// Package spec is what the suites for both roles have in common: how specs are
// registered, how one that runs comes to its verdict, how all of them run under
// Ginkgo, and where the lines of their conversations are kept.
//
// A suite registers an entry for each requirement with [Suite.It]. Its own T
// embeds [*T], which records what a spec finds, and adds what brings situations
// about. A run is a [Run]: [Choose] and [Applicable] settle which entries there
// are to run, [All] runs them, one after the other.
package spec
