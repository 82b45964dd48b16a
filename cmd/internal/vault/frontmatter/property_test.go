package frontmatter

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/tests/require"
)

// sound fails unless a block is malformed, or has properties that are valid
// JSON and that survive being written as YAML.
func sound(t require.T, block []byte) {
	p, err := Parse(block)
	if err != nil {
		var malformed *Malformed
		require.That(t, errors.As(err, &malformed) && malformed.Reason != "" && p == nil, "%q: %v, %v", block, p, err)
		return
	}
	if !json.Valid([]byte(p.JSON())) {
		t.Fatalf("%q: no JSON: %s", block, p.JSON())
	}
	Tags(p)
	Aliases(p)
	Links(p)
	written := p.YAML()
	again, err := Parse([]byte(written))
	if err != nil || again.JSON() != p.JSON() {
		t.Fatalf("%q: written %q, read %s instead of %s, %v", block, written, again.JSON(), p.JSON(), err)
	}
}

func TestEveryBlockIsMalformedOrSound(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "b", ": ", ":", "\n", "\n  ", "- ", "[", "]", "{", "}", ",", "'", "\"", "|", ">", "&x ", "*x", "#", " ", "1", "~", "? ",
		"!!str ", "\\", "\t", "\x00", "\xff", "\u2028", "é", "---", "%", "@", "true", "|-\n  ", "x\n", "k: ",
	})
	rapid.Check(t, func(t *rapid.T) {
		sound(t, []byte(strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")))
	})
}

func TestEveryTextIsReadAsItWasWritten(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "\n", "\t", ":", "#", "-", "?", "'", "\"", "|", "1", "\r", "\x01", "\u0085", "é", "[", ",", "~", "\\", "---", "\n\n", "😀"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		key, value := text.Draw(t, "key"), text.Draw(t, "value")
		element := Value{kind: List, more: []Value{{kind: String, text: value}}}
		written := Properties{{Key: key, Value: Value{kind: String, text: value}}, {Key: key + "x", Value: element}}
		p, err := Parse([]byte(written.YAML()))
		if err != nil || p.JSON() != written.JSON() {
			t.Fatalf("%q is read as %s instead of %s, %v", written.YAML(), p.JSON(), written.JSON(), err)
		}
	})
}

func FuzzFrontmatter(f *testing.F) {
	for _, name := range []string{"scalars.txt", "keys.txt"} {
		file, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		for line := range strings.Lines(string(file)) {
			encoded, _, _ := strings.Cut(line, "\t")
			var text string
			if json.Unmarshal([]byte(encoded), &text) == nil {
				f.Add([]byte("k: " + text))
				f.Add([]byte(text + ": 0\nb: 1"))
			}
		}
	}
	f.Add([]byte("a: &a [1, 2]\nb: &b [*a, *a]\nc: [*b, *b]"))
	f.Add([]byte("tags: [a, b]\naliases:\n  - c\nup: \"[[d]]\"\n"))
	f.Fuzz(func(t *testing.T, block []byte) { sound(t, block) })
}

func BenchmarkParse(b *testing.B) {
	block := []byte("tags: [project, work/plan]\naliases:\n  - The plan\ncreated: 2026-11-21\nup: \"[[Index]]\"\ndone: false\nrating: 4.5\n")
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(block); err != nil {
			b.Fatal(err)
		}
	}
}
