package client

import (
	"bytes"
	_ "embed" // for the schema
	"errors"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed schema/driver.v1.json
var driverSchema []byte

// Schemas are the JSON Schemas of this package by the file names under which they are published in docs/schemas. The
// bytes must not be changed.
func Schemas() map[string][]byte { return map[string][]byte{"driver.v1.json": driverSchema} }

const schemaURL = "https://dshconform.dev/schemas/driver.v1.json"

// forms compiles the schema of each kind of message that a driver writes, at the first use: what judges no client must
// not pay for it.
var forms = sync.OnceValue(func() map[string]*jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(driverSchema))
	if err != nil {
		panic("embedded schema of the driver protocol: " + err.Error()) // a test compiles it
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, doc); err != nil {
		panic("embedded schema of the driver protocol: " + err.Error()) // a test compiles it
	}
	out := map[string]*jsonschema.Schema{}
	for name := range doc.(map[string]any)["$defs"].(map[string]any) {
		if strings.Contains(name, ".") {
			out[name] = c.MustCompile(schemaURL + "#/$defs/" + name)
		}
	}
	return out
})

// misfit says where v does not have the form, "" where it does.
func misfit(form string, v jsontext.Value) string {
	s := forms()[form]
	if s == nil {
		return ""
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v))
	if err != nil {
		return err.Error()
	}
	err = s.Validate(doc)
	if err == nil {
		return ""
	}
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	for len(bad.Causes) > 0 {
		bad = bad.Causes[0]
	}
	at := "/" + strings.Join(bad.InstanceLocation, "/")
	return at + ": " + bad.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}
