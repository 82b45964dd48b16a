// Package jsonschema replaces github.com/santhosh-tekuri/jsonschema/v6.
// It validates nothing, and it says so: every value is refused.
//
// mcp-go imports the real package for two options that are off here,
// WithInputSchemaValidation and WithOutputSchemaValidation, because the gateway
// decodes what it is sent itself and more strictly. The real package compiles
// its meta-schemas when a program starts: about 3 ms and 1.7 MB in every
// process, more than half of the time to a first answer.
//
// The API is what mcp-go calls, no more. mcp-go takes a schema that does not
// compile as one to be ignored, so the refusal is in [Schema.Validate] and not in
// [Compiler.Compile]: with an option switched on every call fails, instead of
// every call passing unchecked. Whoever needs validation drops the replace line
// in go.mod, and nothing else.
package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// errNone is why every value is refused.
var errNone = errors.New("this build has no JSON Schema validator: drop the replace line of santhosh-tekuri/jsonschema from go.mod")

// Compiler makes schemas that refuse everything.
type Compiler struct{}

// NewCompiler returns a compiler.
func NewCompiler() *Compiler { return &Compiler{} }

// AddResource takes any document and forgets it.
func (*Compiler) AddResource(string, any) error { return nil }

// Compile returns a schema for loc that refuses every value.
func (*Compiler) Compile(loc string) (*Schema, error) { return &Schema{location: loc}, nil }

// Schema refuses every value.
type Schema struct{ location string }

// Validate always returns a [ValidationError].
func (s *Schema) Validate(any) error {
	return &ValidationError{SchemaURL: s.location, ErrorKind: errNone}
}

// ErrorKind says what was wrong. mcp-go prints it and asks nothing of it.
type ErrorKind any

// ValidationError is the refusal of a value. Causes is always empty.
type ValidationError struct {
	SchemaURL        string
	InstanceLocation []string
	ErrorKind        ErrorKind
	Causes           []*ValidationError
}

func (e *ValidationError) Error() string {
	return fmt.Sprintf("schema %q: %v", e.SchemaURL, e.ErrorKind)
}

// UnmarshalJSON reads one JSON document from r and leaves its numbers as they
// are written.
func UnmarshalJSON(r io.Reader) (any, error) {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON document")
	}
	return document, nil
}
