package frontmatter

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func parse(t *testing.T, block string) Properties {
	t.Helper()
	return require.Value(Parse([]byte(block)))(t)
}

func TestTags(t *testing.T) {
	tests := []struct{ name, block, want string }{
		{"a list", "tags: [a, b/c]", "#a #b/c"},
		{"a list in lines", "tags:\n  - a\n  - b", "#a #b"},
		{"one text", "tags: a", "#a"},
		{"in any case", "TaGs: a", "#a"},
		{"the mark may be there", "tags: ['#a', b]", "#a #b"},
		{"a text with commas is no tag", "tags: a, b", ""},
		{"nor in a list", "tags: ['a, b', c]", "#c"},
		{"null is none", "tags:", ""},
		{"an empty list is none", "tags: []", ""},
		{"numbers are none", "tags: [2024, '1984', y1984]", "#y1984"},
		{"other types are none", "tags: [true, {a: b}, [c], ~, d]", "#d"},
		{"the key tag is dead", "tag: a", ""},
		{"a slash at the end goes", "tags: a/", "#a"},
		{"no key", "a: b", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, strings.Join(Tags(parse(t, test.block)), " "), test.want, "%q", test.block)
		})
	}
}

func TestAliases(t *testing.T) {
	tests := []struct {
		name, block string
		want        []string
	}{
		{"a list", "aliases: [a, b c]", []string{"a", "b c"}},
		{"one text, commas and all", "aliases: a, b", []string{"a, b"}},
		{"in any case", "Aliases: a", []string{"a"}},
		{"null and empty ones are none", "aliases: [~, '', ' ', a]", []string{"a"}},
		{"the key alias is dead", "alias: a", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.EqualSlices(t, Aliases(parse(t, test.block)), test.want, "%q", test.block)
		})
	}
}

func TestLinks(t *testing.T) {
	tests := []struct{ name, block, want string }{
		{"a wikilink in quotes", `up: "[[a#b|c]]"`, "up a#b"},
		{"an inline link in quotes", `up: "[c](a%20b.md)"`, "up a b.md"},
		{"elements of a list", `up: ["[[a]]", b, "[[c]]"]`, "up.0 a; up.2 c"},
		{"without quotes it is a list", "up: [[a]]", ""},
		{"text around it makes it text", `up: "see [[a]]"`, ""},
		{"in a map there is none", `up: {x: "[[a]]"}`, ""},
		{"in a list within a list there is none", `up: [["[[a]]"]]`, ""},
		{"a number is none", "up: 1", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, link := range Links(parse(t, test.block)) {
				got = append(got, link.Key+" "+link.Link.Target)
			}
			assert.That(t, strings.Join(got, "; ") == test.want, "%q: got %q, want %q", test.block, got, test.want)
		})
	}
}

func TestTypes(t *testing.T) {
	tests := []struct {
		name, text string
		want       Type
	}{
		{"text", "abc", TypeText},
		{"null is text", "", TypeText},
		{"a boolean", "true", TypeCheckbox},
		{"a number", "1.5", TypeNumber},
		{"a date", "2024-01-05", TypeDate},
		{"nearly a date", "2024-1-05", TypeText},
		{"as long as a date", "2024/01/05", TypeText},
		{"letters in a date", "2024-0a-05", TypeText},
		{"a date with a time is text until it is assigned", "2024-01-05T10:00", TypeText},
		{"a list of texts", "[a, b]", TypeMultitext},
		{"an empty list", "[]", TypeMultitext},
		{"a mixed list", "[a, 1]", TypeUnknown},
		{"a map", "{a: 1}", TypeUnknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, parse(t, "k: "+test.text)[0].Value.Type(), test.want, "%q", test.text)
		})
	}
}

func TestValues(t *testing.T) {
	p := parse(t, "n: 012\nt: true\nf: false\ns: x\nl: [a, 1]\nm: {x: [y]}\nz:\nN: upper")
	want := []struct {
		kind         Kind
		text, string string
	}{
		{Number, "012", "12"}, {Bool, "", "true"}, {Bool, "", "false"}, {String, "x", "x"},
		{List, "", `["a",1]`}, {Map, "", `{"x":["y"]}`}, {Null, "", ""},
	}
	for i, w := range want {
		if v := p[i].Value; v.Kind() != w.kind || v.Text() != w.text || v.String() != w.string {
			t.Errorf("%s: got %d %q %q", p[i].Key, v.Kind(), v.Text(), v.String())
		}
	}
	require.That(t, p[1].Value.IsTrue(), "%+v", p)
	require.That(t, !p[2].Value.IsTrue(), "%+v", p)
	require.Equal(t, p[0].Value.Float(), 12)
	require.Equal(t, len(p[4].Value.List()), 2)
	assert.Equal(t, p[5].Value.Fields()[0].Key, "x")
	for name, want := range map[string]string{"n": "12", "N": "upper", "S": "x"} {
		got, ok := p.Lookup(name)
		require.That(t, ok, "Lookup(%q): %+v, %v", name, got, ok)
		assert.Equal(t, got.Value.String(), want, "Lookup(%q): %+v", name, got)
	}
	_, ok := p.Lookup("missing")
	assert.That(t, !ok, "a property that is missing was found")
}

