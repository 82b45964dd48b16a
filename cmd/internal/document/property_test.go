package document_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/document"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

// editor is what the three editors have in common.
type editor interface {
	Decode(text []byte) (any, error)
	Set(text []byte, at document.Place, entry document.Object) ([]byte, error)
	Remove(text []byte, at document.Place) ([]byte, error)
}

var entry = document.Object{
	{Key: "name", Value: "vaultwicket"}, {Key: "command", Value: "/opt/home \u00e4\"brew\\bin/vaultwicket"},
	{Key: "args", Value: []string{"serve", "--vault", `C:\Notes #1: yes`, ""}},
	{Key: "env", Value: document.Object{{Key: "A.b", Value: "no"}}}, {Key: "empty", Value: document.Object{}}, {Key: "none", Value: []string{}},
	{Key: "enabled", Value: true}, {Key: "timeout", Value: 300},
}

var relaxed = document.JSON{Comments: true, TrailingCommas: true}

var (
	inServers = document.Place{Path: []string{"mcpServers"}, Name: "vaultwicket"}
	inNested  = document.Place{Path: []string{"mcp", "servers"}, Name: "vaultwicket"}
	inTables  = document.Place{Path: []string{"mcp_servers"}, Name: "vaultwicket"}
	inMapping = document.Place{Path: []string{"extensions"}, Name: "vaultwicket"}
	inList    = document.Place{Path: []string{"mcpServers"}, Name: "vaultwicket", List: true}
)

// holds checks all that an editor promises for one text. It reports whether the text
// could be edited.
func holds(t *testing.T, e editor, at document.Place, text string) bool {
	t.Helper()
	before, err := e.Decode([]byte(text))
	if err != nil {
		if _, err := e.Set([]byte(text), at, entry); err == nil {
			t.Fatalf("a malformed text was edited:\n%q", text)
		}
		return false
	}
	set, err := e.Set([]byte(text), at, entry)
	if err != nil {
		var malformed *document.Malformed
		var unsupported *document.Unsupported
		require.That(t, errors.As(err, &malformed) || errors.As(err, &unsupported), "%q: the error %v is of no known type", text, err)
		return false
	}
	after, err := e.Decode(set)
	require.That(t, err == nil, "%q: the edited text is malformed: %v\n%q", text, err, set)
	if found, ok := document.Lookup(after, at); !ok || !document.Equal(found, entry.Plain()) {
		t.Fatalf("%q: the entry is %v in\n%q", text, found, set)
	}
	if again, err := e.Set(set, at, entry); err != nil || !bytes.Equal(again, set) {
		t.Fatalf("%q: a second time gives %v\n%q\nafter\n%q", text, err, again, set)
	}
	require.That(t, document.Verify(before, after, at) == nil, "%q: something else changed in\n%q", text, set)
	removed, err := e.Remove(set, at)
	require.That(t, err == nil, "%q: the entry cannot be removed: %v from\n%q", text, err, set)
	if _, had := document.Lookup(before, at); had {
		return true
	}
	if again, err := e.Set(removed, at, entry); err != nil || !bytes.Equal(again, set) {
		t.Fatalf("%q: without the entry and with it again: %v\n%q\nwant\n%q", text, err, again, set)
	}
	require.That(t, !others(before, at) || string(removed) == text, "%q: after adding and removing it is\n%q", text, removed)
	return true
}

// others reports whether there are other entries next to the place. Only without them a
// collection may be left, or white space in it.
func others(value any, at document.Place) bool {
	for _, key := range at.Path {
		mapping, _ := value.(map[string]any)
		value = mapping[key]
	}
	switch collection := value.(type) {
	case map[string]any:
		return len(collection) > 0
	case []any:
		return len(collection) > 0
	}
	return false
}

// spellings are the same text with other line ends, indentation, a byte order mark, or
// without its last line end.
func spellings(text string) []string {
	var list []string
	for _, s := range []string{text, strings.TrimSuffix(text, "\n"), text + "\n\n"} {
		list = append(list, s, document.BOM+s, strings.ReplaceAll(s, "\n", "\r\n"), document.BOM+strings.ReplaceAll(s, "\n", "\r\n"))
	}
	return list
}

func TestJSONKeepsEverythingElse(t *testing.T) {
	for _, text := range jsonTexts {
		for _, s := range append(spellings(text), spellings(strings.ReplaceAll(text, "  ", "\t"))...) {
			for _, at := range []document.Place{inServers, inNested} {
				assert.That(t, holds(t, relaxed, at, s), "cannot be edited at %s:\n%s", at, s)
			}
		}
	}
}

func TestTOMLKeepsEverythingElse(t *testing.T) {
	for _, text := range tomlTexts {
		for _, s := range spellings(text) {
			assert.That(t, holds(t, document.TOML{}, inTables, s), "cannot be edited:\n%s", s)
			set, _ := document.TOML{}.Set([]byte(s), inTables, entry)
			if back, _ := (document.TOML{}).Remove(set, inTables); string(back) != s {
				t.Errorf("%q: after adding and removing it is\n%q", s, back)
			}
		}
	}
}

func TestYAMLKeepsEverythingElse(t *testing.T) {
	for _, text := range yamlTexts {
		for _, s := range spellings(text) {
			for _, at := range []document.Place{inMapping, inList} {
				assert.That(t, holds(t, document.YAML{}, at, s), "cannot be edited at %s:\n%s", at, s)
			}
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	for _, test := range malformedJSON {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, options := range []document.JSON{{}, {Comments: true}, relaxed} {
			holds(t, options, inServers, text)
			holds(t, options, inNested, text)
		}
	})
}

func FuzzTOML(f *testing.F) {
	for _, text := range tomlTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, document.TOML{}, inTables, text) })
}

func FuzzYAML(f *testing.F) {
	for _, text := range yamlTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		holds(t, document.YAML{}, inMapping, text)
		holds(t, document.YAML{}, inList, text)
	})
}
