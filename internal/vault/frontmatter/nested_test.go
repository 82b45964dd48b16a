package frontmatter

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// books is a base as a person keeps one: with comments, blank lines and unknown keys.
const books = `# my books
filters:
  and:
    - file.hasTag("book") # all of them

formulas:
  # stars are nicer
  stars: 'if(rating, "*".repeat(rating))'   # for the eye
  "odd name": a + 1
plugin: {keep: [me, "as"], I: 'am'}
views:
    # the first is the default
    - type: table
      name: "All"
      order: [file.name, rating]
      columnSize:
        note.plot: 233 # wide
    # the ones that are read

    -   name: Done
        type: cards
        filters: status == "done"
    - {type: list, name: Flow}
`

func parsed(t testing.TB, text string) *Value {
	t.Helper()
	v := require.Value(ParseDocument([]byte(text)))(t)
	return &v
}

func TestNested(t *testing.T) {
	blocks := strings.Replace(books, "    - {type: list, name: Flow}\n", "", 1)
	view := *parsed(t, "type: map\nname: 'A: b'\nsort: [{property: x, direction: DESC}]\nfilters: {and: ['a == 1', {or: [b]}]}")
	written := "- type: map\n  name: \"A: b\"\n  sort:\n    - property: x\n      direction: DESC\n  filters:\n    and:\n      - a == 1\n      - or:\n          - b\n"
	in := func(path string, key, value string) func([]byte) ([]byte, error) {
		return func(text []byte) ([]byte, error) {
			var v *Value
			if value != "" {
				v = parsed(t, value)
			}
			return SetIn(text, strings.Fields(path), key, v)
		}
	}
	for _, c := range []struct {
		name, text, old, new string
		do                   func([]byte) ([]byte, error)
	}{
		{"a formula, with its comment", blocks, `'if(rating, "*".repeat(rating))'   #`, "rating + 1   #", in("formulas", "stars", "rating + 1")},
		{"one more", blocks, "a + 1\n", "a + 1\n  new: '\"x\" + y'\n", in("formulas", "new", `'"x" + y'`)},
		{"one less", blocks, "  \"odd name\": a + 1\n", "", in("formulas", "odd name", "")},
		{"the first of all", "views: []", "views: []", "views: []\nformulas:\n  x: 1 + 1", in("formulas", "x", "1 + 1")},
		{"the first of none", "formulas: {}\nviews: []\n", "formulas: {}", "formulas:\n  x: 1 + 1", in("formulas", "x", "1 + 1")},
		{"the last", "formulas:\n  x: 1 + 1\nviews: []\n", "  x: 1 + 1\n", "", in("formulas", "x", "")},
		{"in an empty file", "", "", "formulas:\n  x: 1 + 1\n", in("formulas", "x", "1 + 1")},
		{"of the root", blocks, "plugin: {keep: [me, \"as\"], I: 'am'}", "plugin: 1", in("", "plugin", "1")},
		{"a key of a view", blocks, "[file.name, rating]", "\n        - a\n        - b", func(b []byte) ([]byte, error) {
			got, err := in("views 0", "order", "[a, b]")(b)
			return bytes.Replace(got, []byte("order:\n"), []byte("order: \n"), 1), err
		}},
		{"a key more", blocks, "status == \"done\"\n", "status == \"done\"\n        limit: 5\n", in("views 1", "limit", "5")},
		{"the first key of a view", blocks, "type: table", "type: list", in("views 0", "type", "list")},
		{"a key less", blocks, "        filters: status == \"done\"\n", "", in("views 1", "filters", "")},
		{"the first key less", blocks, "    -   name: Done\n        type: cards\n", "    -   type: cards\n", in("views 1", "name", "")},
		{"one more view", blocks, "status == \"done\"\n",
			"status == \"done\"\n    " + strings.TrimSuffix(strings.ReplaceAll(written, "\n", "\n    "), "    "),
			func(b []byte) ([]byte, error) { return AddTo(b, "views", view) }},
		{"the first view", "a: 1\r\nviews: []\r\n", "views: []", "views:\r\n  - type: x",
			func(b []byte) ([]byte, error) { return AddTo(b, "views", *parsed(t, "type: x")) }},
		{"a view where there are none", "\ufeffa: 1", "a: 1", "a: 1\nviews:\n  - type: x",
			func(b []byte) ([]byte, error) { return AddTo(b, "views", *parsed(t, "type: x")) }},
		{"a view less", blocks,
			"    - type: table\n      name: \"All\"\n      order: [file.name, rating]\n      columnSize:\n        note.plot: 233 # wide\n",
			"", func(b []byte) ([]byte, error) { return RemoveFrom(b, "views", 0) }},
		{"the only one", "views:\n- a: 1 # x\nb: 2\n", "views:\n- a: 1 # x\n", "views: []\n",
			func(b []byte) ([]byte, error) { return RemoveFrom(b, "views", 0) }},
	} {
		got, err := c.do([]byte(c.text))
		want := strings.Replace(c.text, c.old, c.new, 1)
		require.Equal(t, err, nil, "%s: %v\n%s\nwant\n%s", c.name, err, got, want)
		assert.Equal(t, string(got), want, "%s: %v\n%s\nwant\n%s", c.name, err, got, want)
	}
	var refusal *Refusal
	var malformed *Malformed
	for name, do := range map[string]func() ([]byte, error){
		"a view in braces":       func() ([]byte, error) { return in("views 2", "type", "x")([]byte(books)) },
		"one more next to it":    func() ([]byte, error) { return AddTo([]byte(books), "views", view) },
		"formulas in braces":     func() ([]byte, error) { return in("formulas", "x", "1")([]byte("formulas: {a: b}")) },
		"a list in their place":  func() ([]byte, error) { return in("formulas", "x", "1")([]byte("formulas: [a]")) },
		"a view that is not one": func() ([]byte, error) { return in("views 7", "x", "1")([]byte(blocks)) },
		"two documents":          func() ([]byte, error) { return in("", "x", "1")([]byte("a: 1\n---\nb: 2\n")) },
		"a text":                 func() ([]byte, error) { return in("", "x", "1")([]byte("text")) },
	} {
		got, err := do()
		assert.That(t, errors.As(err, &refusal) || errors.As(err, &malformed), "%s: %v\n%s", name, err, got)
	}
}

