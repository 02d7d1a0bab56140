package target

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/dshconform/dshconform/suites/requirements/strictyaml"
)

// checkShape checks a decoded file against the schema. The error is a *strictyaml.Error about the first place that
// does not fit.
func checkShape(name string, data []byte, content any) error {
	s, err := compiled()
	if err != nil {
		return err
	}
	err = s.Validate(content)
	if err == nil {
		return nil
	}
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return &strictyaml.Error{File: name, Message: err.Error(), Err: err}
	}
	root := rootOf(data)
	var found []*strictyaml.Error
	for _, leaf := range leaves(bad, nil) {
		found = append(found, misfit(name, root, leaf))
	}
	return slices.MinFunc(found, func(a, b *strictyaml.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// leaves are the errors that say something: those around them tell how the validator got there.
func leaves(e *jsonschema.ValidationError, found []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return append(found, e)
	}
	for _, c := range e.Causes {
		found = leaves(c, found)
	}
	return found
}

// misfit puts one error in words and finds its place.
func misfit(name string, root ast.Node, e *jsonschema.ValidationError) *strictyaml.Error {
	at := locate(root, e.InstanceLocation)
	what := "the file"
	if len(e.InstanceLocation) > 0 {
		what = dotted(e.InstanceLocation)
	}
	var text string
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		// The validator names them in the order of a Go map, a reader starts at the top.
		key := slices.MinFunc(k.Properties, func(a, b string) int {
			return cmp.Compare(offset(locateKey(root, e.InstanceLocation, a)), offset(locateKey(root, e.InstanceLocation, b)))
		})
		at = locateKey(root, e.InstanceLocation, key)
		text = fmt.Sprintf("unknown key %q", key)
		if n := len(e.InstanceLocation); n > 0 && e.InstanceLocation[n-1] == "env" {
			text = fmt.Sprintf("%q can't be the name of a variable", key)
		}
	case *kind.Required:
		text = fmt.Sprintf("%s lacks the key %q", what, k.Missing[0])
	case *kind.Type:
		text = fmt.Sprintf("%s is %s and has to be %s", what, inYAML(k.Got), inYAML(strings.Join(k.Want, " or ")))
		if len(k.Want) == 1 && k.Want[0] == "string" && (k.Got == "number" || k.Got == "boolean") {
			text += ": put it in quotes"
		}
	case *kind.Enum:
		text = fmt.Sprintf("%s is %s and has to be one of %s", what, quoted(k.Got), list(k.Want))
	case *kind.Const:
		text = fmt.Sprintf("%s is %s and has to be %v", what, quoted(k.Got), k.Want)
	case *kind.MinItems, *kind.MinLength, *kind.MinProperties, *kind.Pattern:
		text = what + " is empty"
		if p, ok := k.(*kind.Pattern); ok && p.Got != "" {
			text = fmt.Sprintf("%s is %q, which is not allowed", what, p.Got)
		}
	default:
		text = what + ": " + e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	}
	err := &strictyaml.Error{File: name, Line: 1, Column: 1, Message: text, Err: e}
	if at != nil {
		err.Line, err.Column = at.Position.Line, at.Position.Column
	}
	return err
}

// inYAML calls the types of JSON as a reader of YAML knows them.
func inYAML(t string) string {
	switch t {
	case "null":
		return "empty"
	case "array":
		return "a list"
	case "object":
		return "a mapping"
	}
	return "a " + t
}

func quoted(v any) string {
	switch v := v.(type) {
	case nil:
		return "empty"
	case string:
		return strconv.Quote(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprint(v)
}

func list(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// dotted writes a place as one would say it: lacks[0].reason.
func dotted(path []string) string {
	var b strings.Builder
	for i, step := range path {
		switch _, err := strconv.Atoi(step); {
		case err == nil && i > 0:
			fmt.Fprintf(&b, "[%s]", step)
		case i > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
	}
	return b.String()
}

// rootOf parses the file once more, for places: the decoded values have none.
func rootOf(data []byte) ast.Node {
	file, err := parser.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")), 0)
	if err != nil {
		return nil // it was decoded before
	}
	for _, d := range file.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			return d.Body
		}
	}
	return nil
}

// locate finds the value at a path, the nearest one around it where there is none.
func locate(node ast.Node, path []string) *token.Token {
	for _, step := range path {
		next := child(node, step)
		if next == nil {
			break
		}
		node = next
	}
	return first(node)
}

// locateKey finds a key of the mapping at a path.
func locateKey(node ast.Node, path []string, key string) *token.Token {
	for _, step := range path {
		if node = child(node, step); node == nil {
			return nil
		}
	}
	for _, v := range entries(node) {
		if keyText(v) == key {
			return v.Key.GetToken()
		}
	}
	return first(node)
}

func offset(t *token.Token) int {
	if t == nil {
		return 0
	}
	return t.Position.Offset
}

func child(node ast.Node, step string) ast.Node {
	if seq, ok := node.(*ast.SequenceNode); ok {
		if i, err := strconv.Atoi(step); err == nil && i < len(seq.Values) {
			return seq.Values[i]
		}
		return nil
	}
	for _, v := range entries(node) {
		if keyText(v) == step {
			return v.Value
		}
	}
	return nil
}

func entries(node ast.Node) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func keyText(v *ast.MappingValueNode) string { return v.Key.GetToken().Value }

// first is the token that a reader would point at: the first key of a mapping, whose own token is its colon.
func first(node ast.Node) *token.Token {
	if node == nil {
		return nil
	}
	if e := entries(node); len(e) > 0 {
		return e[0].Key.GetToken()
	}
	return node.GetToken()
}
