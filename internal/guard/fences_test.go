package guard

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// piecesOfFences are what decides whether a line opens a code block with names and values.
var piecesOfFences = []string{
	"```", "~~~", "`", "~", "yaml", "YML", "ini", "toml", "env", "dotenv", "properties", "propertieſ", "conf", "cfg",
	"json", "-", " ", "\t", "> ", "\n", "\n", "\n", "\r\n", "\r", "x", "a word",
	"```yaml", "~~~ env", "\n> ```ini\r\n", "\n~~~toml title\n", "\n```` yml\n",
}

// TestFencesAreThoseOfThePattern draws texts, and compares the lines that are found with those that the pattern
// matches in the whole text.
func TestFencesAreThoseOfThePattern(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 7))
	wholeText := regexp.MustCompile("(?m)" + configFence().String())
	matches := 0
	for range testenv.Count(20000, 200000) {
		var drawn strings.Builder
		for range 1 + r.IntN(24) {
			drawn.WriteString(piecesOfFences[r.IntN(len(piecesOfFences))])
		}
		text := []byte(drawn.String())
		opening := newFences(text)
		for from := r.IntN(1 + len(text)/2); from < len(text); {
			want := wholeText.FindSubmatchIndex(text[from:])
			for i := range want {
				want[i] += from
			}
			found := opening.next(from)
			require.Equal(t, len(found), len(want), "%q from %d", text, from)
			if want == nil {
				break
			}
			for i := range want {
				require.Equal(t, found[i], want[i], "%q from %d", text, from)
			}
			matches++
			from = want[1]
		}
	}
	require.That(t, matches > 1000, "%d matches", matches)
}

// TestOnlyLinesWithAFenceAreMatched: the pattern is tried on none of many lines without a language, and each kind of
// fence is looked for once.
func TestOnlyLinesWithAFenceAreMatched(t *testing.T) {
	for _, line := range []string{"~~~\n", "```\n", "```go\n", "x ```json y\n", "a word\n"} {
		text := bytes.Repeat([]byte(line), 50_000)
		opening := newFences(text)
		allocations := testing.AllocsPerRun(1, func() { assert.Equal(t, len(opening.next(0)), 0) })
		assert.Equal(t, allocations, 0.0, "allocations for %q", line)
	}
}