// Whatever the file is, a key or an element more is an insertion, one less is a deletion, and
// every other byte stays.
func FuzzNested(f *testing.F) {
	for _, text := range []string{books, strings.ReplaceAll(books, "\n", "\r\n"),
		"views:\n- a: 1\n- b: |\n    x\n\n- c: &x 1\n- d: *x\n", "formulas:\n  a: b", "views:\n  -\n    a: 1\n",
		"a: \"\n\n- b\"\nviews: # c\n  - x: 1 # d\n  # e\n"} {
		f.Add([]byte(text), uint8(0))
	}
	one := Value{kind: String, text: "new: # \"x\""}
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		index, root := string('0'+n%4), Value{}
		if v, err := ParseDocument(text); err == nil {
			root = v
		}
		lists, _ := root.Fields().Lookup("views")
		formulas, _ := root.Fields().Lookup("formulas")
		for name, do := range map[string]func() ([]byte, error){
			"formula": func() ([]byte, error) { return SetIn(text, []string{"formulas"}, "new", &one) },
			"view": func() ([]byte, error) {
				return AddTo(text, "views", Value{kind: Map, more: Properties{{Key: "name", Value: one}}})
			},
			"key":  func() ([]byte, error) { return SetIn(text, []string{"views", index}, "new", &one) },
			"less": func() ([]byte, error) { return RemoveFrom(text, "views", int(n%4)) },
		} {
			got, err := do()
			if err != nil || name == "formula" && len(formulas.Value.Fields()) == 0 || name != "formula" && len(lists.Value.List()) < 2 {
				continue
			}
			if _, has := formulas.Value.Fields().Lookup("new"); has || strings.Contains(string(text), "new") {
				continue
			}
			long, short := got, text
			if name == "less" {
				long, short = text, got
			}
			same := 0
			for same < len(short) && long[same] == short[same] {
				same++
			}
			assert.That(t, len(long) >= len(short), "%s of %q made %q", name, text, got)
			assert.That(t, bytes.HasSuffix(long, short[same:]), "%s of %q made %q", name, text, got)
		}
	})
}
