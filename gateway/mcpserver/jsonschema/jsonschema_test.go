package jsonschema

import (
	"errors"
	"strings"
	"testing"
)

func TestEveryValueIsRefused(t *testing.T) {
	compiler := NewCompiler()
	if err := compiler.AddResource("mem:///a.json", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("mem:///a.json")
	if err != nil {
		t.Fatalf("a schema that does not compile is ignored by mcp-go: %v", err)
	}
	for _, value := range []any{nil, true, "text", map[string]any{}} {
		var refusal *ValidationError
		if err := schema.Validate(value); !errors.As(err, &refusal) {
			t.Errorf("Validate(%v) = %v, want a ValidationError", value, err)
		}
	}
}

func TestUnmarshalJSON(t *testing.T) {
	if _, err := UnmarshalJSON(strings.NewReader(`{"a":12345678901234567890}`)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{``, `{`, `{} {}`, `{}]`} {
		if _, err := UnmarshalJSON(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: read", bad)
		}
	}
}
