package document_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/document"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

var strict = document.JSON{}

// boards are canvases in the ways in which programs write them.
var boards = []string{
	"{\n\t\"nodes\":[\n\t\t{\"id\":\"a\",\"type\":\"text\",\"text\":\"x\\ny [{,\",\"x\":-280,\"y\":1.50,\"w\":0},\n\t\t{\"id\":\"b\",\"type\":\"file\",\"more\":{\"k\":[1,2,{}]}}\n\t],\n\t\"edges\":[\n\t\t{\"id\":\"e\"}\n\t]\n}",
	"{\n  \"edges\": [],\n  \"nodes\": [\n    {\n      \"id\": \"a\",\n      \"n\": 1e3\n    },\n    {\n      \"id\": \"b\"\n    }\n  ],\n  \"metadata\": {\"version\": \"1.0\"}\n}\n",
	`{"nodes":[{"id":"a"},{"id":"b"},{"id":"c"}],"edges":[]}`, `{ "nodes": [ { "id": "a", "z": null } ], "edges": [ ] }`,
	"{\r\n\t\"nodes\":[\r\n\t\t{\"id\":\"a\"}\r\n\t]\r\n}\r\n", "\ufeff{\"x\":1}", "{}", "{\n}", "{\"nodes\":[\n{\"id\":\"a\"}\n,\n{\"id\":\"b\"}]}", `{"nodes":[{},{"a":1}]}`, `{"nodes":[null,[],"s",{"id":"a"}]}`,
}

var card = document.Object{{Key: "id", Value: "new"}, {Key: "text", Value: "a\n<\"b\">"}, {Key: "x", Value: -5}}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		do               func(text []byte) ([]byte, error)
	}{
		{"one more", boards[0], strings.Replace(boards[0], "\n\t],\n\t\"edges\"", ",\n\t\t{\"id\":\"new\",\"text\":\"a\\n<\\\"b\\\">\",\"x\":-5}\n\t],\n\t\"edges\"", 1), add("nodes")},
		{"one more, a member a line", boards[1], strings.Replace(boards[1], "\"b\"\n    }", "\"b\"\n    },\n    {\n      \"id\": \"new\",\n      \"text\": \"a\\n<\\\"b\\\">\",\n      \"x\": -5\n    }", 1), add("nodes")},
		{"the first, as in the other list", boards[2], strings.Replace(boards[2], `[]`, `[{"id":"new","text":"a\n<\"b\">","x":-5}]`, 1), add("edges")},
		{"blanks as there are", boards[3], strings.Replace(boards[3], `null } `, `null }, {"id": "new", "text": "a\n<\"b\">", "x": -5} `, 1), add("nodes")},
		{"line ends of Windows", boards[4], strings.Replace(boards[4], "\"a\"}", "\"a\"},\r\n\t\t{\"id\":\"new\",\"text\":\"a\\n<\\\"b\\\">\",\"x\":-5}", 1), add("nodes")},
		{"a list that is missing", `{"x":1}`, `{"x":1,"nodes":[{"id":"new","text":"a\n<\"b\">","x":-5}]}`, add("nodes")},
		{"a member", boards[0], strings.Replace(boards[0], `"x":-280`, `"x":7`, 1), set(0, document.Object{{Key: "x", Value: 7}})},
		{"a member more and one less", boards[0], strings.Replace(strings.Replace(boards[0], `,"w":0`, `,"w":0,"color":"1"`, 1), `,"x":-280`, ``, 1), set(0, document.Object{{Key: "color", Value: "1"}, {Key: "x"}})},
		{"a member more on its line", boards[1], strings.Replace(boards[1], `"b"`, "\"b\",\n      \"x\": 1", 1), set(1, document.Object{{Key: "x", Value: 1}})},
		{"nothing", boards[0], boards[0], set(1, document.Object{{Key: "color"}})},
		{"the last of three", boards[2], strings.Replace(boards[2], `,{"id":"c"}`, ``, 1), remove(2)},
		{"the first two", boards[2], strings.Replace(boards[2], `{"id":"a"},{"id":"b"},`, ``, 1), remove(0, 1)},
		{"the outer two", boards[2], strings.Replace(boards[2], `{"id":"a"},{"id":"b"},{"id":"c"}`, `{"id":"b"}`, 1), remove(0, 2)},
		{"all", boards[2], strings.Replace(boards[2], `{"id":"a"},{"id":"b"},{"id":"c"}`, ``, 1), remove(0, 1, 2)},
		{"none of a list that is missing", `{}`, `{}`, remove(0)},
	} {
		got, err := c.do([]byte(c.text))
		assert.That(t, err == nil && string(got) == c.want, "%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
	}
	for text, want := range map[string]string{
		`[]`: "line 1, column 1: an object is needed here", ``: "line 1, column 1: an object is needed here", `{"nodes":{}}`: `line 1, column 10: a list is needed here, for "nodes"`,
		`{"nodes":[1]}`: "line 1, column 11: an object is needed here", `{"nodes":[]}`: `"nodes" has no element 0`, `{"a":1,"a":2}`: `line 1, column 8: "a" is given twice`, `{"nodes":[{}}`: `line 1, column 13: comma or "]" expected`,
	} {
		if _, err := set(0, card)([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func add(list string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return strict.AddTo(text, list, card) }
}

func set(index int, members document.Object) func([]byte) ([]byte, error) {
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
