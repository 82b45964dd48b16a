package handlers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestTheEndsOfAllSectionsAreThoseOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found := markdown.Note{Size: 1000}
		for i := range rapid.IntRange(0, 12).Draw(t, "headings") {
			found.Headings = append(found.Headings, markdown.Heading{Level: rapid.IntRange(1, 6).Draw(t, "level"), At: 10 * i})
		}
		for i, end := range sectionEnds(found) {
			want := found.Section(i).End
			require.That(t, end == want, "%+v: section %d ends at %d, want %d", found.Headings, i, end, want)
		}
	})
}
