package frontmatter

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func strs(elements ...string) Value {
	v := Value{kind: List}
	for _, e := range elements {
		v.more = append(v.List(), textValue(e))
	}
	return v
}

func num(f float64) Value { return Value{kind: Number, number: f} }

// What notes the edited ones are is in the corpus; here are values and keys that it does not have.
func TestSet(t *testing.T) {
	tests := []struct {
		name, text, key string
		value           Value
		want            string
	}{
		{"one that fits exactly goes first", "---\nStatus: a\nstatus: a\n---\n", "status", textValue("b"), "---\nStatus: a\nstatus: b\n---\n"},
		{"an empty list", "---\na: 1\n---\n", "a", Value{kind: List}, "---\na: []\n---\n"},
		{"null is nothing", "---\na: 1\n---\n", "a", Value{}, "---\na:\n---\n"},
		{"double quotes inside take single ones", "---\na: 1\n---\n", "a", textValue(`"x" y`), "---\na: '\"x\" y'\n---\n"},
		{"a key that needs quotes", "---\na: 1\n---\n", "# x", num(3), "---\na: 1\n\"# x\": 3\n---\n"},
		{"what is so already stays as it is written", "---\na: '1.50'\nb: [x,  y]\nc: 1.0\n---\n", "b", strs("x", "y"),
			"---\na: '1.50'\nb: [x,  y]\nc: 1.0\n---\n"},
		{"a number that is so already, too", "---\nc: 1.0\n---\n", "c", num(1), "---\nc: 1.0\n---\n"},
		{"a line of dashes within a text", "---\na: 1\n---\nx", "a", textValue("x\n---\ny"), "---\na: |-\n  x\n  ---\n  y\n---\nx"},
		{"the key of a template beside it", "---\ncreated: {{date}}\nb: 2\n---\n", "b", num(3), "---\ncreated: {{date}}\nb: 3\n---\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.text), tt.key, tt.value)
			require.NoError(t, err)
			assert.Equal(t, string(got), tt.want)
		})
	}
}

func TestWhatCannotBeSetIsRefused(t *testing.T) {
	tests := []struct {
		name, text, key string
		value           Value
		line            int
	}{
		{"JSON", "---\n{\"a\": 1}\n---\n", "a", num(2), 1},
		{"an anchor that is used", "---\na: &x 1\nb: *x\n---\n", "a", num(2), 1},
		{"a key behind the end of the document", "---\na: 1\n...\n---\n", "b", num(2), 0},
		{"two keys that are one", "---\n1: a\n\"1\": b\n---\n", "1", num(2), 1},
		{"a key without a name", "x", " ", num(2), 0},
		{"a key of two lines", "x", "a\nb", num(2), 0},
		{"broken UTF-8", "x", "a", textValue("\xff"), 0},
		{"broken UTF-8 in a list", "x", "a", strs("\xff"), 0},
		{"a broken key", "x", "\xff", num(1), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Set([]byte(tt.text), tt.key, tt.value)
			var refusal *Refusal
			require.That(t, errors.As(err, &refusal), "got %q, %v", got, err)
			require.Equal(t, refusal.Line, tt.line)
			require.That(t, refusal.Error() != "", "got %q, %v", got, err)
			assert.That(t, got == nil, "got %q, %v", got, err)
		})
	}
	for _, block := range []string{"a: [1", "a: 1\na: 2", "- x"} {
		_, err := Set([]byte("---\n"+block+"\n---\n"), "b", num(1))
		_, err2 := Remove([]byte("---\n"+block+"\n---\n"), "a")
		var malformed *Malformed
		require.That(t, errors.As(err, &malformed), "%q: %v, %v", block, err, err2)
		assert.That(t, errors.As(err2, &malformed), "%q: %v, %v", block, err, err2)
	}
}

