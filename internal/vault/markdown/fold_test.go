package markdown

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhatIsFoldedIsWhatIsEqual(t *testing.T) {
	letters := rapid.SampledFrom([]string{"a", "A", "k", "K", "\u212a", "s", "S", "ſ", "ß", "ẞ", "ss", "é", "É", "i",
		"İ", "ı", "Σ", "ς", "σ", "ǆ", "ǅ", "1", "\xff", " "})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(letters, 0, 3).Draw(t, "letters"), "") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		require.That(t, (FoldCase(a) == FoldCase(b)) == strings.EqualFold(a, b), "%q and %q", a, b)
	})
}