func TestNumbersAsJavaScriptPrintsThem(t *testing.T) {
	tests := map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1.5: "-1.5", 1e20: "100000000000000000000", 1e21: "1e+21", 1.5e300: "1.5e+300",
		1e-6: "0.000001", 1e-7: "1e-7", -1.25e-9: "-1.25e-9", 9007199254740993: "9007199254740992", 0.1: "0.1", 5e-324: "5e-324",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	}
	for f, want := range tests {
		assert.Equal(t, FormatNumber(f), want, "%g", f)
	}
	assert.Equal(t, FormatNumber(math.NaN()), "NaN")
}

func TestJSON(t *testing.T) {
	p := parse(t, "a: [x, [], {}, [1]]\nb: {c: ~, d: .inf}\ne: \"<&>\\t\\x01\\\"\\\\\"\nf: 1.50")
	const want = `{
  "a": [
    "x",
    [],
    {},
    [
      1
    ]
  ],
  "b": {
    "c": null,
    "d": null
  },
  "e": "<&>\t\u0001\"\\",
  "f": 1.5
}`
	assert.Equal(t, p.JSON(), want)
	assert.Equal(t, p[0].Value.List()[3].JSON(), "[\n  1\n]")
	assert.Equal(t, (Properties{}).JSON(), "{}")
}

func TestYAML(t *testing.T) {
	tests := []struct{ name, block, want string }{
		{"texts in quotes only where they must be", "a: 'x'\nb: '1'\nc: \"\"", "a: x\nb: \"1\"\nc: \"\"\n"},
		{"null is nothing", "a: null\nb: [~, a]", "a:\nb:\n  -\n  - a\n"},
		{"lists become lines", "a: [x, 'y, z']", "a:\n  - x\n  - y, z\n"},
		{"empty ones stay", "a: []\nb: {}\nc: [[], {}]", "a: []\nb: {}\nc:\n  - []\n  - {}\n"},
		{"maps within", "a: {b: 1, c: {d: [e]}}", "a:\n  b: 1\n  c:\n    d:\n      - e\n"},
		{"lists within lists", "a: [[1, 2], {b: 1, c: [2]}]", "a:\n  - - 1\n    - 2\n  - b: 1\n    c:\n      - 2\n"},
		{"texts of several lines", "a: \"x\\n\\ny\"\nb: [\"x\\ny\\n\"]", "a: |-\n  x\n\n  y\nb:\n  - |\n    x\n    y\n"},
		{"numbers as JavaScript prints them", "a: 012\nb: 1.50\nc: 1e21\nd: .inf\ne: -.INF\nf: .NaN\ng: true\nh: False",
			"a: 12\nb: 1.5\nc: 1e+21\nd: .inf\ne: -.inf\nf: .nan\ng: true\nh: false\n"},
		{"keys in quotes only where they must be", "my.key: 1\nmy:key: 2\n'1': 3\n? \"a\\nb\"\n: 4\n'': 5\n'a: b': 6",
			"my.key: 1\nmy:key: 2\n\"1\": 3\n\"a\\nb\": 4\n\"\": 5\n\"a: b\": 6\n"},
		{"keys that look like marks", "'--- x': 1\n'... y': 2\n'--- \"': 3", "\"--- x\": 1\n\"... y\": 2\n'--- \"': 3\n"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := parse(t, test.block)
			got := p.YAML()
			assert.Equal(t, got, test.want)
			assert.Equal(t, parse(t, got).JSON(), p.JSON(), "%q reads as", got)
		})
	}
}

// Without names in the literals, a field that is added does not compile here. Add it to
// Parts and write it in the package index, or the cache forgets it.
func TestPartsMakeTheValue(t *testing.T) {
	for _, v := range []Value{ // the line is only of documents, which are not stored
		{Map, true, 0, 1.5, "x", Properties{{"k", Value{}, 7}}},
		{List, false, 0, 0, "", []Value{{kind: Bool}}},
		{String, false, 0, 0, "text", nil},
	} {
		got := (Parts{v.Kind(), v.IsTrue(), v.Float(), v.Text(), v.List(), v.Fields()}).Value()
		assert.That(t, reflect.DeepEqual(got, v), "%+v became %+v", v, got)
	}
}

// YAML returns one property as lines of YAML.
func (p Property) YAML() string { return Properties{p}.YAML() }

// JSON returns v as it is in the JSON of its properties.
func (v Value) JSON() string { return v.indented() }

func TestUnion(t *testing.T) {
	for _, test := range []struct{ name, block, want string }{
		{"what is there already is not added", "a: [x, y]\nb: [y, z]", `["x","y","z"]`},
		{"an element of another type is another one", "a: [1]\nb: [\"1\", 1, true]", `[1,"1",true]`},
		{"nothing and something", "a: []\nb: [x, x]", `["x"]`},
		{"a text is no list", "a: x\nb: [y]", ""},
		{"nor is nothing", "a: [x]\nb:", ""},
	} {
		p := require.Value(Parse([]byte(test.block + "\n")))(t)
		before := p[0].Value.JSON()
		got, ok := p[0].Value.Union(p[1].Value)
		assert.Equal(t, ok, test.want != "", "%s: %s", test.name, got.JSON())
		assert.That(t, !ok || squeezed(got.JSON()) == test.want, "%s: %s", test.name, got.JSON())
		assert.That(t, p[0].Value.JSON() == before, "%s: the first list was changed", test.name)
	}
}

// squeezed takes blanks and line breaks out of JSON whose texts hold none.
func squeezed(text string) string {
	out := []rune{}
	for _, r := range text {
		if r != ' ' && r != '\n' {
			out = append(out, r)
		}
	}
	return string(out)
}
