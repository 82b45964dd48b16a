package clean

// calmRun returns how many bytes at the start of s are characters of kind plain,
// as far as it can tell quickly, and the last of these. It stops at all that is
// not well-formed, and behind the Basic Multilingual Plane but for pictographs.
func calmRun(s string) (n int, last rune) {
	for n < len(s) {
		var r rune
		size := 2
		switch b := s[n]; {
		case b < 0x80:
			ascii := asciiRun(s[n:])
			if ascii == 0 {
				return n, last
			}
			n += ascii
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
			if n+3 >= len(s) || b != 0xf0 || s[n+1] != 0x9f || s[n+2]&0xc0 != 0x80 || s[n+3]&0xc0 != 0x80 {
				return n, last
			}
			r = 0x1f000 | rune(s[n+2]&0x3f)<<6 | rune(s[n+3]&0x3f)
			if r == blackFlag || r >= 0x1fffe { // and the two that are no characters
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
