package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the class of a line, by the presence of `id` and `method`.
type Kind uint8

const (
	// Junk is a line that is no JSON object: not a frame.
	Junk Kind = iota
	// Blank is a line of white space alone.
	Blank
	// Other is a JSON object that has neither a usable id nor a string method.
	Other
	// Request has both `id` and `method`.
	Request
	// Response has `id` and no `method`.
	Response
	// Notification has `method` and no `id`.
	Notification
)

func (k Kind) String() string {
	return [...]string{"junk", "blank line", "object that is no frame", "request", "response", "notification"}[k]
}

// Message is a parsed line. Every member is as it stood on the wire; nothing is
// converted and nothing refused.
type Message struct {
	Kind Kind
	// Problem says in a few words why the line is Junk or Other.
	Problem string

	Version jsontext.Value // the member "jsonrpc", empty where absent
	ID      ID
	Method  string // only where MethodIsString
	Params  jsontext.Value
	Result  jsontext.Value
	Error   jsontext.Value

	HasMethod      bool // a member "method" of any type
	MethodIsString bool
	Extra          []string // names of members that JSON-RPC does not know

	InvalidUTF8   bool   // somewhere in the line
	DuplicateName string // a member name that stands twice in one object, at any depth
	IsArray       bool   // the line is a JSON array: a batch
	Trailing      bool   // something stands behind the object on its line
	TooDeep       bool   // JSON that nests deeper than this package reads
}

// V2 reports whether the member "jsonrpc" is the string "2.0".
func (m Message) V2() bool { return Unquote(m.Version) == "2.0" }

// NoObject is the problem of a line that is JSON and no object.
const NoObject = "JSON, but no object"

var errTrailing = errors.New("something stands behind the object")

// lenient accepts what RFC 8259 allows or a lenient reader lets pass, so that it
// can be looked at.
var lenient = jsontext.AllowDuplicateNames(true)

// Parse classifies a line. It never fails: what it could not read is in Problem.
func Parse(l Line) Message {
	if l.Blank() {
		return Message{Kind: Blank}
	}
	if l.Cut() {
		return Message{Problem: fmt.Sprintf("a line of %d bytes, over the bound of %d", l.Size, len(l.Raw))}
	}
	body := bytes.Trim(l.Raw, " \t\r\n")
	m := Message{InvalidUTF8: !utf8.Valid(body)}
	if err := m.members(body); err != nil {
		return Message{
			InvalidUTF8: m.InvalidUTF8, IsArray: m.IsArray, Trailing: errors.Is(err, errTrailing),
			TooDeep: bytes.Contains([]byte(err.Error()), []byte("max depth")), Problem: err.Error(),
		}
	}
	if v := jsontext.Value(body); !v.IsValid() {
		m.DuplicateName = duplicateName(body)
	}
	switch {
	case m.ID.Present() && m.HasMethod:
		m.Kind = Request
	case m.ID.Present():
		m.Kind = Response
	case m.MethodIsString:
		m.Kind = Notification
	default:
		m.Kind, m.Problem = Other, "an object with neither an id nor a string method"
	}
	return m
}

// members reads the members of the object body.
func (m *Message) members(body []byte) error {
	switch jsontext.Value(body).Kind() {
	case '{':
	case '[':
		m.IsArray = true
		fallthrough
	case 'n', 't', 'f', '"', '0':
		if jsontext.Value(body).IsValid(lenient, jsontext.AllowInvalidUTF8(true)) {
			return errors.New(NoObject)
		}
		return errors.New("no JSON")
	default:
		return errors.New("no JSON")
	}
	d := decoder(body, lenient)
	if _, err := d.ReadToken(); err != nil {
		return problem(err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return problem(err)
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return problem(err)
		}
		m.set(key, value)
	}
	if _, err := d.ReadToken(); err != nil {
		return problem(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

func (m *Message) set(name string, v jsontext.Value) {
	switch name {
	case "jsonrpc":
		m.Version = v
	case "id":
		m.ID = ID{v}
	case "method":
		m.HasMethod = true
		if m.MethodIsString = v.Kind() == '"'; m.MethodIsString {
			m.Method = Unquote(v)
		}
	case "params":
		m.Params = v
	case "result":
		m.Result = v
	case "error":
		m.Error = v
	default:
		m.Extra = append(m.Extra, name)
	}
}

// problem shortens a syntax error to what a reader needs.
func problem(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("no JSON at byte %d: %s", syntax.ByteOffset, strings.TrimPrefix(syntax.Err.Error(), "jsontext: "))
	}
	return fmt.Errorf("no JSON: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
}

// duplicateName finds the name that stands twice, "" where none does.
func duplicateName(body []byte) string {
	d := decoder(body)
	for {
		if _, err := d.ReadToken(); err != nil {
			var syntax *jsontext.SyntacticError
			if errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) {
				return syntax.JSONPointer.LastToken()
			}
			return ""
		}
	}
}

// Unquote gives the content of a JSON string; invalid UTF-8 and lone surrogates
// become U+FFFD. For a value that is no string it gives "".
func Unquote(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	b, _ := jsontext.AppendUnquote(nil, v) // the only errors are invalid UTF-8 and surrogates, replaced in b
	return string(b)
}
