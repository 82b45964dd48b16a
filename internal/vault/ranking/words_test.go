package ranking

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Words that cannot have a form are skipped, and no others.
func TestShapesLeaveOutNoWord(t *testing.T) {
	pieces := strings.Split("a B 7 é É ß Æ 1 _ - . / 京 か ё Й ̈ x MD", " ")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(pieces, " ", ", ")), 1, 20).Draw(t, "text"), "")
		var all []string
		count := eachWritten(text, nil, func(written string, start, number int) {
			all = append(all, written)
			require.Equal(t, text[start:start+len(written)], written, "%q: %q at %d is number %d", text, written, start, number)
			require.Equal(t, number, len(all), "%q: %q at %d is number %d", text, written, start, number)
		})
		require.That(t, count == len(all), "%q: %d words of %q", text, count, all)
		for _, written := range all {
			for _, form := range forms(written) {
				var s shapes
				s.add(form)
				seen := false
				n := eachWritten(text, &s, func(w string, _, _ int) { seen = seen || w == written })
				require.That(t, seen, "%q: %q, a form of %q, is left out; %d words of %d", text, form, written, n, count)
				require.Equal(t, n, count, "%q: %q, a form of %q, is left out; %d words of %d", text, form, written, n, count)
			}
		}
	})
}

// A title with a word that matches a term is in a segment that may have a match.
func TestSegmentsWithMatchesAreNotSkipped(t *testing.T) {
	pieces := strings.Split("a B ab river 7 é É ß Æ 1 _ - . 京 x", " ")
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(pieces, " ")), 1, 12).Draw(t, "title"), "")
		path := "N" + title + ".md"
		index := (&Index{}).with(notes{path: "text"}, nil)
		_, title = splitPath(path, Note)
		var words []string
		eachWritten(title, nil, func(written string, _, _ int) { words = append(words, forms(written)...) })
		for _, word := range words {
			from := rapid.IntRange(0, len(word)-1).Draw(t, "from")
			to := rapid.IntRange(from+1, len(word)).Draw(t, "to")
			part := term{word: word[from:to]}
			require.That(t, part.matchingWord(words) == "" || index.segments[0].mayHaveMatch(&part), "%q in %q", part.word, title)
		}
	})
}

// Titles are looked at only if a word of the index can match: a word that no note has does not fold them all.
func TestAnUnknownWordLooksAtNoTitle(t *testing.T) {
	const files = 500
	vault := notes{}
	for i := range files {
		vault[fmt.Sprintf("Café%d.md", i)] = "tea"
	}
	index, around := vault.vault()
	view := index.View(func(string) bool { return true })
	ask := func(question string) float64 {
		return testing.AllocsPerRun(3, func() {
			_, err := view.Ask(context.Background(), question, around, 10)
			require.NoError(t, err)
		})
	}
	assert.That(t, ask("cafe") > files, "the beginning of each title is not looked at")
	unknown := ask("zygomorphic")
	assert.That(t, unknown < files, "%v allocations for a word that is in none of %d titles", unknown, files)
}
