// Package strictyaml reads the YAML files that people write for the suite, and tells them where they went
// wrong: every error has the form "FILE:LINE:COLUMN: what is wrong", in one line.
//
// Strict means: one document, valid UTF-8, no unknown and no duplicate keys, no value of another type. What
// the type system can't say (an id that must exist, a reason that must not be empty) is checked by the caller, who
// gets the same kind of error from [Document.Errorf] by naming the path of the value:
//
//	doc, err := strictyaml.Decode("baseline.yaml", data, &file)
//	…
//	return doc.Errorf("$.known[3].id", "requirement %q does not exist", id)
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Error is a fault in a file. Line and Column count from 1; they are 0 where the whole file is meant.
type Error struct {
	File         string
	Line, Column int
	Message      string
	// Err is the cause, nil where there is none but the message.
	Err error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Document is a file that was read, for errors about its values.
type Document struct {
	name string
	file *ast.File
}

// Decode reads one YAML document into v, which must be a pointer to a struct with yaml tags. The name stands in
// errors, it is not opened. The error is an *Error.
func Decode(name string, data []byte, v any) (*Document, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // editors on Windows put it there
	if err := checkText(name, data); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, located(name, err)
	}
	doc := &Document{name: name, file: file}
	var root ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.CommentType:
		case root != nil:
			return nil, doc.at(d.Body.GetToken(), "a second document; a file holds one")
		default:
			root = d.Body
		}
	}
	if root == nil {
		return nil, &Error{File: name, Line: 1, Column: 1, Message: "the file is empty"}
	}
	if err := noAlias(doc, root); err != nil {
		return nil, err
	}
	if err := yaml.NodeToValue(root, v, yaml.Strict()); err != nil {
		return nil, located(name, err)
	}
	return doc, nil
}

// Errorf makes an *Error about the value at a path such as "$.known[0].id". Where the path leads to nothing, because
// the value is missing, the error points at the nearest value around it.
func (d *Document) Errorf(path, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	e := &Error{File: d.name, Line: 1, Column: 1, Message: err.Error(), Err: errors.Unwrap(err)}
	for p := path; p != "" && p != "$"; p = parent(p) {
		if tok := d.find(p); tok != nil {
			e.Line, e.Column = tok.Position.Line, tok.Position.Column
			break
		}
	}
	return e
}

// Line returns the line of the value at a path, and 0 where the path leads to nothing.
func (d *Document) Line(path string) int {
	if tok := d.find(path); tok != nil {
		return tok.Position.Line
	}
	return 0
}

func (d *Document) find(path string) *token.Token {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(d.file)
	if err != nil || node == nil {
		return nil
	}
	// The token of a mapping is the colon of its first entry: its key is what a reader looks for.
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

func (d *Document) at(tok *token.Token, message string) error {
	return &Error{File: d.name, Line: tok.Position.Line, Column: tok.Position.Column, Message: message}
}

// parent cuts the last step off a path.
func parent(p string) string {
	i := strings.LastIndexAny(p, ".[")
	if i < 0 {
		return ""
	}
	return p[:i]
}

// located turns an error of the YAML library into ours: one line, without the excerpt that it draws.
func located(name string, err error) error {
	e := &Error{File: name, Message: firstLine(err.Error()), Err: err}
	var ye yaml.Error
	var wrongType *yaml.TypeError
	if errors.As(err, &ye) {
		e.Message = firstLine(ye.GetMessage())
		if errors.As(err, &wrongType) && wrongType.DstType != nil {
			e.Message = "this has to be " + inWords(wrongType.DstType)
		}
		if tok := ye.GetToken(); tok != nil && tok.Position != nil {
			e.Line, e.Column = tok.Position.Line, tok.Position.Column
		}
	}
	return e
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// checkText refuses what is no text before the parser, whose positions would be off, sees it.
func checkText(name string, data []byte) error {
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &Error{File: name, Line: line, Column: column, Message: fmt.Sprintf("byte 0x%02x is not valid UTF-8", data[i])}
		case r == 0:
			return &Error{File: name, Line: line, Column: column, Message: "a NUL byte"}
		case r == '\n':
			line, column = line+1, 0
		}
		i, column = i+size, column+1
	}
	return nil
}

// noAlias refuses aliases: no file of the suite needs them, and a handful of them can stand for gigabytes.
func noAlias(d *Document, root ast.Node) error {
	v := &aliasVisitor{}
	ast.Walk(v, root)
	if v.found == nil {
		return nil
	}
	return d.at(v.found, "aliases are not supported")
}

type aliasVisitor struct{ found *token.Token }

func (v *aliasVisitor) Visit(n ast.Node) ast.Visitor {
	if _, ok := n.(*ast.AliasNode); ok && v.found == nil {
		v.found = n.GetToken()
	}
	return v
}

// inWords is what the YAML of a Go type is called.
func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return inWords(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "a mapping"
}
