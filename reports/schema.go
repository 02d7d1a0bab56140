package reports

import _ "embed" // for the schemas

//go:generate go run ./genschema ../docs/schemas

//go:embed schema/results.v1.json
var resultsSchema []byte

//go:embed schema/baseline.v1.json
var baselineSchema []byte

//go:embed schema/parity-baseline.v1.json
var parityBaselineSchema []byte

// Schemas returns the JSON Schemas (draft 2020-12) of what this package reads and writes, by the file names under which
// they are published in docs/schemas. The bytes must not be changed.
func Schemas() map[string][]byte {
	return map[string][]byte{"results.v1.json": resultsSchema, "baseline.v1.json": baselineSchema, "parity-baseline.v1.json": parityBaselineSchema}
}
