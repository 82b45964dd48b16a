package frontmatter

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// parser reads all blocks of these tests: nothing of one may be in the next.
var parser Parser

// agrees fails if a block that is read as a simple one is another one to the library. It
// reports whether it was.
func agrees(t require.T, block []byte) bool {
	got, ok := parser.simple(block)
	if !ok {
		return false
	}
	value, _, err := readBlock(block, builder{nodes: maxNodes})
	require.That(t, err == nil, "%q is read as %v, and malformed to the library: %v", block, got, err)
	want := value.Fields()
	require.That(t, fmt.Sprintf("%#v", got) == fmt.Sprintf("%#v", want) || len(got)+len(want) == 0,
		"%q is read as\n%#v\nand by the library as\n%#v", block, got, want)
	return true
}

func TestSimpleBlocks(t *testing.T) {
	for _, block := range []string{
		"", "\n\n", "a: b\n", "a: b", "a:\n", "a:\nb: 1\n\nc: 2.50\n", "status: in progress\ncreated: 2026-11-20\n", "due: 2026-11-20T10:00\n",
		"tags: [a, b/c, 日本]\n", "tags: []\nx: y\n", "tags:\n- a\n- b\n", "tags:\n  - a\n  - \"[[b]]\"\n\n  - 'c: d'\nx: true\n",
		"up: \"[[A#b|c]]\"\n", "a: 'it is'\n", "url: https://example.org/a#b?c=d\n", "a: b:c d\n",
		"größe: 1\r\nname: x\r\nlist:\r\n  - a\r\n", "a b: c\n", "rating: -3\nbig: 0x1F\nyes: yes\nno: null\n",
		"a: (b), c\n", "a: .5\nb: +1\nc: .nan\n", "tags: [a, \"b c\", 'd', 1, true]\n",
		"# comment\na: b\n", "a: b # comment\n", "a: |\n  x\n", "a: |\n  x: y\n   z # no comment\n\n  last\n\n\nb: c\n",
		"a: |\r\n  x\r\n", "a: |\n    x", "a: {b: c, d e: 12}\n", "up: [[A note]]\n", "a: [b, [c]]\n",
		"a: [\"#b\", '[[c]]']\n",
		"a:\n# between\n- b\n",
	} {
		assert.That(t, agrees(t, []byte(block)), "%q is left to the library", block)
	}
}

func TestBlocksForTheLibrary(t *testing.T) {
	for _, block := range []string{
		"a: b\na: c\n", "a: >\n  x\n", "a: b\n  c\n", "a:\n  b: c\n", "a: [b\n  , c]\n",
		"a: &x b\n", "a: *x\n", "a: !!str 1\n", "a: \"b\\n\"\n", "a: 'it''s'\n", "a: \"b\" c\n", "- a\n- b\n",
		"a: - b\n", "a:\n- - b\n", "a:\n- b: c\n", "a:\n-\n", "a:\n  - b\n - c\n", "a:\n  - b\n    c\n",
		"a: b: c\n", "a: b:\n", "a: @b\n", "a: `b\n", "a: %b\n", "a\n", "a b\n", ": b\n", "? a\n: b\n", "---\na: b\n",
		"...\n", "\ta: b\n", "a:\tb\n", "a: b\tc\n", "a: \x01\n", "a: \xff\n", "a: \u2028\n", "a: \ufeff\n",
		"true: 1\n", "null: 1\n", "~: 1\n", "1: 2\n", "a : b\n", "\"a\": b\n", "a: [b: c]\n", "a: [b,]\n", "a: [,]\n",
		"a: [b, , c]\n", " a: b\n", "a: b\n- c\n", "a: \U0010f001\n", "a: b\rc: d\n", "a:b\n", "a: [b] c\n",
		"a: ]\n",
		"a: |\nb: c\n", "a: |\n\n  b\n", "a: |\n  b\n c\n", "a: |\n  b\n  \n", "a: |-\n  b\n", "a: | # x\n  b\n",
		"a: {}\n", "a: {b: c, b: d}\n", "a: {b}\n", "a: {b: c\n", "a: {b: [c]}\n", "a: [[b, c]]\n", "a: [[[b]]]\n",
		"a: [[]]\n", "a: # x\n",
		"a: [\n", "a: '\n", "a: \"\n", "  \n", "a:\n  \n", "a: ?b\n", "a: ---\n", "---\n", "a: \"x\" # y\n", "a #b: c\n", "a: [#b]\n",
	} {
		_, ok := parser.simple([]byte(block))
		assert.That(t, !ok, "%q is not left to the library", block)
	}
	_, ok := parser.simple([]byte("a: " + strings.Repeat("x", maxSimple)))
	assert.That(t, !ok, "a long block is not left to the library")
}

