package answer

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

// encoded is what the standard library writes.
func encoded(t *rapid.T, s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		t.Fatal(err)
	}
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
	var every []string
	for r := range rune(0x3000) {
		every = append(every, string(r))
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
			if err := encoder.Encode(text); err != nil {
				t.Fatal(err)
			}
			if got := QuoteJSON(text) + "\n"; got != want.String() {
				t.Fatalf("%q is written as %s, want %s", text, got, &want)
			}
		}
	}
}
