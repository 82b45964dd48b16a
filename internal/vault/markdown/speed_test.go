package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// maxLooked is how often a byte may be looked at in addition to the one pass. Most of
// it comes from the depth of containers, each of which looks at its line.
const maxLooked = 2 * maxDepth

func lookups(text []byte) int {
	s := scanner{text: text}
	s.scan()
	return s.reread
}

// hostileTexts are n repetitions of what makes careless scanners slow.
func hostileTexts(n int) []string {
	units := []string{
		"[[", "[", "![", "[[a", "[a](", "[a](b", "[a](<", "[a](b \"", "[a](b '", "[](a(", "]", "[[a|", "![a", "[a](b)(",
		"`", "` ``", "```a ", "`a``b```c", "$", "$a", "$$", "$$a", "$a $$", "\\$", "$\\", "<!--", "<!-- -", "<!--\n", "<a", "<a ", "<a \"", "<a '\"", "<a:",
		"%%", "%%\n", "%% a\n", "#", "#a", "#a/", "\\", "\\[", ">", "> ", "- ", "-\t", "1. ", "* ", "- [ ] ", "\t", " ", "\n", "- \n", "> \n",
		"- a\n", "  - a\n", "a\n===\n", "---\n", "- - - - - a\n", "|", "| a |\n", "^a ", "```\n", "~~~\n", "$$\n", "a\n", "a `\n", "a $b\n", "a <!--\n",
		"[a\n", "é", "\xff", "#\u3000", "\r\n", "\r", "<a x=\"\" ", "![[a", "[[a]] [", "[![", "`` ` ", "(", "[](",
		"[a\n](b) ", "[a\nb](c)\n", "![a\n](b)\n", "$$$a ", "<!-->", "[a `\n](b)`", "a\\\n$b\n", "[x](a \"(",
	}
	var out []string
	for _, unit := range units {
		out = append(out, strings.Repeat(unit, n))
		// A first paragraph, a quote and an item full of them.
		out = append(out, "a "+strings.Repeat(unit, n), "> "+strings.Repeat(unit, n), "- "+strings.Repeat(unit, n))
	}
	definitions := strings.Repeat("[a]: b\n", n)
	out = append(out, definitions+strings.Repeat("[[c]] ", n), strings.Repeat("![", n)+"a"+strings.Repeat("](b)", n))
	deep := strings.Repeat("- ", n)
	return append(out, deep+strings.Repeat("\n", n), deep+"a\n"+strings.Repeat(" ", n)+"\n"+strings.Repeat("\n b", n),
		"a `"+strings.Repeat("``", n)+strings.Repeat(" `", n), "a \""+strings.Repeat("[a](b '", n), strings.Repeat("<a x='<b y=\"", n))
}

// TestTimeGrowsWithTheText doubles texts and counts what was looked at: neither
// more than a multiple of the text, nor growing faster than it.
func TestTimeGrowsWithTheText(t *testing.T) {
	const size = 2000
	single, double := hostileTexts(size), hostileTexts(2*size)
	for i, text := range single {
		once, twice := lookups([]byte(text)), lookups([]byte(double[i]))
		name := text[:min(12, len(text))]
		if limit := maxLooked * len(double[i]); twice > limit {
			t.Errorf("%q: %d bytes were looked at %d times", name, len(double[i]), twice)
		}
		assert.That(t, twice <= 2*once+maxLooked*maxDepth*maxDepth, "%q: twice the text was looked at %d times instead of %d", name, twice, once)
	}
}

func TestPlainLinesAllocateNothing(t *testing.T) {
	plain := func(lines int) []byte {
		return []byte(strings.Repeat("An ordinary line of a note, with (brackets), 100% and a *word*.\n\n- an item\n> a quote\n\n", lines))
	}
	one, many := plain(1), plain(1000)
	allocations := func(text []byte) float64 { return testing.AllocsPerRun(10, func() { Scan(text) }) }
	a, b := allocations(one), allocations(many)
	assert.That(t, a == b, "%v allocations for a few lines, %v for many", a, b)
}

// realistic returns a note as people write them, of about 100 kB.
func realistic() []byte {
	var out bytes.Buffer
	out.WriteString("---\ntags: [project, work/plan]\naliases:\n  - The plan\ncreated: 2026-11-21\n---\n# The plan\n\n")
	for n := range 60 {
		fmt.Fprintf(&out, "## Section %d about [[Some note %d|the note]]\n\n", n, n)
		for range 6 {
			out.WriteString("People write paragraphs of some length in their notes, usually on one long line, because the editor wraps it for them. " +
				"Now and then there is a *word* in italics or **two bold ones**, a link to [[Another note#Its heading]] or a tag, but most of the text is plain. " +
				"Numbers like 42 and prices like $5 occur (as do brackets), and sometimes `code`.\n\n")
		}
		fmt.Fprintf(&out,
			"- an item that says little\n- another, with a [link](https://example.org/page?x=%d#there) to the web\n\t- [ ] something to do #todo/soon 📅 2026-11-%02d\n\t- [x] something done\n\n",
			n, n%28+1)
		out.WriteString("> [!note] A callout\n> that says something over two lines,\n> and ![[image.png|300]] shows it.\n\n")
		out.WriteString("| Name | Value |\n| ---- | ----- |\n| one  | 1     |\n| two  | 2     |\n\n```go\nfunc main() {\n\tfmt.Println(\"#not a tag\", [[1]])\n}\n```\n\n")
	}
	return out.Bytes()
}

func TestCopiesStayWhatTheyAre(t *testing.T) {
	var a Arena
	var got, want []string
	for i := range 5000 {
		text := fmt.Sprint(i, strings.Repeat("x", i%97))
		if i%1000 == 500 {
			text += strings.Repeat("long", pieceSize)
		}
		buf := []byte(text)
		got, want = append(got, a.Copy(buf)), append(want, text)
		clear(buf)
	}
	for i := range want {
		require.Equal(t, got[i], want[i], "copy %d", i)
	}
	assert.That(t, a.Copy(nil) == "", "a copy of nothing is something")
}

func TestFewPiecesAreUsed(t *testing.T) {
	text := make([]byte, pieceSize/100)
	if pieces := testing.AllocsPerRun(5, func() {
		var a Arena
		for range 1000 {
			a.Copy(text)
		}
	}); pieces > 12 {
		t.Errorf("%v pieces for the texts of ten", pieces)
	}
}
