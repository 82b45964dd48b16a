package quote

import "testing"

func TestDistanceIsSymmetric(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "cab", "read", "daily:read", "raed"}
	for _, a := range words {
		for _, b := range words {
			if distance(a, b, 20) != distance(b, a, 20) || (distance(a, b, 20) == 0) != (a == b) {
				t.Errorf("%q and %q: %d, %d", a, b, distance(a, b, 20), distance(b, a, 20))
			}
		}
	}
	if got := distance("raed", "read", 20); got != 1 {
		t.Errorf("a swap costs %d", got)
	}
}