func TestSimpleBlocksAgreeOnTheCorpus(t *testing.T) {
	blocks, read := 0, 0
	for _, c := range readCorpus(t) {
		var note strings.Builder
		for _, line := range c.lines {
			note.WriteString(line.text + line.comment + line.end)
		}
		text := []byte(note.String())
		for _, end := range []string{"\n", "\r\n"} {
			block := markdown.Scan(text).Frontmatter
			blocks++
			if agrees(t, []byte(strings.ReplaceAll(string(text[block.Start:block.End]), "\n", end))) {
				read++
			}
		}
	}
	for _, name := range []string{"scalars", "keys", "written"} {
		for line := range strings.Lines(string(require.Value(os.ReadFile("testdata/" + name + ".txt"))(t))) {
			for _, block := range []string{line, "a: " + line, "a:\n- " + line,
				"a: [" + strings.TrimSuffix(line, "\n") + "]\n", strings.ReplaceAll(line, "\\n", "\n")} {
				blocks++
				if agrees(t, []byte(block)) {
					read++
				}
			}
		}
	}
	assert.That(t, read >= 100, "%d of %d blocks are simple: the corpus shows nothing", read, blocks)
	assert.That(t, blocks-read >= 100, "%d of %d blocks are simple: the corpus shows nothing", read, blocks)
}

// lines are what random blocks are made of: simple ones, and those that look so.
var lines = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"a", "b", "key", "true", "null", "1", "-1", "0x1f", "1.5", "2026-11-20", "é", "日本", " ", "  ", ": ", ":", "- ",
		"-", "[", "]", ", ", ",", "'", "\"", "#", " #", "|", ">", "&", "*", "!", "?", "? ",
		"%", "@", "`", "{", "}", "\\", "~", "=", "<<", "...", "---", "/", "(", ".", "+", "_", "\u00a0", "\u0301", "😀",
		"\t", "\r", "[[x]]", "https://x.y/z#a", "10:30", "e5", "\u0085", "\ue000",
	})
	value := strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "value"), "")
	key := rapid.SampledFrom([]string{"a", "b", "tags", "aliases", "due date", "größe", "x.y", "n-1", "y"}).Draw(t, "key")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		return key + ": " + value
	case 3:
		return key + ":"
	case 4, 5:
		return rapid.SampledFrom([]string{"", " ", "  ", "  ", "    "}).Draw(t, "indent") + "- " + value
	case 6:
		return key + rapid.SampledFrom([]string{": [", ": [[", ": [\"", ": {a: ", ": {"}).Draw(t,
			"open") + value + ", " + value + rapid.SampledFrom([]string{"]", "]]", "\"]", "}"}).Draw(t, "close")
	case 7:
		return key + ": |\n" + rapid.SampledFrom([]string{"  ", "", " "}).Draw(t,
			"first") + value + "\n" + rapid.SampledFrom([]string{"  ", "", "    "}).Draw(t, "second") + key
	case 8:
		return "# " + value
	}
	return value
})

func TestSimpleBlocksAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end")
		block := strings.Join(rapid.SliceOfN(lines, 0, 6).Draw(t, "lines"), end)
		if rapid.Bool().Draw(t, "ended") {
			block += end
		}
		agrees(t, []byte(block))
	})
}

func FuzzSimple(f *testing.F) {
	for _, seed := range []string{"a: b\ntags:\n  - x\n  - \"y\"\n", "a: [b, 'c']\r\nd: -1.5e3\r\n",
		"a:\n- b\n\n- c\nd: e:f #g\n", "x: https://a.b/#c\nn: ~\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, block []byte) { agrees(t, block) })
}
