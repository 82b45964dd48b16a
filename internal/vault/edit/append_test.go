package edit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"

	"pgregory.net/rapid"
)

func TestAppend(t *testing.T) {
	tests := []struct {
		name, text, content string
		joint               Joint
		want                string
	}{
		{"a line break is added where one is missing", "old", "new", OwnLine, "old\nnew"},
		{"no blank line appears where there is one", "old\n", "new", OwnLine, "old\nnew"},
		{"a blank line that is there stays", "old\n\n", "new", OwnLine, "old\n\nnew"},
		{"nothing is put before the first text", "", "new", OwnLine, "new"},
		{"a byte order mark alone is no text", bom, "new", OwnLine, bom + "new"},
		{"the break is that of the note", "a\r\nb", "new", OwnLine, "a\r\nb\r\nnew"},
		{"content is not converted", "a\r\nb", "x\ny", OwnLine, "a\r\nb\r\nx\ny"},
		{"inline joins the last line", "old", "new", Inline, "oldnew"},
		{"inline behind a line break stays there", "old\n", "new", Inline, "old\nnew"},
		{"the fence of the properties is not grown into", "---\na: 1\n---", "new", Inline, "---\na: 1\n---\nnew"},
		{"broken UTF-8 is kept", "\xff\xfe", "new", OwnLine, "\xff\xfe\nnew"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, string(Append([]byte(test.text), test.content, test.joint)), test.want)
		})
	}
}

func TestPrepend(t *testing.T) {
	tests := []struct {
		name, text, content string
		joint               Joint
		want                string
	}{
		{"a note without properties", "old", "new", OwnLine, "new\nold"},
		{"an empty note", "", "new", OwnLine, "new\n"},
		{"behind the properties", "---\na: 1\n---\nold", "new", OwnLine, "---\na: 1\n---\nnew\nold"},
		{"behind empty properties", "---\n---\nold", "new", OwnLine, "---\n---\nnew\nold"},
		{"a break follows even content that ends in one", "old", "new\n", OwnLine, "new\n\nold"},
		{"inline adds no break", "old", "new ", Inline, "new old"},
		{"properties without a final line break", "---\na: 1\n---", "new", OwnLine, "---\na: 1\n---\nnew\n"},
		{"inline too stays out of the fence", "---\na: 1\n---", "new", Inline, "---\na: 1\n---\nnew"},
		{"lines of another system", "---\r\na: 1\r\n---\r\nold\r\n", "new", OwnLine, "---\r\na: 1\r\n---\r\nnew\r\nold\r\n"},
		{"behind a byte order mark", bom + "old", "new", OwnLine, bom + "new\nold"},
		{"behind a byte order mark and properties", bom + "---\na: 1\n---\nold", "new", OwnLine, bom + "---\na: 1\n---\nnew\nold"},
		{"an unclosed block is body", "---\na: 1\nold", "new", OwnLine, "new\n---\na: 1\nold"},
		{"a block below the first line is body", "\n---\na: 1\n---\n", "new", OwnLine, "new\n\n---\na: 1\n---\n"},
		{"four dashes are no fence", "----\na\n----\n", "new", OwnLine, "new\n----\na\n----\n"},
		{"dashes inside a value do not close", "---\na: x---\n---\nold", "new", OwnLine, "---\na: x---\n---\nnew\nold"},
		{"blanks behind the dashes are forgiven", "--- \na: 1\n---\t\nold", "new", OwnLine, "--- \na: 1\n---\t\nnew\nold"},
		{"a broken block is still passed", "---\n: : [\n---\nold", "new", OwnLine, "---\n: : [\n---\nnew\nold"},
		{"three dashes alone are no block", "---", "new", OwnLine, "new\n---"},
		{"a CR at the end is no part of the fence", "---\na: 1\n---\r", "new", OwnLine, "---\na: 1\n---\r\nnew\n"},
		{"two are a part of it", "---\na: 1\n---\r\r\n", "new", OwnLine, "new\n---\na: 1\n---\r\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, string(Prepend([]byte(test.text), test.content, test.joint)), test.want)
		})
	}
}

// drawnNote draws notes in which fences, breaks and marks are frequent.
func drawnNote() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"---", "\n", "\r\n", "a: 1", bom, "text", " ", "\xff"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 10).Draw(t, "pieces"), "")
	})
}

func TestEveryByteIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, content := []byte(drawnNote().Draw(t, "old")), drawnNote().Draw(t, "content")
		joint := rapid.SampledFrom([]Joint{OwnLine, Inline}).Draw(t, "joint")
		appended := Append(old, content, joint)
		require.That(t, bytes.HasPrefix(appended, old), "append of %q to %q: %q", content, old, appended)
		require.That(t, bytes.HasSuffix(appended, []byte(content)), "append of %q to %q: %q", content, old, appended)
		prepended, body := Prepend(old, content, joint), markdown.BodyStart(old)
		require.That(t, bytes.HasPrefix(prepended, old[:body]), "prepend of %q to %q: %q", content, old, prepended)
		require.That(t, bytes.HasSuffix(prepended, old[body:]), "prepend of %q to %q: %q", content, old, prepended)
		added := len(prepended) - len(old) - len(content)
		require.That(t, added >= 0, "prepend of %q to %q added %d bytes: %q", content, old, added, prepended)
		require.That(t, added <= 4, "prepend of %q to %q added %d bytes: %q", content, old, added, prepended)
		require.That(t, bytes.Contains(prepended, []byte(content)), "prepend of %q to %q added %d bytes: %q", content, old, added, prepended)
	})
}

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
		assert.Equal(t, string(got), test.want, "%s", test.what)
		assert.Equal(t, converted, test.converted, "%s", test.what)
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
		plain := strings.ReplaceAll(string(kept), "\r\n", "\n")
		require.That(t, plain == strings.ReplaceAll(first+put+rest, "\r\n", "\n"), "%q became %q", first+put+rest, kept)
		require.That(t, converted != bytes.Equal(kept, []byte(first+put+rest)), "%q became %q: converted %v", first+put+rest, kept, converted)
		again, more := KeepLineEnds([]byte(first+rest), kept)
		require.That(t, !more, "%q becomes %q", kept, again)
		require.That(t, bytes.Equal(again, kept), "%q becomes %q", kept, again)
	})
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          LineCounts
	}{
		{"", "", LineCounts{}},
		{"a\n", "a", LineCounts{}},
		{"a\r\nb\r\n", "a\nb\n", LineCounts{}},
		{"", "a\nb", LineCounts{2, 0}},
	} {
		assert.Equal(t, CountLines([]byte(test.before), []byte(test.after)), test.want, "%q to %q", test.before, test.after)
	}
}

// slowly is the count by the longest common subsequence.
func slowly(a, b []string) LineCounts {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			common[i+1][j+1] = max(common[i][j+1], common[i+1][j])
			if a[i] == b[j] {
				common[i+1][j+1] = common[i][j] + 1
			}
		}
	}
	same := common[len(a)][len(b)]
	return LineCounts{len(b) - same, len(a) - same}
}

func TestCountIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12)
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		text := func(lines []string) []byte {
			if len(lines) == 0 {
				return nil
			}
			return []byte(strings.Join(lines, "\n") + "\n")
		}
		got, want := CountLines(text(a), text(b)), slowly(a, b)
		require.Equal(t, got, want, "%q to %q", a, b)
	})
}

// Beyond what is counted exactly, no removed line is missed, and a text that is
// shuffled counts as one of which much was removed.
func TestCountOfMuch(t *testing.T) {
	numbered := func(from, to, step int) string {
		var b strings.Builder
		for i := from; i != to; i += step {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	const n = 20_000
	for name, test := range map[string]struct {
		before, after string
		least         LineCounts
	}{
		"all other":    {numbered(0, n, 1), numbered(n, 2*n, 1), LineCounts{n, n}},
		"turned round": {numbered(0, n, 1), numbered(n-1, -1, -1), LineCounts{maxEdits / 2, maxEdits / 2}},
		"one line":     {numbered(0, n, 1), "x\n", LineCounts{1, n}},
	} {
		got := CountLines([]byte(test.before), []byte(test.after))
		assert.That(t, got.Added >= test.least.Added, "%s: %+v, want at least %+v", name, got, test.least)
		assert.That(t, got.Removed >= test.least.Removed, "%s: %+v, want at least %+v", name, got, test.least)
		assert.That(t, got.Removed <= n, "%s: %+v, want at least %+v", name, got, test.least)
	}
}
