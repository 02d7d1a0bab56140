package client

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode makes JSON of what the suite made up. Raw JSON values in it stay as they are written, whatever is wrong with
// them.
func Encode(v any) jsontext.Value {
	if raw, ok := v.(jsontext.Value); ok {
		return raw
	}
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		panic(fmt.Sprintf("a value that the suite made up does not encode: %v", err)) // a mistake in a spec
	}
	return b
}

func ptr[T any](v T) *T { return &v }
