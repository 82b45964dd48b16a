package markdown

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
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
		require.That(t, span.Start >= 0, "%q: %s is at %v", text, what, span)
		require.That(t, span.Start <= span.End, "%q: %s is at %v", text, what, span)
		require.That(t, span.End <= len(text), "%q: %s is at %v", text, what, span)
		require.That(t, line >= 1, "%q: %s on line %d", text, what, line)
		require.That(t, line <= lines, "%q: %s on line %d", text, what, line)
	}
	inside("frontmatter", n.Frontmatter, n.BodyLine)
	for i, h := range n.Headings {
		inside("heading", n.Section(i), h.Line)
		require.That(t, !strings.Contains(h.Text, "\n"), "%q: heading %+v", text, h)
		require.That(t, h.Level >= 1, "%q: heading %+v", text, h)
		require.That(t, h.Level <= 6, "%q: heading %+v", text, h)
	}
	for i, l := range n.Links {
		inside("link", l.Span, l.Line)
		require.That(t, l.Target != "", "%q: link %+v", text, l)
		require.Equal(t, l.Path+l.Subpath, l.Target, "%q: link %+v", text, l)
		require.That(t, i <= 0 || l.Span.Start >= n.Links[i-1].Span.Start, "%q: link %d is out of order", text, i)
		written := string(text[l.Span.Start:l.Span.End])
		require.Equal(t, strings.HasPrefix(written, "!"), l.Embed, "%q: link %+v is written %q", text, l, written)
		require.Equal(t, strings.HasSuffix(written, ")"), l.Style == Inline, "%q: link %+v is written %q", text, l, written)
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
	rapid.Check(t, func(t *rapid.T) { sound(t, []byte(notes().Draw(t, "note"))) })
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
			got, want := shared.Scan([]byte(text)), Scan([]byte(text))
			require.That(t, reflect.DeepEqual(got, want), "%.60q: %+v, want %+v", text, got, want)
		}
	}
}

func TestWordCount(t *testing.T) {
	tests := []struct {
		name, body        string
		words, characters int
	}{
		{"nothing", "", 0, 0},
		{"blanks", " \n\t", 0, 3},
		{"words", "one two\nthree", 3, 13},
		{"apostrophes and dashes belong to a word", "it's don’t well-known", 3, 21},
		{"a lone dash counts", "a - b", 3, 5},
		{"a list mark counts, a star does not", "- a\n* b", 3, 7},
		{"numbers", "1,000.50 3.14 1. 2,x", 5, 20},
		{"letters and numbers make one word", "v1.2beta", 1, 8},
		{"a dot between letters parts words", "a.b", 2, 3},
		{"a colon parts numbers", "10:30", 2, 5},
		{"a low line and a slash part words", "a_b c/d", 4, 7},
		{"ideographs count one by one", "漢字かな", 4, 4},
		{"long vowels too", "カー", 2, 2},
		{"ideographs part words", "a漢b", 3, 3},
		{"other scripts count by run", "привет мир 한국어 λόγος", 4, 20},
		{"a combining accent goes on", "cafe\u0301s", 1, 6},
		{"a combining accent begins nothing", "\u0301", 0, 1},
		{"characters outside the first plane are two", "😀", 0, 2},
		{"broken UTF-8 is one each", "a\xff\xfeb", 2, 4},
		{"line ends of another system are two", "a\r\nb", 2, 4},
		{"a byte order mark does not count", bom + "a", 1, 1},
		{"marks are no words", "# **a** [[b|c]]", 3, 15},
		{"a number at the end", "1.", 1, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			words, characters := WordCount([]byte(test.body))
			if words != test.words || characters != test.characters {
				t.Errorf("%q: %d words, %d characters; want %d, %d", test.body, words, characters, test.words, test.characters)
			}
		})
	}
}

func TestParseLink(t *testing.T) {
	tests := []struct {
		name, text, target, display string
		ok                          bool
	}{
		{"a wikilink", "[[a]]", "a", "", true},
		{"with a display text", "[[a#b|c]]", "a#b", "c", true},
		{"an inline link", "[c](a%20b.md)", "a b.md", "c", true},
		{"an embed is none", "![[a]]", "", "", false},
		{"text in front", "x [[a]]", "", "", false},
		{"text behind", "[[a]] x", "", "", false},
		{"two links", "[[a]] [[b]]", "", "", false},
		{"brackets that are no link", "[[]] [a]", "", "", false},
		{"an address", "[a](https://example.org)", "", "", false},
		{"two lines", "[a\nb](c)", "", "", false},
		{"too short", "[[a", "", "", false},
		{"nothing", "", "", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link, ok := ParseLink(test.text)
			if ok != test.ok || ok && (link.Target != test.target || link.Display != test.display) {
				t.Errorf("ParseLink(%q) = %+v, %v", test.text, link, ok)
			}
		})
	}
}

func TestTagName(t *testing.T) {
	tests := []struct {
		name, text, want string
		ok               bool
	}{
		{"with its mark", "#a/b", "a/b", true},
		{"without", "a", "a", true},
		{"a trailing slash goes", "a/", "a", true},
		{"a number is none", "2024", "", false},
		{"two words are none", "a b", "", false},
		{"a comma is none", "a, b", "", false},
		{"two marks are none", "##a", "", false},
		{"nothing is none", "", "", false},
		{"the mark alone is none", "#", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := TagName(test.text)
			assert.Equal(t, ok, test.ok, "TagName(%q) = %q", test.text, got)
			assert.That(t, !ok || got == test.want, "TagName(%q) = %q, %v", test.text, got, ok)
		})
	}
}

func TestTheNextSpecialByte(t *testing.T) {
	check := func(t require.T, text []byte, at, end int) {
		want := at
		for want < end && !special[text[want]] {
			want++
		}
		require.Equal(t, nextSpecial(text, at, end), want, "%q from %d to %d", text, at, end)
	}
	for b := range 256 {
		for neighbour := range 256 {
			text := bytes.Repeat([]byte{byte(neighbour)}, 24)
			text[11] = byte(b)
			check(t, text, 3, len(text))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("ab ^_XYZ\x80\xff[]"))), 0, 40).Draw(t, "text")
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		check(t, text, at, rapid.IntRange(at, len(text)).Draw(t, "end"))
	})
}
