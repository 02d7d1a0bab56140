package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// mostExtras bounds how many names that a subject made up are listed.
const mostExtras = 20

// Beyond are remarks on what a subject wrote that the protocol does not know, by how often: nothing of it is a failure.
func Beyond(extras map[string]int) (remarks []string) {
	names := slices.SortedFunc(maps.Keys(extras), func(a, b string) int {
		return cmp.Or(cmp.Compare(extras[b], extras[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), mostExtras)] {
		remarks = append(remarks, fmt.Sprintf("beyond the protocol: %s (%s)", Shorten(name, 120, len(name)), plural(extras[name], "time", "times")))
	}
	return remarks
}
