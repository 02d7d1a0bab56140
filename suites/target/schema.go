package target

import (
	"bytes"
	_ "embed" // for the schema
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:generate go run ./genschema ../../docs/schemas

//go:embed schema/target.v1.json
var schemaFile []byte

// SchemaName is the file name under which the schema of target files is published in docs/schemas.
const SchemaName = "target.v1.json"

// JSONSchema is the schema (draft 2020-12) of target files. The loader checks a file against it, so an editor that
// knows the schema and the program agree. The bytes must not be changed.
func JSONSchema() []byte { return schemaFile }

// compiled is made at the first target file: a start of the program without one must not pay for it.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaFile))
	if err != nil {
		return nil, fmt.Errorf("reading the embedded schema of target files: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(SchemaName, doc); err != nil {
		return nil, fmt.Errorf("reading the embedded schema of target files: %w", err)
	}
	s, err := c.Compile(SchemaName)
	if err != nil {
		return nil, fmt.Errorf("compiling the embedded schema of target files: %w", err)
	}
	return s, nil
})
