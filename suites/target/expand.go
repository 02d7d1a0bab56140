package target

import "strings"

// Expand replaces ${NAME} by the value that values has for NAME. Other text, a
// ${NAME} without a value included, stays as it is: it may be the subject's own.
func Expand(s string, values map[string]string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "${"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}
