package textedit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var entry = textedit.Object{
	{Key: "name", Value: "vaultwicket"}, {Key: "command", Value: "/opt/home \u00e4\"brew\\bin/vaultwicket"},
	{Key: "args", Value: []string{"serve", "--vault", `C:\Notes #1: yes`, ""}},
	{Key: "env", Value: textedit.Object{{Key: "A.b", Value: "no"}}}, {Key: "empty", Value: textedit.Object{}}, {Key: "none", Value: []string{}},
	{Key: "enabled", Value: true}, {Key: "timeout", Value: 300},
}

var relaxed = textedit.JSON{Comments: true, TrailingCommas: true}

var (
	inServers = textedit.Place{Path: []string{"mcpServers"}, Name: "vaultwicket"}
	inNested  = textedit.Place{Path: []string{"mcp", "servers"}, Name: "vaultwicket"}
	inTables  = textedit.Place{Path: []string{"mcp_servers"}, Name: "vaultwicket"}
	inMapping = textedit.Place{Path: []string{"extensions"}, Name: "vaultwicket"}
	inList    = textedit.Place{Path: []string{"mcpServers"}, Name: "vaultwicket", List: true}
)

// holds checks all that an editor promises for one text. It reports whether the text
// could be edited.
func holds(t *testing.T, e textedit.Editor, at textedit.Place, text string) bool {
	t.Helper()
	before, err := e.Decode([]byte(text))
	if err != nil {
		_, err := textedit.Set(e, []byte(text), at, entry)
		require.That(t, err != nil, "a malformed text was edited:\n%q", text)
		return false
	}
	set, err := textedit.Set(e, []byte(text), at, entry)
	if err != nil {
		var malformed *textedit.Malformed
		var unsupported *textedit.Unsupported
		require.That(t, errors.As(err, &malformed) || errors.As(err, &unsupported), "%q: the error %v is of no known type", text, err)
		return false
	}
	after, err := e.Decode(set)
	require.That(t, err == nil, "%q: the edited text is malformed: %v\n%q", text, err, set)
	found, ok := textedit.Lookup(after, at)
	require.That(t, ok, "%q: the entry is %v in\n%q", text, found, set)
	require.That(t, textedit.Equal(found, entry.Plain()), "%q: the entry is %v in\n%q", text, found, set)
	again, err := textedit.Set(e, set, at, entry)
	require.Equal(t, err, nil, "%q: a second time gives %v\n%q\nafter\n%q", text, err, again, set)
	require.That(t, bytes.Equal(again, set), "%q: a second time gives %v\n%q\nafter\n%q", text, err, again, set)
	require.That(t, textedit.Verify(before, after, at) == nil, "%q: something else changed in\n%q", text, set)
	removed, err := textedit.Remove(e, set, at)
	require.That(t, err == nil, "%q: the entry cannot be removed: %v from\n%q", text, err, set)
	if _, had := textedit.Lookup(before, at); had {
		return true
	}
	again, err = textedit.Set(e, removed, at, entry)
	require.Equal(t, err, nil, "%q: without the entry and with it again: %v\n%q\nwant\n%q", text, err, again, set)
	require.That(t, bytes.Equal(again, set), "%q: without the entry and with it again: %v\n%q\nwant\n%q", text, err, again, set)
	require.That(t, !others(before, at) || string(removed) == text, "%q: after adding and removing it is\n%q", text, removed)
	return true
}

// others reports whether there are other entries next to the place. Only without them a
// collection may be left, or white space in it.
func others(value any, at textedit.Place) bool {
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
		list = append(list, s, textedit.BOM+s, strings.ReplaceAll(s, "\n", "\r\n"), textedit.BOM+strings.ReplaceAll(s, "\n", "\r\n"))
	}
	return list
}

