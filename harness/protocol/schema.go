package protocol

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/dshconform/dshconform/harness/wire"
)

// schemaFiles are the published schemas of the payloads. They describe the
// members that no requirement of its own names.
//
//go:embed schemas/*.json
var schemaFiles embed.FS

const schemaBase = "https://dshconform.dev/protocol/"

type schema struct{ compiled *jsonschema.Schema }

// schemas compiles all of them at the first use: a start of the program that
// judges nothing must not pay for it.
var schemas = sync.OnceValue(func() map[string]*schema {
	c := jsonschema.NewCompiler()
	entries, err := schemaFiles.ReadDir("schemas")
	if err != nil {
		panic(fmt.Sprintf("embedded schemas: %v", err))
	}
	for _, e := range entries {
		raw, err := schemaFiles.ReadFile(path.Join("schemas", e.Name()))
		if err != nil {
			panic(fmt.Sprintf("embedded schema %s: %v", e.Name(), err))
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			panic(fmt.Sprintf("embedded schema %s: %v", e.Name(), err))
		}
		if err := c.AddResource(schemaBase+e.Name(), doc); err != nil {
			panic(fmt.Sprintf("embedded schema %s: %v", e.Name(), err))
		}
	}
	out := map[string]*schema{}
	for _, e := range entries {
		out[strings.TrimSuffix(e.Name(), ".json")] = &schema{c.MustCompile(schemaBase + e.Name())}
	}
	return out
})

// schemaOf is the schema that binds a notification, nil for one that the
// protocol does not know.
func schemaOf(method string, params wire.Object) *schema {
	name := method
	if method == NotificationEvent {
		e, _ := params.Object("event")
		switch kind, _ := e.String("type"); kind {
		case EventTurnStart, EventTurnEnd, EventAssistantMessage:
			name = strings.ReplaceAll(kind, "/", "-")
		}
	}
	return schemas()[name]
}

// check gives a sentence about the first place that does not fit, "" where all does.
func (s *schema) check(v jsontext.Value) string {
	err := s.compiled.Validate(wire.Document(v))
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
