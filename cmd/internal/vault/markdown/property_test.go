package markdown

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
)

// pieces are what notes are drawn from: marks that open, close, hide and nest.
var pieces = []string{
	"[[", "]]", "[", "]", "(", ")", "|", "!", "#", "# ", "## ", "#tag", "`", "``", "```", "~~~", "$", "$$", "<!--", "-->", "%%",
	"\n", "\n", "\n\n", "    ", "\t", " ", "- ", "1. ", "- [ ] ", "- [x] ", "> ", "---", "===", "| ", "\\", "<", ">", "\"", "^id",
	"text", "a.md", "%20", "%C3", "é", "\xff", "\u3000", bom, "---\n", "https://e.org/", "<a href=",
}

func notes() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
	})
}

// sound fails if what was found does not lie where it is said to.
func sound(t require.T, text []byte) Note {
	n := Scan(text)
	lines := bytes.Count(text, []byte("\n")) + 1
	inside := func(what string, span Span, line int) {
		require.That(t, span.Start >= 0 && span.Start <= span.End && span.End <= len(text), "%q: %s is at %v", text, what, span)
		require.That(t, line >= 1 && line <= lines, "%q: %s on line %d", text, what, line)
	}
	inside("frontmatter", n.Frontmatter, n.BodyLine)
	for i, h := range n.Headings {
		inside("heading", n.Section(i), h.Line)
		require.That(t, !strings.Contains(h.Text, "\n") && h.Level >= 1 && h.Level <= 6, "%q: heading %+v", text, h)
	}
	for i, l := range n.Links {
		inside("link", l.Span, l.Line)
		require.That(t, l.Target != "" && l.Path+l.Subpath == l.Target, "%q: link %+v", text, l)
		require.That(t, i <= 0 || l.Span.Start >= n.Links[i-1].Span.Start, "%q: link %d is out of order", text, i)
		written := string(text[l.Span.Start:l.Span.End])
		require.That(t, strings.HasPrefix(written, "!") == l.Embed && strings.HasSuffix(written, ")") == (l.Style == Inline), "%q: link %+v is written %q", text, l, written)
	}
	for _, tag := range n.Tags {
		inside("tag", Span{tag.At, tag.At + len(tag.Text)}, tag.Line)
		require.That(t, string(text[tag.At:tag.At+len(tag.Text)]) == tag.Text, "%q: no tag %q at %d", text, tag.Text, tag.At)
		if name, ok := TagName(tag.Text); !ok || "#"+name != tag.Text {
			t.Fatalf("%q: tag %q is none", text, tag.Text)
		}
	}
	for _, task := range n.Tasks {
		inside("task", task.MarkAt, task.Line)
		if r, size := utf8.DecodeRune(text[task.MarkAt.Start:]); r != task.Mark || size != task.MarkAt.End-task.MarkAt.Start {
			t.Fatalf("%q: no mark %q at %v", text, task.Mark, task.MarkAt)
		}
	}
	for _, b := range n.Blocks {
		inside("block", b.Span, b.Line)
	}
	return n
}

func TestWhatIsFoundIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sound(t, []byte(notes().Draw(t, "note")))
	})
}

func TestALaterParagraphTakesNothingAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := notes().Draw(t, "note")
		before, after := outline(Scan([]byte(text))), outline(Scan([]byte(text+"\n\nunrelated\n")))
		require.That(t, before == after, "%q:\nbefore %s\n after %s", text, before, after)
	})
}

func TestLineEndsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := notes().Draw(t, "note")
		lf, crlf := outline(Scan([]byte(text))), outline(Scan([]byte(strings.ReplaceAll(text, "\n", "\r\n"))))
		require.That(t, lf == crlf, "%q:\n  lf %s\ncrlf %s", text, lf, crlf)
	})
}

func TestScanningTwiceFindsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(notes().Draw(t, "note"))
		kept := bytes.Clone(text)
		first := Scan(text)
		require.That(t, bytes.Equal(text, kept), "%q was changed to %q", kept, text)
		clear(text)
		second := Scan(kept)
		require.That(t, reflect.DeepEqual(first, second), "%q: %+v, then %+v", kept, first, second)
	})
}

func FuzzScan(f *testing.F) {
	for _, piece := range pieces {
		f.Add([]byte(piece))
		f.Add([]byte("a " + piece + " b\n" + piece + "c\n\n" + piece))
	}
	for _, hostile := range hostileTexts(200) {
		f.Add([]byte(hostile))
	}
	f.Add(realistic())
	f.Fuzz(func(t *testing.T, text []byte) {
		sound(t, text)
		looked := lookups(text)
		assert.That(t, looked <= maxLooked*(len(text)+1), "%d bytes were looked at %d times", len(text), looked)
	})
}

// One scanner finds in each note what another would that has seen none before.
func TestAScannerKeepsNothingOfTheNoteBefore(t *testing.T) {
	var shared Scanner
	texts := append(hostileTexts(20), string(realistic()), "", "---\na: b\n---\n", "# A\n[[b]] #c ^d\n- [ ] e\n", "x")
	for round := range 2 {
		for i, text := range texts {
			if i%3 == round {
				continue // another order of neighbours
			}
			if got, want := shared.Scan([]byte(text)), Scan([]byte(text)); !reflect.DeepEqual(got, want) {
				t.Fatalf("%.60q: %+v, want %+v", text, got, want)
			}
		}
	}
}