func TestJSONKeepsEverythingElse(t *testing.T) {
	for _, text := range jsonTexts {
		for _, s := range append(spellings(text), spellings(strings.ReplaceAll(text, "  ", "\t"))...) {
			for _, at := range []textedit.Place{inServers, inNested} {
				assert.That(t, holds(t, relaxed, at, s), "cannot be edited at %s:\n%s", at, s)
			}
		}
	}
}

func TestTOMLKeepsEverythingElse(t *testing.T) {
	for _, text := range tomlTexts {
		for _, s := range spellings(text) {
			assert.That(t, holds(t, textedit.TOML{}, inTables, s), "cannot be edited:\n%s", s)
			set, _ := textedit.Set(textedit.TOML{}, []byte(s), inTables, entry)
			back, _ := textedit.Remove(textedit.TOML{}, set, inTables)
			assert.That(t, string(back) == s, "%q: after adding and removing it is\n%q", s, back)
		}
	}
}

func TestYAMLKeepsEverythingElse(t *testing.T) {
	for _, text := range yamlTexts {
		for _, s := range spellings(text) {
			for _, at := range []textedit.Place{inMapping, inList} {
				assert.That(t, holds(t, textedit.YAML{}, at, s), "cannot be edited at %s:\n%s", at, s)
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
		for _, options := range []textedit.JSON{{}, {Comments: true}, relaxed} {
			holds(t, options, inServers, text)
			holds(t, options, inNested, text)
		}
	})
}

func FuzzTOML(f *testing.F) {
	for _, text := range tomlTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, textedit.TOML{}, inTables, text) })
}

func FuzzYAML(f *testing.F) {
	for _, text := range yamlTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		holds(t, textedit.YAML{}, inMapping, text)
		holds(t, textedit.YAML{}, inList, text)
	})
}

var strict = textedit.JSON{}

// boards are canvases in the ways in which programs write them.
var boards = []string{
	"{\n\t\"nodes\":[\n\t\t{\"id\":\"a\",\"type\":\"text\",\"text\":\"x\\ny [{,\",\"x\":-280,\"y\":1.50,\"w\":0},\n\t\t{\"id\":\"b\",\"type\":\"file\",\"more\":{\"k\":[1,2,{}]}}\n\t],\n\t\"edges\":[\n\t\t{\"id\":\"e\"}\n\t]\n}",
	"{\n  \"edges\": [],\n  \"nodes\": [\n    {\n      \"id\": \"a\",\n      \"n\": 1e3\n    },\n    {\n      \"id\": \"b\"\n    }\n  ],\n  \"metadata\": {\"version\": \"1.0\"}\n}\n",
	`{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}],"edges":[]}`, `{ "nodes": [ { "id": "a", "z": null } ], "edges": [ ] }`,
	"{\r\n\t\"nodes\":[\r\n\t\t{\"id\":\"a\"}\r\n\t]\r\n}\r\n", "\ufeff{\"x\":1}", "{}", "{\n}",
	"{\"nodes\":[\n{\"id\":\"a\"}\n,\n{\"id\":\"b\"}]}", `{"nodes":[{},{"a":1}]}`,
	`{"nodes":[null,[],"s",{"id":"a"}]}`,
}

