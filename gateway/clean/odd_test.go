package clean

import "testing"

func TestOddIsWhatKindOfSays(t *testing.T) {
	for page := range odd {
		var want uint64
		for i := range 64 {
			if kindOf(rune(page<<6|i)) != plain {
				want |= 1 << i
			}
		}
		if odd[page] != want {
			t.Errorf("odd.go should say\t%#04x >> 6: %#x,", page<<6, want)
		}
	}
}
