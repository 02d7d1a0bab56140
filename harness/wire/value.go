package wire

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Object is the members of a JSON object as they stood on the wire; of a name
// that stands twice the last counts.
type Object map[string]jsontext.Value

// decoder reads a value in place: what it gives are parts of v, which nobody writes
// to. Lines are megabytes, and each is looked into more than once.
func decoder(v []byte, options ...jsontext.Options) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(v), append(options, jsontext.AllowInvalidUTF8(true))...)
}

// AsObject reads the members of v; ok is false where v is no object.
func AsObject(v jsontext.Value) (o Object, ok bool) {
	if v.Kind() != '{' {
		return nil, false
	}
	o = Object{}
	d := decoder(v, lenient)
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		member, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		o[key] = member
	}
	return o, true
}

// String gives a member that is a string.
func (o Object) String(name string) (string, bool) {
	v := o[name]
	return Unquote(v), v.Kind() == '"'
}

// Int gives a member that is an integer within 64 bits, in any notation: 5, 5.0 and 5e0 are one.
func (o Object) Int(name string) (int64, bool) { return exactInt(string(o[name])) }

// Object gives a member that is an object.
func (o Object) Object(name string) (Object, bool) { return AsObject(o[name]) }

// AsArray gives the elements of v; ok is false where v is no array.
func AsArray(v jsontext.Value) (elements []jsontext.Value, ok bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	d := decoder(v, lenient)
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		elements = append(elements, e)
	}
	return elements, true
}

// Document is a value as validators want it: maps, slices, strings, and numbers as they
// stood. Frames are megabytes, and the decoder of encoding/json copies one several times.
// Of what is no JSON it gives the part before that.
func Document(v jsontext.Value) any { return document(decoder(v, lenient)) }

func document(d *jsontext.Decoder) any {
	token, err := d.ReadToken()
	if err != nil {
		return nil
	}
	switch token.Kind() {
	case '{':
		members := map[string]any{}
		for d.PeekKind() == '"' {
			name, _ := d.ReadToken()
			key := name.String() // before the next read: the token is the decoder's
			members[key] = document(d)
		}
		_, _ = d.ReadToken()
		return members
	case '[':
		elements := []any{}
		for kind := d.PeekKind(); kind != ']' && kind != jsontext.KindInvalid; kind = d.PeekKind() {
			elements = append(elements, document(d))
		}
		_, _ = d.ReadToken()
		return elements
	case '"':
		return token.String()
	case '0':
		return json.Number(token.String())
	case 't', 'f':
		return token.Bool()
	}
	return nil
}

// SameValue compares two JSON values by meaning: members in any order, numbers by
// value, strings by content.
func SameValue(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case '"':
		return Unquote(a) == Unquote(b)
	case '0':
		return canonicalNumber(string(a)) == canonicalNumber(string(b))
	case '[':
		x, _ := AsArray(a)
		y, _ := AsArray(b)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !SameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	case '{':
		x, _ := AsObject(a)
		y, _ := AsObject(b)
		if len(x) != len(y) {
			return false
		}
		for name, v := range x {
			if w, ok := y[name]; !ok || !SameValue(v, w) {
				return false
			}
		}
		return true
	}
	return string(a) == string(b)
}
