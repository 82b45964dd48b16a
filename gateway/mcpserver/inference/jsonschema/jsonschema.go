// Package jsonschema replaces github.com/google/jsonschema-go/jsonschema. It makes no schema, and it
// says so: every type is refused.
//
// mcp-go imports the real package for tools whose schemas are made from Go types; those here are written
// as JSON. The real package looks at its own types when a program starts: 30 page faults and 80 KB in
// every process. Whoever needs it drops the replace line in go.mod, and nothing else.
package jsonschema

import "errors"

// Schema has the fields that mcp-go sets.
type Schema struct {
	Type, Description                string
	Properties                       map[string]*Schema
	PropertyOrder, Required          []string
	Items, AdditionalProperties, Not *Schema
	Enum                             []any
}

// ForOptions has the option that mcp-go sets.
type ForOptions struct{ IgnoreInvalidTypes bool }

var errNone = errors.New("this build makes no JSON Schema: drop the replace line of google/jsonschema-go from go.mod")

// For refuses the type.
func For[T any](*ForOptions) (*Schema, error) { return nil, errNone }

// ForType refuses the type, which mcp-go gives as it is reflected.
func ForType[Type any](Type, *ForOptions) (*Schema, error) { return nil, errNone }
