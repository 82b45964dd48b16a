package moment

import "unicode/utf8"

// tokenSize returns how many bytes the token at the start of a non-empty s
// takes. A character that begins no token counts as a token of its own. The
// rules are the library's, with its oddities: YYY is YY and Y, ggg is gg and
// g, and a bar after w or W belongs to that letter.
func tokenSize(s string) int {
	switch c := s[0]; c {
	case 'H', 'h':
		switch {
		case hasAt(s, 1, "mmss"):
			return len("Hmmss")
		case hasAt(s, 1, "mm"):
			return len("Hmm")
		}
		return run(s, 2)
	case 'M', 'Q', 'D', 'd', 'w', 'W', 'y':
		single := run(s, 2) == 1
		switch c := s[0]; {
		case single && hasAt(s, 1, "o"):
			return 2
		case hasAt(s, 0, "DDDo"):
			return 4
		case c == 'Q':
			return 1
		case c == 'w' || c == 'W':
			if hasAt(s, 1, "|") {
				return 2
			}
			return run(s, 2)
		}
		return run(s, 4)
	case 'Y':
		return pick(run(s, 6), [7]int{0, 1, 2, 2, 4, 5, 6})
	case 'g', 'G':
		return pick(run(s, 5), [7]int{0, 1, 2, 2, 4, 5})
	case 'N':
		return run(s, 5)
	case 'S':
		return run(s, 9)
	case 'k', 'm', 's', 'z', 'Z':
		return run(s, 2)
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// pick returns sizes[n]: the token that a run of n equal letters begins with.
func pick(n int, sizes [7]int) int { return sizes[n] }

// run counts how often the first byte of s is repeated, up to limit.
func run(s string, limit int) int {
	n := 1
	for n < limit && n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// hasAt reports whether s contains part at index i.
func hasAt(s string, i int, part string) bool {
	return len(s) >= i+len(part) && s[i:i+len(part)] == part
}