func TestParseValue(t *testing.T) {
	tests := []struct {
		typed string
		as    Type
		want  string // as YAML after the key
	}{
		{"x", "text", " x\n"}, {"12", "text", " \"12\"\n"}, {"", "text", " \"\"\n"}, {"a\nb", "text", " |-\n  a\n  b\n"},
		{"a, b ,c", "list", "\n  - a\n  - b\n  - c\n"}, {"", "list", "\n  - \"\"\n"}, {"[]", "list", " []\n"},
		{"[[A]], [[B]]", "list", "\n  - \"[[A]]\"\n  - \"[[B]]\"\n"}, {`["a, b", "c"]`, "list", "\n  - a, b\n  - c\n"},
		{"1,2", "multitext", "\n  - \"1\"\n  - \"2\"\n"}, {"null", "list", "\n  - \"null\"\n"},
		{"12", "number", " 12\n"}, {" 1.50 ", "number", " 1.5\n"}, {"-1e3", "number", " -1000\n"}, {"007", "number", " 7\n"},
		{"true", "checkbox", " true\n"}, {"FALSE", "checkbox", " false\n"},
		{"2024-02-29", "date", " 2024-02-29\n"}, {"", "date", "\n"},
		{"2024-01-05T10:00", "datetime", " 2024-01-05T10:00\n"}, {"2024-01-05T10:00:30", "datetime", " 2024-01-05T10:00:30\n"},
		{"true", "", " true\n"}, {"12", "", " 12\n"}, {"-1.5", "", " -1.5\n"}, {"[]", "", " []\n"},
		{"007", "", " \"007\"\n"}, {"12345678901234567890", "", " \"12345678901234567890\"\n"}, {"True", "", " \"True\"\n"},
		{"a, b", "", " a, b\n"}, {"[a, b]", "", " \"[a, b]\"\n"}, {"2024-01-05", "", " 2024-01-05\n"}, {"", "", " \"\"\n"}, {"null", "", " \"null\"\n"},
	}
	for _, tt := range tests {
		v, err := ParseValue(tt.typed, tt.as)
		var w yamlWriter
		w.value(v, "")
		got := w.out.String()
		require.Equal(t, err, nil, "%q as %q", tt.typed, tt.as)
		assert.Equal(t, got, tt.want, "%q as %q", tt.typed, tt.as)
	}
	wrong := []struct {
		typed string
		as    Type
		want  string
	}{
		{"abc", "number", "Invalid number: abc"}, {"", "number", "Invalid number: "}, {".inf", "number", "Invalid number: .inf"},
		{"9007199254740993", "number", "Invalid number: 9007199254740993. It has more digits than the app can keep; use type=text"},
		{"yes", "checkbox", "Invalid checkbox: yes. Use true or false"},
		{"5.1.2024", "date", "Invalid date format. Use YYYY-MM-DD"}, {"2024-02-30", "date", "Invalid date format. Use YYYY-MM-DD"},
		{"2024-01-05", "datetime", "Invalid datetime format. Use YYYY-MM-DDTHH:mm:ss"},
		{"2024-01-05T10:00:00.5", "datetime", "Invalid datetime format. Use YYYY-MM-DDTHH:mm:ss"},
		{"x", "colour", "Invalid type: colour. Use text, list, number, checkbox, date or datetime"},
	}
	for _, tt := range wrong {
		_, err := ParseValue(tt.typed, tt.as)
		require.That(t, err != nil, "%q as %q: got %v, want %q", tt.typed, tt.as, err, tt.want)
		assert.Equal(t, err.Error(), tt.want, "%q as %q", tt.typed, tt.as)
	}
}

