package edit

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func TestKeepLineEnds(t *testing.T) {
	for _, test := range []struct {
		what, before, after, want string
		converted                 bool
	}{
		{"lines at the end", "a\r\nb", "a\r\nb\r\nx\ny", "a\r\nb\r\nx\r\ny", true},
		{"lines at the start", "a\r\nb", "x\ny\r\na\r\nb", "x\r\ny\r\na\r\nb", true},
		{"lines in between", "a\r\nb\r\n", "a\r\nx\ny\nb\r\n", "a\r\nx\r\ny\r\nb\r\n", true},
		{"in place of others", "a\r\nb\r\nc\r\n", "a\r\nx\ny\r\nc\r\n", "a\r\nx\r\ny\r\nc\r\n", true},
		{"a break of its own behind a CR of the note", "a\r\nb\r", "a\r\nb\r\nx\n", "a\r\nb\r\nx\r\n", true},
		{"lines that have CRLF", "a\r\n", "a\r\nx\r\ny\r\n", "a\r\nx\r\ny\r\n", false},
		{"nothing put in", "a\r\nb\r\n", "a\r\n", "a\r\n", false},
		{"a line with LF that was there", "a\r\nb\r\nc\n", "a\r\nb\r\nc\nx", "a\r\nb\r\nc\nx", false},
		{"a note with LF", "a\nb\n", "a\nb\nx\ny", "a\nb\nx\ny", false},
		{"a note of which half has CRLF", "a\r\nb\n", "a\r\nb\nx\ny", "a\r\nb\nx\ny", false},
		{"a note of one line", "a", "a\nx\ny", "a\nx\ny", false},
		{"an empty note", "", "x\ny", "x\ny", false},
	} {
		got, converted := KeepLineEnds([]byte(test.before), []byte(test.after))
		if string(got) != test.want || converted != test.converted {
			t.Errorf("%s: %q, %v, want %q", test.what, got, converted, test.want)
		}
	}
}

// What was there stays as it was, and what was put in differs in its line ends
// alone.
func TestKeepLineEndsTouchesWhatWasPutIn(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\n", "\r\n", "\r"}), 0, 8).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		first, rest, put := text.Draw(t, "first"), text.Draw(t, "rest"), text.Draw(t, "put")
		kept, converted := KeepLineEnds([]byte(first+rest), []byte(first+put+rest))
		if plain := strings.ReplaceAll(string(kept), "\r\n", "\n"); plain != strings.ReplaceAll(first+put+rest, "\r\n", "\n") {
			t.Fatalf("%q became %q", first+put+rest, kept)
		}
		if converted == bytes.Equal(kept, []byte(first+put+rest)) {
			t.Fatalf("%q became %q: converted %v", first+put+rest, kept, converted)
		}
		if again, more := KeepLineEnds([]byte(first+rest), kept); more || !bytes.Equal(again, kept) {
			t.Fatalf("%q becomes %q", kept, again)
		}
	})
}
