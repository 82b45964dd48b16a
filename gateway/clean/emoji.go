package clean

import (
	"strings"
	"unicode"
)

// pictographic reports whether r is Extended_Pictographic (emoji-data.txt of
// UTS #51), the base of emoji. Characters reserved for emoji are among them.
func pictographic(r rune) bool { return unicode.Is(pictographs, r) }

var pictographs = &unicode.RangeTable{
	LatinOffset: 2,
	R16: []unicode.Range16{
		{0x00a9, 0x00a9, 1}, {0x00ae, 0x00ae, 1}, {0x203c, 0x203c, 1}, {0x2049, 0x2049, 1}, {0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1}, {0x2194, 0x2199, 1}, {0x21a9, 0x21aa, 1}, {0x231a, 0x231b, 1}, {0x2328, 0x2328, 1},
		{0x2388, 0x2388, 1}, {0x23cf, 0x23cf, 1}, {0x23e9, 0x23f3, 1}, {0x23f8, 0x23fa, 1}, {0x24c2, 0x24c2, 1},
		{0x25aa, 0x25ab, 1}, {0x25b6, 0x25b6, 1}, {0x25c0, 0x25c0, 1}, {0x25fb, 0x25fe, 1}, {0x2600, 0x2605, 1},
		{0x2607, 0x2612, 1}, {0x2614, 0x2685, 1}, {0x2690, 0x2705, 1}, {0x2708, 0x2712, 1}, {0x2714, 0x2714, 1},
		{0x2716, 0x2716, 1}, {0x271d, 0x271d, 1}, {0x2721, 0x2721, 1}, {0x2728, 0x2728, 1}, {0x2733, 0x2734, 1},
		{0x2744, 0x2744, 1}, {0x2747, 0x2747, 1}, {0x274c, 0x274c, 1}, {0x274e, 0x274e, 1}, {0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1}, {0x2763, 0x2767, 1}, {0x2795, 0x2797, 1}, {0x27a1, 0x27a1, 1}, {0x27b0, 0x27b0, 1},
		{0x27bf, 0x27bf, 1}, {0x2934, 0x2935, 1}, {0x2b05, 0x2b07, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1},
		{0x2b55, 0x2b55, 1}, {0x3030, 0x3030, 1}, {0x303d, 0x303d, 1}, {0x3297, 0x3297, 1}, {0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{
		{0x1f000, 0x1f0ff, 1}, {0x1f10d, 0x1f10f, 1}, {0x1f12f, 0x1f12f, 1}, {0x1f16c, 0x1f171, 1}, {0x1f17e, 0x1f17f, 1},
		{0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1}, {0x1f1ad, 0x1f1e5, 1}, {0x1f201, 0x1f20f, 1}, {0x1f21a, 0x1f21a, 1},
		{0x1f22f, 0x1f22f, 1}, {0x1f232, 0x1f23a, 1}, {0x1f23c, 0x1f23f, 1}, {0x1f249, 0x1f3fa, 1}, {0x1f400, 0x1f53d, 1},
		{0x1f546, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f774, 0x1f77f, 1}, {0x1f7d5, 0x1f7ff, 1}, {0x1f80c, 0x1f80f, 1},
		{0x1f848, 0x1f84f, 1}, {0x1f85a, 0x1f85f, 1}, {0x1f888, 0x1f88f, 1}, {0x1f8ae, 0x1f8ff, 1}, {0x1f90c, 0x1f93a, 1},
		{0x1f93c, 0x1f945, 1}, {0x1f947, 0x1faff, 1}, {0x1fc00, 0x1fffd, 1},
	},
}

// The flags that are emoji tag sequences. UTS #51 allows one for every
// subdivision of every country, but the others are not in general use, look like
// the black flag alone, and could hide a word each (annex C, RGI sets).
const (
	tagsOfEngland  = "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	tagsOfScotland = "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	tagsOfWales    = "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
)

// tagsAt returns the tags at the start of s that make a flag, "" if there are none.
func tagsAt(s string) string {
	for _, tags := range [...]string{tagsOfEngland, tagsOfScotland, tagsOfWales} {
		if strings.HasPrefix(s, tags) {
			return tags
		}
	}
	return ""
}

// tagsMayFollow reports whether s is too short to tell whether tags follow.
func tagsMayFollow(s string) bool {
	for _, tags := range [...]string{tagsOfEngland, tagsOfScotland, tagsOfWales} {
		if len(s) < len(tags) && strings.HasPrefix(tags, s) {
			return true
		}
	}
	return false
}
