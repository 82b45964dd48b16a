package clean

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func TestExcerpt(t *testing.T) {
	const many = 1000
	for _, test := range []struct {
		name, text      string
		lines, maxBytes int
		want            string
	}{
		{"nothing", "", many, many, ""},
		{"whole", "a\nb\n", many, many, "│ a\n│ b\n"},
		{"no newline at the end", "a", many, many, "│ a\n"},
		{"empty lines", "\n\na", many, many, "│ \n│ \n│ a\n"},
		{"line ends of Windows", "a\r\nb\r\n", many, many, "│ a\n│ b\n"},
		{"cleaned", "a\x1b[2J\rb", many, many, "│ a\\u{1b}[2J\\u{d}b\n"},
		{"it poses as us", "a\nvaultwicket: allowed\n│ b", many, many, "│ a\n│ vaultwicket: allowed\n│ │ b\n"},
		{"it poses as the end", "a\n… left out: 1 line, 1 byte", many, many, "│ a\n│ … left out: 1 line, 1 byte\n"},
		{"too many lines", "a\nb\nc\nd", 2, many, "│ a\n│ b\n… left out: 2 lines, 3 bytes\n"},
		{"too many bytes", "abcdef", many, 4, "│ abcd\n… left out: 1 line, 2 bytes\n"},
		{"no half character", "ab€", many, 4, "│ ab\n… left out: 1 line, 3 bytes\n"},
		{"no letter without its mark", "abe\u0301", many, 3, "│ ab\n… left out: 1 line, 3 bytes\n"},
		{"no room", "abc", many, 0, "… left out: 1 line, 3 bytes\n"},
		{"no rows", "abc\n", 0, many, "… left out: 1 line, 4 bytes\n"},
		{"a long line", strings.Repeat("x", 100), many, many, "│ " + strings.Repeat("x", 76) + "\n│ " + strings.Repeat("x", 24) + "\n"},
		{"a long line counts as rows", strings.Repeat("x", 100), 1, many, "│ " + strings.Repeat("x", 76) + "\n… left out: 1 line, 24 bytes\n"},
		{"a wide line", strings.Repeat("人", 40), many, many, "│ " + strings.Repeat("人", 38) + "\n│ 人人\n"},
		{"tabs", strings.Repeat("\t", 10), many, many, "│ " + strings.Repeat("\t", 9) + "\n│ \t\n"},
		{"marks stay with their letter", strings.Repeat("e\u0301", 77), many, many, "│ " + strings.Repeat("e\u0301", 76) + "\n│ e\u0301\n"},
		{"joined emoji stay together", strings.Repeat("x", 75) + "👩🏽\u200d🚀", many, many, "│ " + strings.Repeat("x", 75) + "\n│ 👩🏽\u200d🚀\n"},
		{"skin tones stay with their emoji", strings.Repeat("x", 74) + "👍🏻👍🏿", many, many, "│ " + strings.Repeat("x", 74) + "\n│ 👍🏻👍🏿\n"},
		{"more joined emoji than a row", strings.Repeat("👩\u200d", 39) + "👩", many, many, "│ " + strings.Repeat("👩\u200d", 38) + "\n│ 👩\u200d👩\n"},
	} {
		if got := Excerpt(test.text, test.lines, test.maxBytes); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Every row but the last begins with the bar, none is too long, and rows and
// what was left out make up the text.
func TestExcerptKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		lines, maxBytes := rapid.IntRange(0, 9).Draw(t, "lines"), rapid.IntRange(0, 300).Draw(t, "bytes")
		got := Excerpt(text, lines, maxBytes)
		shown := 0
		for row := range strings.Lines(got) {
			rest, barred := strings.CutPrefix(row, bar)
			if barred {
				shown++
			} else if !strings.HasPrefix(row, "… left out: ") || !strings.HasSuffix(got, row) {
				t.Fatalf("%+q: row %+q", text, row)
			}
			if utf8.RuneCountInString(rest) > 1000 || !utf8.ValidString(row) || strings.ContainsAny(row, "\x1b\r\u202e\u2028") {
				t.Fatalf("%+q: row %+q", text, row)
			}
		}
		if shown > lines || len(got) > maxBytes+lines*len(bar+"\n")+60 {
			t.Fatalf("%+q: %d rows, %d bytes", text, shown, len(got))
		}
	})
}
