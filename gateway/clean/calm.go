package clean

import "math/bits"

// calmRun returns how many bytes at the start of s are characters of kind plain,
// as far as it can tell quickly, and the last of these. It stops at all that is
// not well-formed, and behind the Basic Multilingual Plane but for pictographs.
func calmRun(s string) (n int, last rune) {
	for n < len(s) {
		var r rune
		size := 2
		switch b := s[n]; {
		case b < 0x80:
			start := n
			for len(s)-n >= 8 { // asciiRun, without a call for each word of the text
				x := word(s[n : n+8])
				if unprintable(x)&highs != 0 { // it may be a newline or tab
					if odd := oddBytes(x); odd != 0 {
						n += bits.TrailingZeros64(odd) / 8
						break
					}
				}
				n += 8
			}
			if len(s)-n < 8 {
				n += asciiRun(s[n:])
			}
			if n == start {
				return n, last
			}
			last = rune(s[n-1])
			continue
		case b < 0xe0:
			if n+1 >= len(s) || b < 0xc2 || s[n+1]&0xc0 != 0x80 {
				return n, last
			}
			r = rune(b&0x1f)<<6 | rune(s[n+1]&0x3f)
		case b < 0xf0:
			if n+2 >= len(s) || s[n+1]&0xc0 != 0x80 || s[n+2]&0xc0 != 0x80 {
				return n, last
			}
			r = rune(b&0x0f)<<12 | rune(s[n+1]&0x3f)<<6 | rune(s[n+2]&0x3f)
			if r < 0x800 || 0xd800 <= r && r < 0xe000 {
				return n, last
			}
			size = 3
		default:
			if r = pictograph(s[n:]); r == 0 {
				return n, last
			}
			n += 4
			last = r
			continue
		}
		if odd[r>>6]>>(r&63)&1 != 0 {
			return n, last
		}
		n += size
		last = r
	}
	return n, last
}

// pictograph returns the character at the start of s if it is one of the block from U+1F000 to
// U+1FFFF that is plain, else 0: a flag may open a sequence, and the last two are no characters.
func pictograph(s string) rune {
	if len(s) < 4 || s[0] != 0xf0 || s[1] != 0x9f || s[2]&0xc0 != 0x80 || s[3]&0xc0 != 0x80 {
		return 0
	}
	r := 0x1f000 | rune(s[2]&0x3f)<<6 | rune(s[3]&0x3f)
	if r == blackFlag || r >= 0x1fffe {
		return 0
	}
	return r
}
