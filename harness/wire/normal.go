package wire

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Normal is a JSON value in one form, whoever wrote it: no white space, members sorted, numbers and strings written in
// one way. Values are the same by meaning where their normal forms are; it is for reading and comparing, since a lone
// surrogate is written as what it is.
func Normal(v jsontext.Value) string {
	var b strings.Builder
	writeNormal(&b, v)
	return b.String()
}

// Normal is the object in one form, which is JSON unless it holds a lone surrogate.
func (o Object) Normal() jsontext.Value {
	var b strings.Builder
	o.writeNormal(&b)
	return jsontext.Value(b.String())
}

func writeNormal(b *strings.Builder, v jsontext.Value) {
	switch v.Kind() {
	case '{':
		o, _ := AsObject(v)
		o.writeNormal(b)
	case '[':
		list, _ := AsArray(v)
		b.WriteByte('[')
		for i, e := range list {
			if i > 0 {
				b.WriteByte(',')
			}
			writeNormal(b, e)
		}
		b.WriteByte(']')
	case '"':
		b.WriteString(quoted(normalText(v)))
	case '0':
		b.WriteString(normalNumber(v))
	default:
		b.Write(v)
	}
}

func (o Object) writeNormal(b *strings.Builder) {
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(name) + ":")
		writeNormal(b, o[name])
	}
	b.WriteByte('}')
}

// normalNumber writes a number in one way: whoever wrote it holds it as the language does. One that a double does not
// hold exactly stays as it is.
func normalNumber(v jsontext.Value) string {
	f, err := strconv.ParseFloat(string(v), 64)
	c := v.Clone()
	if err != nil || math.Abs(f) >= 1<<53 || c.Canonicalize() != nil {
		return string(v)
	}
	return string(c)
}

// normalText is a string. A lone surrogate, which is no character, is written as what it is: languages differ in what
// they make of one.
func normalText(v jsontext.Value) string {
	raw := []byte(v)
	if _, err := jsontext.AppendUnquote(nil, raw); err == nil || !strings.Contains(string(raw), `\u`) {
		return Unquote(v)
	}
	var b []byte
	for i := 0; i < len(raw); {
		n := 1
		if raw[i] == '\\' {
			n = 2
			if raw[i+1] == 'u' {
				n = 6
			}
		}
		unit := raw[i : i+n]
		pair := raw[i:min(i+12, len(raw))]
		switch {
		case n == 6 && len(pair) == 12 && unquotes(pair) && !unquotes(unit):
			b, n = append(b, pair...), 12
		case n == 6 && !unquotes(unit):
			b = append(b, "«lone "+strings.ToLower(string(unit[2:]))+"»"...)
		default:
			b = append(b, unit...)
		}
		i += n
	}
	return Unquote(b)
}

func unquotes(piece []byte) bool {
	_, err := jsontext.AppendUnquote(nil, slices.Concat([]byte{'"'}, piece, []byte{'"'}))
	return err == nil
}

func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return fmt.Sprintf("%q", s) // not UTF-8
	}
	return string(b)
}
