package excerpt

import (
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
