package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// mask puts a name in the place of each value that no two runs share. The same value
// has the same name wherever it stands, so its first place decides: values are to be
// masked in an order that all runs share.
type mask struct {
	literal *strings.Replacer
	own     map[string]bool // never masked as a whole
	names   map[string]string
	count   map[string]int
	long    []string // values that are looked for inside other strings
}

// longEnough is the shortest id that is looked for inside other strings: a short one
// would be found by chance.
const longEnough = 8

// newMask masks these values, the longest first, wherever they stand.
func newMask(literal map[string]string) *mask {
	var pairs []string
	for _, value := range slices.SortedFunc(maps.Keys(literal), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		if value != "" {
			pairs = append(pairs, value, literal[value])
		}
	}
	return &mask{literal: strings.NewReplacer(pairs...), own: map[string]bool{}, names: map[string]string{}, count: map[string]int{}}
}

var (
	idKey       = regexp.MustCompile(`(?i)(^|[a-z_-])ids?$|^(nonce|cursor|etag|requestId)$`)
	timeKey     = regexp.MustCompile(`(?i)^(at|ts)$|time|timestamp|date|(created|updated|started|ended|finished|expires)(_?at)?$|[a-z]At$`)
	durationKey = regexp.MustCompile(`(?i)duration|elapsed|latency|(_|M)s$|^(ms|dt)$`)
	tokensKey   = regexp.MustCompile(`Tokens$|_tokens$`) // servers estimate them, paths of the run included
	pidKey      = regexp.MustCompile(`(?i)^pid$`)
	versionKey  = regexp.MustCompile(`(?i)^version$`)

	uuid  = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	ulid  = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	hex   = regexp.MustCompile(`(?i)\b[0-9a-f]{16,}\b`)
	date  = regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?`)
	clock = regexp.MustCompile(`\b\d\d:\d\d:\d\d(\.\d+)?\b`)
)

// number masks a number by the name of the member that holds it and by its size.
func (m *mask) number(key, token string) string {
	millis := len(token) == 13 && token[0] == '1' || len(token) > 13 && strings.HasPrefix(token, "1") && strings.Contains(token, ".")
	switch {
	case timeKey.MatchString(key) && len(token) >= 9, millis:
		return "«time»"
	case durationKey.MatchString(key):
		return "«duration»"
	case tokensKey.MatchString(key):
		return "«tokens»"
	case pidKey.MatchString(key):
		return "«pid»"
	}
	return token
}

// text masks a string by the name of the member that holds it and by what it is.
func (m *mask) text(key, s string) string {
	switch {
	case m.own[s]:
		return s
	case versionKey.MatchString(key):
		return "«version»"
	case idKey.MatchString(key) && s != "":
		return m.name("id", s)
	}
	if name, known := m.names[s]; known {
		return name
	}
	s = m.literal.Replace(s)
	for _, value := range m.long {
		s = strings.ReplaceAll(s, value, m.names[value])
	}
	for _, id := range []*regexp.Regexp{uuid, ulid, hex} {
		s = id.ReplaceAllStringFunc(s, func(found string) string {
			if id == hex && !strings.ContainsAny(found, "0123456789") {
				return found
			}
			return m.name("id", found)
		})
	}
	s = date.ReplaceAllString(s, "«date»")
	return clock.ReplaceAllString(s, "«clock»")
}

// name is the name of a value, a new one the first time.
func (m *mask) name(kind, value string) string {
	if name, known := m.names[value]; known {
		return name
	}
	m.count[kind]++
	name := fmt.Sprintf("«%s-%d»", kind, m.count[kind])
	m.names[value] = name
	if len(value) >= longEnough {
		m.long = append(m.long, value)
		slices.SortFunc(m.long, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	}
	return name
}

// width is how long a value may be to stand on one line.
const width = 100

// json writes a value with its members sorted and its values masked, over several
// lines where one is too short.
func (m *mask) json(b *strings.Builder, key string, v jsontext.Value, indent string) {
	flat := m.flat(key, v)
	object, isObject := wire.AsObject(v)
	array, isArray := wire.AsArray(v)
	inner := indent + "  "
	switch {
	case len([]rune(flat)) <= width || !isObject && !isArray, len(object)+len(array) == 0:
		b.WriteString(flat)
	case isObject:
		b.WriteString("{\n")
		for i, name := range slices.Sorted(maps.Keys(object)) {
			if i > 0 {
				b.WriteString(",\n")
			}
			b.WriteString(inner + quote(name) + ": ")
			m.json(b, name, object[name], inner)
		}
		b.WriteString("\n" + indent + "}")
	default:
		b.WriteString("[\n")
		for i, e := range array {
			if i > 0 {
				b.WriteString(",\n")
			}
			b.WriteString(inner)
			m.json(b, key, e, inner)
		}
		b.WriteString("\n" + indent + "]")
	}
}

// flat is a value on one line. It is made in the order in which json writes it, so that
// names are given out in that order.
func (m *mask) flat(key string, v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return quote(m.text(key, wire.Unquote(v)))
	case '0':
		return m.number(key, string(v))
	case '{':
		object, _ := wire.AsObject(v)
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(object)) {
			parts = append(parts, quote(name)+": "+m.flat(name, object[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case '[':
		array, _ := wire.AsArray(v)
		var parts []string
		for _, e := range array {
			parts = append(parts, m.flat(key, e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(v)
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return fmt.Sprintf("%q", s) // invalid UTF-8, which a reader is to see
	}
	return string(b)
}
