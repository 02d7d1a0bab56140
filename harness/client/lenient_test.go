package client

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/go-json-experiment/json/jsontext"
)

func TestLenient(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for in, want := range map[string]string{
		`{"a":NaN,"b":[-Infinity,Infinity,1]}`: `{"a":"NaN","b":["-Infinity","Infinity",1]}`,
		`{"NaN":"say \"Infinity\\\" NaN"}`:     `{"NaN":"say \"Infinity\\\" NaN"}`,
		`{"a":` + deep(30_000) + `,"b":[{}]}`:  `{"a":` + strings.Repeat("[", deepest-1) + tooDeep + strings.Repeat("]", deepest-1) + `,"b":[{}]}`,
		deep(deepest):                          deep(deepest),
		`{"a":`:                                `{"a":`,
		`"open \"`:                             `"open \"`,
	} {
		NewWithT(t).Expect(string(lenient([]byte(in)))).To(Equal(want))
	}
}

// What is JSON already is not touched.
func TestLenientLeavesJSONAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			s, err := jsontext.AppendQuote(nil, rapid.String().Draw(t, "text"))
			if err != nil {
				t.Skip("no UTF-8")
			}
			return `{"a":[` + string(s) + `,{"b":-1.5e9,` + string(s) + `:null}]}`
		}).Draw(t, "JSON")
		NewWithT(t).Expect(string(lenient([]byte(text)))).To(Equal(text))
	})
}
