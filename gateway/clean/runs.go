package clean

import "math/bits"

// plainRun returns how many bytes at the start of s are characters of kind plain,
// as far as it can tell quickly, and the last of these. It stops at invalid UTF-8, and at
// characters above the Basic Multilingual Plane but for pictographs.
func plainRun(s string) (n int, last rune) {
	for n < len(s) {
		var r rune
		size := 2
		switch b := s[n]; {
		case b < 0x80:
			start := n
			for len(s)-n >= 8 { // asciiRun, without a call for each word of the text
				x := word(s[n : n+8])
				if unprintable(x)&highs != 0 { // it may be a newline or tab
					if special := specialBytes(x); special != 0 {
						n += bits.TrailingZeros64(special) / 8
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
		default: // plain ones of the block from U+1F000: a flag may open a sequence, and the last two are no characters
			if n+3 >= len(s) || b != 0xf0 || s[n+1] != 0x9f || s[n+2]&0xc0 != 0x80 || s[n+3]&0xc0 != 0x80 {
				return n, last
			}
			r = 0x1f000 | rune(s[n+2]&0x3f)<<6 | rune(s[n+3]&0x3f)
			if r == blackFlag || r >= 0x1fffe {
				return n, last
			}
			n += 4
			last = r
			continue
		}
		if notPlain[r>>6]>>(r&63)&1 != 0 {
			return n, last
		}
		n += size
		last = r
	}
	return n, last
}

const (
	lows  = 0x0101010101010101
	highs = 0x80 * lows
)

// asciiRun returns how many bytes at the start of s are printable ASCII,
// newline or tab. It reads eight bytes at a time.
func asciiRun(s string) int {
	n := 0
	for len(s)-n >= 8 {
		x := word(s[n : n+8])
		if unprintable(x)&highs != 0 { // it may be a newline or tab
			if special := specialBytes(x); special != 0 {
				return n + bits.TrailingZeros64(special)/8
			}
		}
		n += 8
	}
	for n < len(s) && (0x20 <= s[n] && s[n] < 0x7f || s[n] == '\n' || s[n] == '\t') {
		n++
	}
	return n
}

// word reads eight bytes.
func word(w string) uint64 {
	_ = w[7]
	return uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
		uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
}

// unprintable has the high bit set of each byte of x that is not printable ASCII.
func unprintable(x uint64) uint64 {
	low := x &^ highs
	return ^(low + (0x80-0x20)*lows) | (low + lows) | x
}

// specialBytes has the high bit set of each byte of x that is not printable ASCII, newline or tab;
// those after the first may be wrong. With the high bits masked no addition reaches the next byte.
func specialBytes(x uint64) uint64 {
	low := x &^ highs
	printable := low + (0x80-0x20)*lows
	newline := ^((low ^ '\n'*lows) + 0x7f*lows)
	tab := ^((low ^ '\t'*lows) + 0x7f*lows)
	deleted := low + lows
	return (^(printable | newline | tab) | deleted | x) & highs
}

const all = 1<<64 - 1

// notPlain is a bitmap of the code points of the Basic Multilingual Plane that are not plain by
// kindOf, in words of 64. A test compares the two.
var notPlain = [0x10000 >> 6]uint64{
	0x0000 >> 6: 0xfffff9ff, 0x0040 >> 6: 0x8000000000000000, 0x0080 >> 6: 0x2000ffffffff,
	0x0300 >> 6: all, 0x0340 >> 6: 0xffffffffffff, 0x0480 >> 6: 0x3f8,
	0x0580 >> 6: 0xbffffffffffe0000, 0x05c0 >> 6: 0xb6, 0x0600 >> 6: 0x17ff0000,
	0x0640 >> 6: 0x10000fffff800, 0x06c0 >> 6: 0x3d9f9fc00000, 0x0700 >> 6: 0xffff000000020000,
	0x0740 >> 6: 0x7ff, 0x0780 >> 6: 0x1ffc000000000, 0x07c0 >> 6: 0x200ff80000000000,
	0x0800 >> 6: 0x3eeffbc00000, 0x0840 >> 6: 0xe000000, 0x0880 >> 6: 0xff000000,
	0x08c0 >> 6: 0xfffffffbfffffc00, 0x0900 >> 6: 0x1400000000000007, 0x0940 >> 6: 0xc00fe21fe,
	0x0980 >> 6: 0x1000000000000002, 0x09c0 >> 6: 0x4000000c0000201e, 0x0a00 >> 6: 0x1000000000000006,
	0x0a40 >> 6: 0x23000000023986, 0x0a80 >> 6: 0x1000000000000006, 0x0ac0 >> 6: 0xfc00000c000021be,
	0x0b00 >> 6: 0x9000000000000002, 0x0b40 >> 6: 0xc0060201e, 0x0b80 >> 6: 0x4,
	0x0bc0 >> 6: 0x2001, 0x0c00 >> 6: 0xd000000000000011, 0x0c40 >> 6: 0xc00603dc1,
	0x0c80 >> 6: 0x9000000000000002, 0x0cc0 >> 6: 0xc00003040, 0x0d00 >> 6: 0x1800000000000003,
	0x0d40 >> 6: 0xc0000201e, 0x0d80 >> 6: 0x2, 0x0dc0 >> 6: 0x5c0400,
	0x0e00 >> 6: 0x7f2000000000000, 0x0e40 >> 6: 0x7f80, 0x0e80 >> 6: 0x1ff2000000000000,
	0x0ec0 >> 6: 0x7f00, 0x0f00 >> 6: 0x2a0000003000000, 0x0f40 >> 6: 0x7ffe000000000000,
	0x0f80 >> 6: 0x1ffffffffeffe0df, 0x0fc0 >> 6: 0x40, 0x1000 >> 6: 0x66fde00000000000,
	0x1040 >> 6: 0x1e0001c3000000, 0x1080 >> 6: 0x20002064, 0x1140 >> 6: 0x180000000,
	0x1340 >> 6: 0xe0000000, 0x1700 >> 6: 0xc0000001c0000, 0x1740 >> 6: 0xc0000000c0000,
	0x1780 >> 6: 0x3fb0000000000000, 0x17c0 >> 6: 0x200ffe40, 0x1800 >> 6: 0xf800,
	0x1880 >> 6: 0x20000000060, 0x1900 >> 6: 0xe04018700000000, 0x1a00 >> 6: 0x9800000,
	0x1a40 >> 6: 0x9ff81fe57f400000, 0x1a80 >> 6: 0xffff000000000000, 0x1ac0 >> 6: 0x7fff,
	0x1b00 >> 6: 0x17d000000000000f, 0x1b40 >> 6: 0xff80000000004, 0x1b80 >> 6: 0x3b3c00000003,
	0x1bc0 >> 6: 0x3a34000000000, 0x1c00 >> 6: 0xcff00000000000, 0x1cc0 >> 6: 0x31021fdfff70000,
	0x1dc0 >> 6: all, 0x2000 >> 6: 0x7f000000f800, 0x2040 >> 6: 0xffff00000000,
	0x20c0 >> 6: 0x1ffffffff0000, 0x2cc0 >> 6: 0x3800000000000, 0x2d40 >> 6: 0x8000000000000000,
	0x2dc0 >> 6: 0xffffffff00000000, 0x3000 >> 6: 0x3c0000000000, 0x3080 >> 6: 0x6000000,
	0x3140 >> 6: 0x1000000000, 0xa640 >> 6: 0x3ff7800000000000, 0xa680 >> 6: 0xc0000000,
	0xa6c0 >> 6: 0x3000000000000, 0xa800 >> 6: 0x106000000844, 0xa8c0 >> 6: 0x8003ffff00000030,
	0xa900 >> 6: 0x3fc000000000, 0xa940 >> 6: 0x3ff80, 0xa980 >> 6: 0x33c8000000000007,
	0xa9c0 >> 6: 0x2000000000, 0xaa00 >> 6: 0x667e0000000000, 0xaa40 >> 6: 0x1000000000001008,
	0xaa80 >> 6: 0xc19d000000000000, 0xaac0 >> 6: 0x40300000000002, 0xabc0 >> 6: 0x212000000000,
	0xfb00 >> 6: 0x40000000, 0xfdc0 >> 6: 0xffffffff0000, 0xfe00 >> 6: 0xffff0000ffff,
	0xfec0 >> 6: 0x8000000000000000, 0xff80 >> 6: 0x100000000, 0xffc0 >> 6: 0xcfff000000000000,
}
