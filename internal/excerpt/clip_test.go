package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"empty", "", 3, ""},
		{"shorter than the limit", "ab", 3, "ab"},
		{"exactly the limit", "abc", 3, "abc"},
		{"one byte over the limit", "abcd", 3, "abc…"},
		{"two bytes at the limit", "abé", 3, "ab…"},
		{"two bytes that end at the limit", "aéx", 3, "aé…"},
		{"three bytes at the limit", "a€x", 3, "a…"},
		{"four bytes at the limit", "😀x", 3, "…"},
		{"four bytes that end at the limit", "😀x", 4, "😀…"},
		{"limit zero", "abc", 0, "…"},
		{"negative limit", "abc", -1, "…"},
	} {
		assert.Equal(t, Clip(tt.text, tt.limit), tt.want, "%s", tt.name)
	}
}

func TestClipKeepsCharactersWhole(t *testing.T) {
	for _, character := range []string{"x", "é", "€", "😀"} {
		text := strings.Repeat(character, 100)
		for limit := range len(text) {
			got := Clip(text, limit)
			body, cut := strings.CutSuffix(got, "…")
			if !utf8.ValidString(got) || !cut || len(body) > limit || len(body)+len(character) <= limit || !strings.HasPrefix(text, body) {
				t.Fatalf("%q at %d: %q", character, limit, got)
			}
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("aé€😀", 3)
	f.Add("\xff\xfe\x80", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got := Clip(text, limit)
		if got != text {
			body, isMarked := strings.CutSuffix(got, "…")
			require.That(t, isMarked, "%q at %d: %q", text, limit, got)
			require.That(t, len(body) <= max(limit, 0), "%q at %d: %q", text, limit, got)
			require.HasPrefix(t, text, body, "at %d: %q", limit, got)
		}
		require.That(t, !utf8.ValidString(text) || utf8.ValidString(got), "%q at %d: %q is not valid UTF-8", text, limit, got)
	})
}

// A name with a blank that is none of ASCII, as macOS gives to pictures of the screen, can be sent back as
// it is printed. What shows nothing is escaped.
func TestQuotedKeepsBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"a b":                       `"a b"`,
		"Shot 10.30\u202fAM":        "\"Shot 10.30\u202fAM\"",
		"a\u00a0b\u3000c":           "\"a\u00a0b\u3000c\"",
		"a\u200bb \u202e\n\"\u202f": "\"a\\u200bb \\u202e\\n\\\"\u202f\"",
		"\xff\u202f":                "\"\\xff\u202f\"",
	} {
		if got := Quoted(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
