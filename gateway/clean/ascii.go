package clean

import "math/bits"

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
			if odd := oddBytes(x); odd != 0 {
				return n + bits.TrailingZeros64(odd)/8
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

// oddBytes has the high bit set of each byte of x that is not printable ASCII,
// newline or tab; those behind the first may be wrong. With the high bits masked
// no addition reaches the next byte.
func oddBytes(x uint64) uint64 {
	low := x &^ highs
	printable := low + (0x80-0x20)*lows
	newline := ^((low ^ '\n'*lows) + 0x7f*lows)
	tab := ^((low ^ '\t'*lows) + 0x7f*lows)
	deleted := low + lows
	return (^(printable | newline | tab) | deleted | x) & highs
}
