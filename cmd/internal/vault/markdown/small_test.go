package markdown

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/tests/require"
)

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
			if got, ok := TagName(test.text); ok != test.ok || ok && got != test.want {
				t.Errorf("TagName(%q) = %q, %v", test.text, got, ok)
			}
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