var card = textedit.Object{{Key: "id", Value: "new"}, {Key: "text", Value: "a\n<\"b\">"}, {Key: "x", Value: -5}}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		do               func(text []byte) ([]byte, error)
	}{
		{"one more", boards[0], strings.Replace(boards[0], "\n\t],\n\t\"edges\"",
			",\n\t\t{\"id\":\"new\",\"text\":\"a\\n<\\\"b\\\">\",\"x\":-5}\n\t],\n\t\"edges\"", 1), add("nodes")},
		{"one more, a member a line", boards[1],
			strings.Replace(boards[1], "\"b\"\n    }",
				"\"b\"\n    },\n    {\n      \"id\": \"new\",\n      \"text\": \"a\\n<\\\"b\\\">\",\n      \"x\": -5\n    }",
				1), add("nodes")},
		{"the first, as in the other list", boards[2], strings.Replace(boards[2], `[]`, `[{"id":"new","text":"a\n<\"b\">","x":-5}]`, 1), add("edges")},
		{"blanks as there are", boards[3], strings.Replace(boards[3], `null } `, `null }, {"id": "new", "text": "a\n<\"b\">", "x": -5} `, 1), add("nodes")},
		{"line ends of Windows", boards[4],
			strings.Replace(boards[4], "\"a\"}",
				"\"a\"},\r\n\t\t{\"id\":\"new\",\"text\":\"a\\n<\\\"b\\\">\",\"x\":-5}", 1), add("nodes")},
		{"a list that is missing", `{"x":1}`, `{"x":1,"nodes":[{"id":"new","text":"a\n<\"b\">","x":-5}]}`, add("nodes")},
		{"a member", boards[0], strings.Replace(boards[0], `"x":-280`, `"x":7`, 1), set(0, textedit.Object{{Key: "x", Value: 7}})},
		{"a member more and one less", boards[0],
			strings.Replace(strings.Replace(boards[0], `,"w":0`, `,"w":0,"color":"1"`, 1), `,"x":-280`, ``, 1),
			set(0, textedit.Object{{Key: "color", Value: "1"}, {Key: "x"}})},
		{"a member more on its line", boards[1], strings.Replace(boards[1], `"b"`, "\"b\",\n      \"x\": 1", 1), set(1, textedit.Object{{Key: "x", Value: 1}})},
		{"nothing", boards[0], boards[0], set(1, textedit.Object{{Key: "color"}})},
		{"the last of three", boards[2], strings.Replace(boards[2], `,{"id":"c"}`, ``, 1), remove(2)},
		{"the first two", boards[2], strings.Replace(boards[2], `{"id":"a"},{"id":"b"},`, ``, 1), remove(0, 1)},
		{"the outer two", boards[2], strings.Replace(boards[2], `{"id":"a"},{"id":"b"},{"id":"c"}`, `{"id":"b"}`, 1), remove(0, 2)},
		{"all", boards[2], strings.Replace(boards[2], `{"id":"a"},{"id":"b"},{"id":"c"}`, ``, 1), remove(0, 1, 2)},
		{"none of a list that is missing", `{}`, `{}`, remove(0)},
	} {
		got, err := c.do([]byte(c.text))
		require.Equal(t, err, nil, "%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		assert.Equal(t, string(got), c.want, "%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
	}
	for text, want := range map[string]string{
		`[]`: "line 1, column 1: an object is needed here", ``: "line 1, column 1: an object is needed here",
		`{"nodes":{}}`:  `line 1, column 10: a list is needed here, for "nodes"`,
		`{"nodes":[1]}`: "line 1, column 11: an object is needed here", `{"nodes":[]}`: `"nodes" has no element 0`,
		`{"a":1,"a":2}`: `line 1, column 8: "a" is given twice`,
		`{"nodes":[{}}`: `line 1, column 13: comma or "]" expected`,
	} {
		_, err := set(0, card)([]byte(text))
		require.That(t, err != nil, "%s: %v, want %s", text, err, want)
		assert.Equal(t, err.Error(), want, "%s", text)
	}
}

func add(list string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return strict.AddTo(text, list, card) }
}

func set(index int, members textedit.Object) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return strict.SetIn(text, "nodes", index, members) }
}

func remove(indexes ...int) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		return strict.RemoveFrom(text, "nodes", func(at int) bool {
			for _, i := range indexes {
				if at == i {
					return true
				}
			}
			return false
		})
	}
}

