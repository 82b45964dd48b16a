package edit

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/tests/assert"
	_ "vaultwicket/tests/sameseed"
)

func TestCount(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          LineCounts
	}{
		{"", "", LineCounts{}},
		{"a\n", "a", LineCounts{}},
		{"a\r\nb\r\n", "a\nb\n", LineCounts{}},
		{"", "a\nb", LineCounts{2, 0}},
		{"a\nb", "", LineCounts{0, 2}},
		{"a\nb\nc\n", "a\nx\nc\n", LineCounts{1, 1}},
		{"a\nb\nc\n", "c\na\nb\n", LineCounts{1, 1}},
		{"a\nb\nc\nd\n", "b\nd\ne\n", LineCounts{1, 2}},
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
		if got, want := CountLines(text(a), text(b)), slowly(a, b); got != want {
			t.Fatalf("%q to %q: %+v, want %+v", a, b, got, want)
		}
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
		assert.That(t, got.Added >= test.least.Added && got.Removed >= test.least.Removed && got.Removed <= n, "%s: %+v, want at least %+v", name, got, test.least)
	}
}

func TestBody(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"text\n":                     "text\n",
		"---\na: 1\n---\ntext\n":     "text\n",
		"---\r\na: 1\r\n---\r\ntext": "text",
		"---\na: 1\ntext\n":          "---\na: 1\ntext\n",
		"---\n---":                   "",
		"\n---\na\n---\n":            "\n---\na\n---\n",
	} {
		assert.Equal(t, string(Body([]byte(text))), want, "%q", text)
	}
}

func BenchmarkCount(b *testing.B) {
	before := []byte(strings.Repeat("a line of a note\n", 50_000))
	after := append([]byte("another\n"), before...)
	for b.Loop() {
		CountLines(before, after)
	}
}
