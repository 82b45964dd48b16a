package filenames

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestTheFirstOnesOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfDistinct(rapid.IntRange(-500, 500), rapid.ID[int]).Draw(t, "all")
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		first := NewFirst(limit, cmp.Compare[int])
		for n, element := range all {
			if first.Add(element); n%7 != 0 {
				continue // it is seldom asked in between
			}
			want := slices.Sorted(slices.Values(all[:n+1]))
			got := first.Sorted()
			require.That(t, slices.Equal(got, want[:min(limit, len(want))]), "the first %d of %d are %d, want %d", limit, n+1, got, want)
		}
	})
}
