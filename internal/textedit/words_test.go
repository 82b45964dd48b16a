package textedit_test

import (
	"bytes"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var inRules = textedit.Place{Path: []string{"permissions"}, Name: "allow"}

// A string that is added to a list and taken out again leaves every byte, unless the list had to be made.
func TestAWordOfAList(t *testing.T) {
	const word = "mcp__vaultwicket__obsidianRead"
	for text, want := range map[string]string{
		"":                                    "{\n  \"permissions\": {\n    \"allow\": [\"W\"]\n  }\n}\n",
		"{}":                                  "{\n  \"permissions\": {\n    \"allow\": [\"W\"]\n  }\n}",
		`{"a":1}`:                             `{"a":1,"permissions":{"allow":["W"]}}`,
		`{"permissions": {"deny": []}}`:       `{"permissions": {"deny": [], "allow": ["W"]}}`,
		`{"permissions": {"allow": []}}`:      `{"permissions": {"allow": ["W"]}}`,
		`{"permissions": {"allow": [ ]}}`:     `{"permissions": {"allow": ["W" ]}}`,
		`{"permissions": {"allow": ["a"]}}`:   `{"permissions": {"allow": ["a", "W"]}}`,
		`{"permissions":{"allow":["a","b"]}}`: `{"permissions":{"allow":["a","b","W"]}}`,
		"{\n \"permissions\": {\n  \"allow\": [\n   \"a\",\n   \"b\"\n  ]\n }\n}\n": "{\n \"permissions\": {\n  \"allow\": [\n   \"a\",\n   \"b\",\n   \"W\"\n  ]\n }\n}\n",
		"{\r\n\t\"permissions\": {\"allow\": [\r\n\t\t\"a\" // mine\r\n\t]}\r\n}":   "{\r\n\t\"permissions\": {\"allow\": [\r\n\t\t\"a\",\r\n\t\t\"W\" // mine\r\n\t]}\r\n}",
		"{\"permissions\": {\"allow\": [\n\"a\", // mine\n]}}":                      "{\"permissions\": {\"allow\": [\n\"a\",\n\"W\", // mine\n]}}",
		"{\"permissions\": {\"allow\": [ /* none */ ]}}":                            "{\"permissions\": {\"allow\": [\"W\" /* none */ ]}}",
	} {
		want = string(bytes.ReplaceAll([]byte(want), []byte("W"), []byte(word)))
		added, err := relaxed.AddWord([]byte(text), inRules, word)
		require.NoError(t, err)
		require.Equal(t, string(added), want, "%q: with the word", text)
		again := require.Value(relaxed.AddWord(added, inRules, word))(t)
		require.Equal(t, string(again), want, "%q: a second time", text)
		removed := require.Value(relaxed.RemoveWord(added, inRules, word))(t)
		require.Equal(t, relaxed.HasWord(removed, inRules, word), false, "%q: it is still in\n%s", text, removed)
		readded := require.Value(relaxed.AddWord(removed, inRules, word))(t)
		require.Equal(t, string(readded), want, "%q: after it was removed", text)
	}
	for _, text := range jsonTexts {
		if _, err := relaxed.Decode([]byte(text)); err != nil {
			continue
		}
		added, err := relaxed.AddWord([]byte(text), inRules, word)
		if err != nil {
			continue
		}
		require.Equal(t, relaxed.HasWord(added, inRules, word), true, "%q: the word is not in\n%s", text, added)
		removed := require.Value(relaxed.RemoveWord(added, inRules, word))(t)
		require.Equal(t, relaxed.HasWord(removed, inRules, word), false, "%q: it is still in\n%s", text, removed)
	}
}

// Elements and comments of others stay, wherever the word is.
func TestAWordBetweenOthers(t *testing.T) {
	for text, want := range map[string]string{
		`{"permissions": {"allow": ["W", "a"]}}`:                              `{"permissions": {"allow": ["a"]}}`,
		`{"permissions": {"allow": ["a", "W", "b"]}}`:                         `{"permissions": {"allow": ["a", "b"]}}`,
		`{"permissions": {"allow": ["a", "W", "W"]}}`:                         `{"permissions": {"allow": ["a"]}}`,
		`{"permissions": {"allow": ["W",]}}`:                                  `{"permissions": {"allow": []}}`,
		"{\"permissions\": {\"allow\": [\n\"a\", // one\n\"W\" // two\n]}}":   "{\"permissions\": {\"allow\": [\n\"a\" // one\n // two\n]}}",
		"{\"permissions\": {\"allow\": [\n\"W\", // two\n\"b\" // three\n]}}": "{\"permissions\": {\"allow\": [\n // two\n\"b\" // three\n]}}",
		"{\"permissions\": {\"allow\": [\n\"a\" /* , */, // one\n\"W\",\n]}}": "{\"permissions\": {\"allow\": [\n\"a\" /* , */ // one\n,\n]}}",
		`{"permissions": {"allow": ["\u0057", {"W": 1}, 1]}, "allow": ["W"]}`: `{"permissions": {"allow": [{"W": 1}, 1]}, "allow": ["W"]}`,
	} {
		got, err := relaxed.RemoveWord([]byte(text), inRules, "W")
		require.NoError(t, err)
		assert.Equal(t, string(got), want, "without the word %q is", text)
	}
	for _, text := range []string{"[", "[]", `{"permissions": []}`, `{"permissions": {"allow": "W"}}`, `{"permissions": {"allow": {"W": 1}}}`} {
		_, err := relaxed.AddWord([]byte(text), inRules, "W")
		assert.That(t, err != nil, "%s was edited", text)
		assert.Equal(t, relaxed.HasWord([]byte(text), inRules, "W"), false, "%s has the word", text)
	}
}
