package command

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
)

// encoded is what the standard library writes.
func encoded(t *rapid.T, s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(s))
	return strings.TrimSuffix(out.String(), "\n")
}

func TestTextsAreQuotedAsByTheLibrary(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", "\"", "\\", "/", "<&>", "\n", "\t", "\x00", "\x1f", "\x7f", "\u0080", "é", "日本", "\u2027", "\u2028", "\u2029", "\u202a", "\ufeff", "\ufffd", "😀", "\xff", "\xe2\x80", "\xed\xa0\x80"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
		if got, want := QuoteJSON(text), encoded(t, text); got != want {
			t.Fatalf("%q is written as %s, want %s", text, got, want)
		}
	})
}

func TestEachCharacterIsQuotedAsByTheLibrary(t *testing.T) {
	every := []string{ // too long for their characters, halves of pairs, and beyond the last character
		"\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe0\x9f\xbf", "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"\xf8\x88\x80\x80\x80", "\xf0\x90\x80\x80", "\xf3\xbf\xbf\xbf", "\xf4\x8f\xbf\xbf",
	}
	for r := range rune(0x3000) {
		every = append(every, string(r))
	}
	for r := rune(0x3000); r <= utf8.MaxRune; r += 61 {
		whole := string(r)
		every = append(every, whole, whole[:len(whole)-1], whole[:2]+"\xff"+whole[2:])
	}
	for first := range 256 {
		for second := range 256 {
			every = append(every, string([]byte{byte(first), byte(second)}))
		}
	}
	for _, text := range every {
		for _, text := range []string{text, "1234567" + text + "90"} {
			var want bytes.Buffer
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			require.NoError(t, encoder.Encode(text))
			if got := QuoteJSON(text) + "\n"; got != want.String() {
				t.Fatalf("%q is written as %s, want %s", text, got, &want)
			}
		}
	}
}