// Whatever the text is, an edit is an error or valid JSON; the bytes of the elements that it does
// not name stay, and so does all before the first and after the last place that it changes.
func FuzzJSONLists(f *testing.F) {
	for _, text := range boards {
		f.Add([]byte(text), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, at uint8) {
		index := int(at % 4)
		elements := func(text []byte) (raw []json.RawMessage) {
			var root struct {
				Nodes []json.RawMessage `json:"nodes"`
			}
			if json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &root) != nil {
				return nil
			}
			return root.Nodes
		}
		before := elements(text)
		for name, do := range map[string]func([]byte) ([]byte, error){"add": add("nodes"), "set": set(index, card), "remove": remove(index)} {
			got, err := do(text)
			if err != nil {
				continue
			}
			require.That(t, json.Valid(bytes.TrimPrefix(got, []byte("\ufeff"))), "%s made %q of %q", name, got, text)
			after, want := elements(got), before
			switch {
			case name == "add" && len(after) > 0:
				after = after[:len(after)-1]
			case name == "set" && index < len(after) && index < len(want):
				after[index], want = want[index], append([]json.RawMessage(nil), want...)
			case name == "remove" && index < len(want):
				want = append(append([]json.RawMessage(nil), want[:index]...), want[index+1:]...)
			}
			require.That(t, len(after) == len(want), "%s made %q of %q", name, got, text)
			for i := range want {
				assert.That(t, bytes.Equal(after[i], want[i]), "%s changed element %d: %q became %q", name, i, text, got)
			}
		}
	})
}

func wantMalformed(t *testing.T, e textedit.Editor, at textedit.Place, name, text string, line, column int) {
	t.Helper()
	_, err := textedit.Set(e, []byte(text), at, entry)
	var malformed *textedit.Malformed
	require.That(t, errors.As(err, &malformed), "%s: the error is %v, want line %d, column %d", name, err, line, column)
	assert.Equal(t, malformed.Line, line, "%s: the line of %v", name, err)
	assert.Equal(t, malformed.Column, column, "%s: the column of %v", name, err)
}

func TestMalformedJSONIsRefusedWithItsPlace(t *testing.T) {
	for _, test := range malformedJSON {
		wantMalformed(t, relaxed, inServers, test.name, test.text, test.line, test.column)
	}
	wantMalformed(t, textedit.JSON{}, inServers, "a comment for a strict client", "{\"a\": 1, // x\n}", 1, 10)
	wantMalformed(t, textedit.JSON{}, inServers, "a trailing comma for a strict client", "{\"a\": 1,}", 1, 8)
	wantMalformed(t, textedit.JSON{Comments: true}, inServers, "a trailing comma", "{\n  \"a\": 1, // x\n}", 2, 9)
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
		wantMalformed(t, textedit.TOML{}, inTables, test.name, test.text, test.line, test.column)
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
		wantMalformed(t, textedit.YAML{}, inMapping, test.name, test.text, test.line, test.column)
	}
}

func TestWhatCannotBeEditedIsRefused(t *testing.T) {
	for _, test := range []struct {
		e    textedit.Editor
		at   textedit.Place
		text string
	}{
		{textedit.TOML{}, inTables, "mcp_servers = { a = { command = \"x\" } }\n"},
		{textedit.TOML{}, inTables, "mcp_servers = 1\n"},
		{textedit.TOML{}, inTables, "[[mcp_servers]]\na = 1\n"},
		{textedit.YAML{}, inMapping, "extensions: {a: {type: stdio}}\n"},
		{textedit.YAML{}, inMapping, "{extensions: {}}\n"},
		{textedit.YAML{}, inMapping, "a: &x {b: {}}\nextensions: *x\n"},
		{textedit.YAML{}, inMapping, "a: 1\n---\nb: 2\n"},
		{textedit.YAML{}, inMapping, "a: |\n  text\n  without an end"},
		{textedit.YAML{}, inList, "mcpServers: [{name: a}]\n"},
	} {
		got, err := textedit.Set(test.e, []byte(test.text), test.at, entry)
		assert.That(t, err != nil, "%q was edited:\n%s", test.text, got)
	}
}
