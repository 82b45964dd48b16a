package frontmatter

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// compact returns the value on one line, as JSON.
func compact(v Value) string { return string(v.appendJSON(nil)) }

// facts reads a file of facts: a text and what becomes of it, on one line.
func facts(t *testing.T, name string, check func(t *testing.T, text, want string)) {
	t.Helper()
	file := require.Value(os.ReadFile("testdata/" + name))(t)
	count := 0
	for line := range strings.Lines(string(file)) {
		encoded, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || line[0] == '#' {
			continue
		}
		var text string
		err := json.Unmarshal([]byte(encoded), &text)
		require.That(t, err == nil, "%s: %v", line, err)
		count++
		check(t, text, want)
	}
	assert.That(t, count >= 40, "%s: only %d facts", name, count)
}

func TestScalarsAreThoseOfTheApp(t *testing.T) {
	facts(t, "scalars.txt", func(t *testing.T, text, want string) {
		got := "error"
		if p, err := Parse([]byte("k: " + text + "\n")); err == nil {
			got = "missing"
			if property, ok := p.Lookup("k"); ok {
				got = compact(property.Value)
			}
		}
		assert.Equal(t, got, want, "%q", text)
	})
}

func TestKeysAreThoseOfTheApp(t *testing.T) {
	facts(t, "keys.txt", func(t *testing.T, text, want string) {
		got := "error"
		if p, err := Parse([]byte(text + ": 0\n")); err == nil {
			var keys []Value
			for _, property := range p {
				keys = append(keys, Value{kind: String, text: property.Key})
			}
			got = compact(Value{kind: List, more: keys})
		}
		assert.Equal(t, got, want, "%q", text)
	})
}

func TestTextsAreWrittenAsTheAppDoes(t *testing.T) {
	facts(t, "written.txt", func(t *testing.T, text, encoded string) {
		var want string
		require.NoError(t, json.Unmarshal([]byte(encoded), &want))
		got := Property{Key: "k", Value: Value{kind: String, text: text}}.YAML()
		assert.Equal(t, got, want+"\n", "%q", text)
		p, err := Parse([]byte(got))
		require.Equal(t, err, nil, "%q: written %q, read %+v", text, got, p)
		assert.Equal(t, p[0].Value.text, text, "written %q, read %+v", got, p)
	})
}