func TestRewriteLinks(t *testing.T) {
	change := func(_ string, l markdown.Link) string {
		if l.Path == "Old" {
			return "[[It's \"new\"" + l.Subpath + "]]"
		}
		return ""
	}
	tests := []struct{ name, block, want string }{
		{"in double quotes", "up: \"[[Old]]\" # c\n", "up: \"[[It's \\\"new\\\"]]\" # c\n"},
		{"in single quotes", "up: '[[Old#h]]'\n", "up: '[[It''s \"new\"#h]]'\n"},
		{"in lists", "é: [ \"é\", '[[Old]]' ]\nb:\n  - \"[[X]]\"\n  - \"[[Old]]\"\n",
			"é: [ \"é\", '[[It''s \"new\"]]' ]\nb:\n  - \"[[X]]\"\n  - \"[[It's \\\"new\\\"]]\"\n"},
		{"in a text of lines", "a: |-\n  [[Old]]\n", "a: |-\n  [[It's \"new\"]]\n"},
		{"an anchor and its use", "a: &x \"[[Old]]\"\nb: *x\n", "a: &x \"[[It's \\\"new\\\"]]\"\nb: *x\n"},
		{"a list in a list is none", "a: [[Old]]\n", "a: [[Old]]\n"},
		{"nested maps have none", "a:\n  b: \"[[Old]]\"\n", "a:\n  b: \"[[Old]]\"\n"},
		{"a text with more is none", "a: \"see [[Old]]\"\n", "a: \"see [[Old]]\"\n"},
		{"CRLF", "a: \"[[Old]]\"\r\nb: 1\r\n", "a: \"[[It's \\\"new\\\"]]\"\r\nb: 1\r\n"},
		{"malformed", "a: \"[[Old]]\"\na: 1\n", "a: \"[[Old]]\"\na: 1\n"},
	}
	for _, tt := range tests {
		got, _, left := RewriteLinks([]byte(tt.block), change)
		assert.Equal(t, string(got), tt.want, "%s: got %q, left %v", tt.name, got, left)
		assert.Equal(t, len(left), 0, "%s: got %q, left %v", tt.name, got, left)
	}
	block := "a: >-\n  [[Old#x\n  y]]\n"
	got, changed, left := RewriteLinks([]byte(block), change)
	require.Equal(t, string(got), block, "a folded link")
	require.Equal(t, changed, 0, "a folded link")
	require.Equal(t, len(left), 1, "a folded link")
	assert.Equal(t, left[0].Line, 1, "a folded link")
}

// setSound checks what is true for every note, key and value: the edit is refused
// or changes nothing but the property.
func setSound(t require.T, note []byte, key string, value Value) {
	before := bytes.Clone(note)
	edited, err := Set(note, key, value)
	require.That(t, bytes.Equal(note, before), "the note %q was modified", before)
	if err != nil {
		return
	}
	old, now := markdown.Scan(note), markdown.Scan(edited)
	p, _ := Parse(note[old.Frontmatter.Start:old.Frontmatter.End])
	q, err := Parse(edited[now.Frontmatter.Start:now.Frontmatter.End])
	got, found := q.Lookup(key)
	if err != nil || !found || !got.Value.Equal(value) {
		t.Fatalf("Set(%q, %q, %s) = %q", note, key, value.JSON(), edited)
	}
	for _, other := range p {
		kept, ok := q.Lookup(other.Key)
		if other.Key != got.Key && (!ok || !kept.Value.Equal(other.Value)) {
			t.Fatalf("Set(%q, %q) changed %q: %q", note, key, other.Key, edited)
		}
	}
	body := note[max(old.Body, len(note)-len(bytes.TrimPrefix(note, []byte("\ufeff")))):]
	require.That(t, bytes.Equal(edited[now.Body:], body), "Set(%q, %q) changed the body: %q", note, key, edited)
	again, err := Set(edited, key, value)
	require.Equal(t, err, nil, "Set(%q, %q) twice: %q, then %q", note, key, edited, again)
	require.That(t, bytes.Equal(again, edited), "Set(%q, %q) twice: %q, then %q, %v", note, key, edited, again, err)
	_, had := p.Lookup(key)
	removed, err := Remove(edited, key)
	require.That(t, err != nil || !bytes.Equal(removed, edited), "%q was set in %q and is not found", key, edited)
	empty := old.Body > 0 && len(bytes.TrimSpace(note[old.Frontmatter.Start:old.Frontmatter.End])) == 0
	if !had && !empty && (err != nil || !bytes.Equal(removed, note)) {
		t.Fatalf("Set and Remove of %q in %q: %q, then %q, %v", key, note, edited, removed, err)
	}
}

var drawnNote = rapid.Custom(func(t *rapid.T) string {
	line := rapid.SampledFrom([]string{
		"a: 1", "b: [x, 'y']", "c: |+", "  text", "d: \"two", "  # lines\"", "# comment", "", "e:", "- x", "  - \"[[L]]\"", "f: &x v", "g: *x",
		"\"q k\": 'it''s' # why", "A: x # y", "h: >-", "? k", ": v", "i: {m: 1}", "\xff: 1", "...", "\tx", "k: v\rl: w", "é: ü",
	})
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom")
	if rapid.IntRange(0, 9).Draw(t, "block") > 0 {
		for _, l := range append(append([]string{"---"}, rapid.SliceOfN(line, 0, 8).Draw(t, "lines")...), "---") {
			text += l + end
		}
	}
	return text + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"body", "---", "\n", "\r\n", "a: 1"}), 0, 5).Draw(t, "body"), "")
})

func TestSettingChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "A", "b", "c", "d", "e", "f", "i", "q k", "new", "k", "# odd: key", "é", "1"}).Draw(t, "key")
		value := rapid.SampledFrom([]Value{textValue("x"), textValue("1"), textValue("a\nb\n"), textValue("a\n\n"), textValue(" # x"),
			textValue("\n"), num(1), strs("p", "q: r"), {kind: List}, {}, {kind: Bool, truth: true}}).Draw(t, "value")
		setSound(t, []byte(drawnNote.Draw(t, "note")), key, value)
	})
}

func FuzzSet(f *testing.F) {
	for _, note := range []string{"", "x", "---\na: 1 # c\nb:\n  - x\n---\nbody",
		"---\na: |+\n  x\n\n# c\nb: \"x\n\n  y\"\n---", "\ufeff---\r\n? a\r\n: &x [1, *x]\r\n---\r\n",
		"---\na: &x 1\nb: *x\n---\n"} {
		f.Add([]byte(note), "a", "value\nof lines", "")
		f.Add([]byte(note), "b", "a, b", "list")
	}
	f.Fuzz(func(t *testing.T, note []byte, key, typed, as string) {
		value, err := ParseValue(typed, Type(as))
		if err != nil || len(note) > 1<<14 {
			return
		}
		setSound(t, note, key, value)
		found := markdown.Scan(note)
		edited, changed, left := RewriteLinks(note[found.Frontmatter.Start:found.Frontmatter.End],
			func(_ string, l markdown.Link) string { return "[[" + key + "]]" })
		require.That(t, changed != 0 || bytes.Equal(edited, note[found.Frontmatter.Start:found.Frontmatter.End]),
			"links of %q: %q, left %v", note, edited, left)
	})
}

// Several properties that are set together are written as if they were set one after the other.
func TestSettingSeveralIsSettingEach(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", "A", "b", "c", "d", "e", "q k", "new", "other", "k", "# odd: key", "é"})
	values := rapid.SampledFrom([]Value{textValue("x"), textValue("a\nb\n"), textValue(" # x"), num(1), strs("p", "q: r"), {kind: List}, {}})
	together := 0
	rapid.Check(t, func(t *rapid.T) {
		note := []byte(drawnNote.Draw(t, "note"))
		var all Properties
		for range rapid.IntRange(1, 4).Draw(t, "properties") {
			all = append(all, Property{Key: keys.Draw(t, "key"), Value: values.Draw(t, "value")})
		}
		want, failed := note, error(nil)
		for _, p := range all {
			if want, failed = Set(want, p.Key, p.Value); failed != nil {
				break
			}
		}
		got, err := SetAll(note, all)
		if _, ok := setTogether(note, all); ok && failed == nil {
			together++
		}
		require.Equal(t, err == nil, failed == nil, "%q, %+v", note, all)
		require.That(t, err != nil || bytes.Equal(got, want), "%q, %+v: %q, %v; want %q, %v", note, all, got, err, want, failed)
	})
	require.That(t, together > 0, "none are set together")
}

// A set of values has exactly those that are equal to one of its own.
func TestASetOfValuesHasWhatIsEqual(t *testing.T) {
	some := rapid.SampledFrom([]Value{
		{}, {text: "~"}, {kind: Bool}, {kind: Bool, truth: true}, num(0), num(math.Copysign(0, -1)), num(1),
		num(math.NaN()), num(math.Inf(1)), num(math.Inf(-1)),
		textValue(""), textValue("1"), textValue("\xff"), textValue("\xfe"), textValue("a,1:b"), strs(), strs("a"), strs("a", "b"),
		strs("a,1:b"), {kind: List, more: []Value{num(1)}}, {kind: List, more: []Value{strs("a")}},
		{kind: Map, more: Properties{{Key: "a", Value: num(1)}}}, {kind: Map, more: Properties{{Key: "a", Value: textValue("1")}}}, {kind: Map}, {kind: List},
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		set := Values{}
		set.Add(a)
		require.That(t, set.Has(b) == a.Equal(b), "%+v and %+v", a, b)
	})
}
