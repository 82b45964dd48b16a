package document_test

import (
	"errors"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/document"
	"vaultwicket/tests/assert"
)

func wantMalformed(t *testing.T, e editor, at document.Place, name, text string, line, column int) {
	t.Helper()
	_, err := e.Set([]byte(text), at, entry)
	var malformed *document.Malformed
	assert.That(t, errors.As(err, &malformed) && malformed.Line == line && malformed.Column == column, "%s: the error is %v, want line %d, column %d", name, err, line, column)
}

func TestMalformedJSONIsRefusedWithItsPlace(t *testing.T) {
	for _, test := range malformedJSON {
		wantMalformed(t, relaxed, inServers, test.name, test.text, test.line, test.column)
	}
	wantMalformed(t, document.JSON{}, inServers, "a comment for a strict client", "{\"a\": 1, // x\n}", 1, 10)
	wantMalformed(t, document.JSON{}, inServers, "a trailing comma for a strict client", "{\"a\": 1,}", 1, 8)
	wantMalformed(t, document.JSON{Comments: true}, inServers, "a trailing comma", "{\n  \"a\": 1, // x\n}", 2, 9)
	wantMalformed(t, relaxed, inServers, "too deep", strings.Repeat("[", 10_000), 1, 502)
}

func TestMalformedTOMLIsRefusedWithItsPlace(t *testing.T) {
	for _, test := range []struct {
		name, text   string
		line, column int
	}{
		{"no value", "a = 1\nb = \n", 2, 5},
		{"a header without an end", "\ufeffa = \"ä\"\n[mcp_servers.a\ncommand = 1\n", 2, 15},
		{"the same key twice", "a = 1\na = 2\n", 2, 1},
	} {
		wantMalformed(t, document.TOML{}, inTables, test.name, test.text, test.line, test.column)
	}
}

func TestMalformedYAMLIsRefusedWithItsPlace(t *testing.T) {
	for _, test := range []struct {
		name, text   string
		line, column int
	}{
		{"a tab", "a:\n\tb: 1\n", 2, 1},
		{"a bracket without an end", "a: [1\nb: 2\n", 2, 2},
		{"the same key twice", "a: 1\na: 2\n", 2, 1},
		{"a list", "- a\n", 1, 1},
		{"a text", "extensions: none\n", 1, 13},
		{"a list of extensions", "extensions:\n  - a\n", 2, 3},
	} {
		wantMalformed(t, document.YAML{}, inMapping, test.name, test.text, test.line, test.column)
	}
}

func TestWhatCannotBeEditedIsRefused(t *testing.T) {
	for _, test := range []struct {
		e    editor
		at   document.Place
		text string
	}{
		{document.TOML{}, inTables, "mcp_servers = { a = { command = \"x\" } }\n"},
		{document.TOML{}, inTables, "mcp_servers = 1\n"},
		{document.TOML{}, inTables, "[[mcp_servers]]\na = 1\n"},
		{document.YAML{}, inMapping, "extensions: {a: {type: stdio}}\n"},
		{document.YAML{}, inMapping, "{extensions: {}}\n"},
		{document.YAML{}, inMapping, "a: &x {b: {}}\nextensions: *x\n"},
		{document.YAML{}, inMapping, "a: 1\n---\nb: 2\n"},
		{document.YAML{}, inMapping, "a: |\n  text\n  without an end"},
		{document.YAML{}, inList, "mcpServers: [{name: a}]\n"},
	} {
		got, err := test.e.Set([]byte(test.text), test.at, entry)
		assert.That(t, err != nil, "%q was edited:\n%s", test.text, got)
	}
}