func TestMalformed(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for _, name := range "bcdefgh" {
		bomb += string(name) + ": &" + string(name) + " [" + strings.Repeat("*"+string(name-1)+",", 10) + "]\n"
	}
	tests := []struct {
		name, block string
		line        int
		reason      string
	}{
		{"a key that appears twice", "a: 1\nb: 2\na: 3", 3, `key "a" appears twice`},
		{"keys of one value", "1: a\n01: b", 2, `key "1" appears twice`},
		{"a key within a map that appears twice", "a:\n  b: 1\n  b: 2", 3, `key "b" appears twice`},
		{"an unclosed quote", "a: 'x\n", 2, "found unexpected end of stream"},
		{"an unknown anchor", "a: 1\nb: *x", 2, "unknown anchor 'x' referenced"},
		{"a list", "- a", 1, "no list of keys and values"},
		{"a text", "just text", 1, "no list of keys and values"},
		{"two documents", "a: 1\n...\nb: 2", 0, ""},
		{"a list without end", "a: &a [*a]", 1, "values are nested too deep"},
		{"deep nesting", "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), 1, "values are nested too deep"},
		{"a deep key", "? " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n: 1", 1, "a key contains too much"},
		{"a deep key of maps", "? " + strings.Repeat("{a: ", 200) + strings.Repeat("}", 200) + "\n: 1", 1, "a key contains too much"},
		{"a key that is a deep key", "? " + strings.Repeat("{", 200) + strings.Repeat("}", 200) + "\n: 1", 1, "a key contains too much"},
		{"aliases of aliases", bomb, 1, "too many values"},
		{"a block too long", "a: " + strings.Repeat("x", maxSize), 0, "longer than 1048576 bytes"},
		{"half a character", `a: "\ud83d"`, 1, "found invalid Unicode character escape code"},
		{"half a character and no other half", `a: "\ud83d\uzzzz \uzzzz\ud83d"`, 1, "found invalid Unicode character escape code"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := Parse([]byte(test.block))
			var malformed *Malformed
			require.That(t, errors.As(err, &malformed), "got %v, %v", p, err)
			if malformed.Line != test.line || test.reason != "" && malformed.Reason != test.reason {
				t.Errorf("got line %d: %s", malformed.Line, malformed.Reason)
			}
			assert.Equal(t, strings.HasPrefix(err.Error(), "line "), (test.line > 0), "got %q", err)
		})
	}
}

func TestParse(t *testing.T) {
	tests := []struct{ name, block, want string }{
		{"nothing", "", "{}"},
		{"blank lines and comments", "\n  \n# a: 1\n", "{}"},
		{"null", "~", "{}"},
		{"comments are not read", "# x\na: 1 # y", `{"a":1}`},
		{"the order of keys is kept", "b: 1\na: 2\n1: 3", `{"b":1,"a":2,"1":3}`},
		{"keys that differ in case", "a: 1\nA: 2", `{"a":1,"A":2}`},
		{"keys that are one as text", "1: a\nb: c\n'1': d", `{"1":"d","b":"c"}`},
		{"JSON", `{"tags": "journal", "publish": false, "n": [1, {"x": null}], "u": "a\/b"}`,
			`{"tags":"journal","publish":false,"n":[1,{"x":null}],"u":"a/b"}`},
		{"halves of a character in JSON", `{"a": "\ud83d\ude00 \u00e9"}`, `{"a":"😀 é"}`},
		{"lines of another system", "a: 1\r\nb: |\r\n  x\r\n", `{"a":1,"b":"x\n"}`},
		{"a literal text at the end keeps its line end", "a: |\n  x", `{"a":"x\n"}`},
		{"variables of a template", "created: {{date}}\n{{title}}: x", `{"created":{"{ date }":null},"{ ? { title } }":"x"}`},
		{"a merge key is a key", "<<: {a: 1}", `{"<<":{"a":1}}`},
		{"anchors are followed", "a: &x [1]\nb: *x\n*x : 2", `{"a":[1],"b":[1],"*x":2}`},
		{"a key without end is written by its name", "? &a [*a]\n: 1", `{"[ *a ]":1}`},
		{"an alias as a key", "a: &x k\n*x : 2", `{"a":"k","k":2}`},
		{"an alias in a key", "a: &x k\n[*x, {b}]: 2", `{"a":"k","[ *x, { b } ]":2}`},
		{"dates are text", "a: 2024-01-05\nb: 2024-01-05T10:00:00Z", `{"a":"2024-01-05","b":"2024-01-05T10:00:00Z"}`},
		{"words are text", "a: yes\nb: No\nc: on\nd: 12:30:45\ne: 1_000", `{"a":"yes","b":"No","c":"on","d":"12:30:45","e":"1_000"}`},
		{"numbers", "a: 012\nb: 0o14\nc: 0x1F\nd: 1e3\ne: .5", `{"a":12,"b":12,"c":31,"d":1000,"e":0.5}`},
		{"control characters", "a: x\ab\nb: x\u0085\u2028\u2029y\nc: '\x7f'\n\u2028: \ufffe",
			"{\"a\":\"x\\u0007b\",\"b\":\"x\u0085\u2028\u2029y\",\"c\":\"\x7f\",\"\u2028\":\"\ufffe\"}"},
		{"broken UTF-8 is replaced", "a: x\xff", `{"a":"x\ufffd"}`},
		{"characters for private use stay, save those lent", "a: \U0010f141\U0010f041\U0010f001", "{\"a\":\"\U0010f141\U0010f041\\u0001\"}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := require.Value(Parse([]byte(test.block)))(t)
			want := strings.ReplaceAll(test.want, `\ufffd`, "\ufffd")
			assert.Equal(t, compact(Value{kind: Map, more: p}), want)
		})
	}
}

func TestLinesOfKeys(t *testing.T) {
	p, err := Parse([]byte("a: 1\n\nb:\n  - x\nc: 2"))
	require.NoError(t, err)
	require.Equal(t, len(p), 3)
	require.Equal(t, p[0].Line, 1)
	require.Equal(t, p[1].Line, 3)
	assert.Equal(t, p[2].Line, 5)
}
