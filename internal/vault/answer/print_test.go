package answer

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestPrintEndsTheLastLineOnce(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a\n", "a\n": "a\n", "a\n\n": "a\n\n", "\n": "\n", "a\r": "a\r\n"} {
		var out bytes.Buffer
		said := Text(words(text))
		status := said.Print(&out)
		assert.Equal(t, status, ExitDone, "%q: %q, want %q", text, &out, want)
		assert.Equal(t, out.String(), want, "%q: %q", text, &out)
	}
}

func TestDigest(t *testing.T) {
	for text, want := range map[string]string{"": "e3b0c44298fc1c14", "text": "982d9e3eb996f559"} {
		assert.Equal(t, Digest([]byte(text)), want, "digest(%q) =", text)
	}
}

// encoded is what the standard library writes.
func encoded(t *rapid.T, s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	require.NoError(t, encoder.Encode(s))
	return strings.TrimSuffix(out.String(), "\n")
}

func TestEachCharacterIsQuotedAsByTheLibrary(t *testing.T) {
	every := []string{ // too long for their characters, halves of pairs, and beyond the last character
		"\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe0\x9f\xbf", "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
		"\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
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
			got := QuoteJSON(text) + "\n"
			require.That(t, got == want.String(), "%q is written as %s, want %s", text, got, &want)
		}
	}
}

func TestWithoutAFolderThereIsNoText(t *testing.T) {
	table := Table{Columns: []string{"a"}, Rows: [][]string{{"b"}}}
	for _, said := range []Reply{
		From(nil, "a"), Text("a").Saying(nil, "b"), FromNote(nil, disk.Path{}, nil, "a"), table.Reply(nil, FormatTSV), table.Reply(nil, FormatJSON),
		Rows(nil, 1, func(b []byte, _ int) []byte { return append(b, 'a') }), Judged(guard.Judged{}),
	} {
		var out bytes.Buffer
		said.Print(&out)
		assert.Equal(t, out.String(), "")
	}
	var out bytes.Buffer
	said := From(&disk.Folder{}, "a")
	said.Print(&out)
	assert.Equal(t, out.String(), "a\n")
}
