package clean

import "testing"

func TestOddIsWhatKindOfSays(t *testing.T) {
	for page := range notPlain {
		var want uint64
		for i := range 64 {
			if kindOf(rune(page<<6|i)) != plain {
				want |= 1 << i
			}
		}
		if notPlain[page] != want {
			t.Errorf("notPlain.go should say\t%#04x >> 6: %#x,", page<<6, want)
		}
	}
}

// Of the pictographs, U+1F000 to U+1FFFF, plainRun passes all but the black flag.
func TestPictographsAreCalm(t *testing.T) {
	for r := rune(0x1f000); r <= 0x1ffff; r++ {
		n, last := plainRun(string(r) + "a")
		want := 5
		if r == blackFlag || r >= 0x1fffe {
			want = 0
		}
		if plain := kindOf(r) == plain; n != want || plain != (want > 0) || n > 0 && last != 'a' {
			t.Errorf("%U: %d bytes, plain %v", r, n, plain)
		}
	}
}
