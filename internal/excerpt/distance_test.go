package excerpt

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestDistanceIsSymmetric(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "cab", "read", "daily:read", "raed"}
	for _, a := range words {
		for _, b := range words {
			if Mistakes([]byte(a), []byte(b), 20) != Mistakes([]byte(b), []byte(a), 20) || (Mistakes([]byte(a), []byte(b), 20) == 0) != (a == b) {
				t.Errorf("%q and %q: %d, %d", a, b, Mistakes([]byte(a), []byte(b), 20), Mistakes([]byte(b), []byte(a), 20))
			}
		}
	}
	assert.Equal(t, Mistakes([]byte("raed"), []byte("read"), 20), 1, "a swap costs")
}

func TestDistanceOfWordsOfAnyLength(t *testing.T) {
	for length := 1; length <= 2*usualWord+2; length++ {
		word := []byte(strings.Repeat("ab", length)[:length])
		longer := append([]byte("x"), word...)
		assert.Equal(t, Mistakes(word, word, 3), 0, "%d letters, the same", length)
		assert.Equal(t, Mistakes(longer, word, 3), 1, "%d letters, one less", length)
		assert.Equal(t, Mistakes(word, longer, 3), 1, "%d letters, one more", length)
		assert.Equal(t, Mistakes(word, append(longer, "yzz"...), 3), 4, "%d letters, beyond the limit", length)
	}
}

func TestDistanceOfUsualWordsAllocatesNothing(t *testing.T) {
	a := []rune("brigde")
	b := []rune(strings.Repeat("b", usualWord))
	assert.Equal(t, testing.AllocsPerRun(10, func() { Mistakes(a, b, usualWord) }), 0.0, "allocations")
}
