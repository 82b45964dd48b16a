package ranking

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

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
