package sanitize

import (
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// kind is the class of a character, which decides the rule for it.
type kind uint8

const (
	plain kind = iota // always displayed
	mark              // combining mark, displayed up to maxMarks in a row
	flag              // U+1F3F4, always displayed, and may begin an emoji tag sequence

	// Displayed only where they belong, see [cleaner.belongs].
	carriage
	joiner
	direction
	wordSpace
	selector
	mongolian
	graphemeJoiner
	filler
	notation

	// Never displayed.
	control
	escape
	bidirectional
	invisible
)

// maxMarks is the maximum number of combining marks on one letter. Hebrew with
// cantillation needs four or five, and Tibetan stacks rarely more; Unicode's own
// stream-safe limit of 30 (UAX #15) is about memory, and would cover the lines above.
const maxMarks = 8

const (
	zwsp       = '\u200b'
	zwnj       = '\u200c'
	zwj        = '\u200d'
	lrm        = '\u200e'
	rlm        = '\u200f'
	alm        = '\u061c'
	cgj        = '\u034f'
	mvs        = '\u180e' // Mongolian vowel separator
	bom        = '\ufeff'
	keycap     = '\u20e3'
	choseong   = '\u115f' // Hangul filler for a first consonant
	jungseong  = '\u1160' // Hangul filler for a vowel
	blackFlag  = '\U0001f3f4'
	cancelTag  = '\U000e007f'
	selector1  = '\ufe00'
	selector17 = '\U000e0100'
)

// kindOf returns the kind of r. All but plain ones, marks and controls are the default ignorable code points
// of Unicode 5.21, similar characters, and the noncharacters of 23.7.
func kindOf(r rune) kind {
	switch {
	case 0x20 <= r && r < 0x7f, r == '\n', r == '\t':
		return plain
	case r == '\r':
		return carriage
	case r == 0x1b: // ECMA-48 section 5.2, and Unicode 23.1
		return escape
	case r < 0x20, r == 0x7f:
		return control
	case r < 0xa0: // ECMA-48 section 5.3: DCS, SOS, CSI, ST, OSC, PM and APC are two, with ESC, in seven bits
		if r == 0x90 || r == 0x98 || 0x9b <= r {
			return escape
		}
		return control
	case r == 0xad: // soft hyphen: visible only at a line break, Unicode 6.2
		return invisible
	case r < 0x300:
		return plain
	case r == cgj:
		return graphemeJoiner
	case r < 0x370:
		return mark
	case unicode.Is(everyday, r):
		return plain
	case r >= 0xe0000: // plane 14, except for selectors, is reserved for invisible characters (Unicode 23.9); the rest is private
		switch {
		case selector17 <= r && r <= 0xe01ef:
			return selector
		case r < 0xe1000, r&0xfffe == 0xfffe:
			return invisible
		}
		return plain
	case r == alm, r == lrm, r == rlm:
		return direction
	case r == choseong, r == jungseong:
		return filler
	case r == 0x17b4, r == 0x17b5: // Khmer inherent vowels, deprecated: Unicode 16.4
		return invisible
	case 0x180b <= r && r <= 0x180f:
		return mongolian
	case r == zwsp: // to U+2069: Unicode 23.2 and 23.3
		return wordSpace
	case r == zwnj, r == zwj:
		return joiner
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return control
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return bidirectional
	case 0x2060 <= r && r < 0x2070:
		return invisible
	case r == 0x3164, r == 0xffa0: // Hangul fillers of old encodings: Unicode 18.6
		return invisible
	case 0xfdd0 <= r && r <= 0xfdef, r&0xfffe == 0xfffe: // noncharacters
		return invisible
	case selector1 <= r && r < 0xfe10:
		return selector
	case r == bom, 0xfff0 <= r && r < 0xfffc: // with the interlinear annotations, Unicode 23.8
		return invisible
	case 0x13430 <= r && r < 0x13440,
		0x1bca0 <= r && r < 0x1bca4,
		0x1d173 <= r && r < 0x1d17b:
		return notation
	case r == blackFlag:
		return flag
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return mark
	}
	return plain
}

// everyday has ranges of frequent letters from Greek to Hangul, so that these need no search in the
// tables of all marks.
var everyday = &unicode.RangeTable{R16: []unicode.Range16{
	{0x0370, 0x0482, 1}, {0x05d0, 0x05ea, 1}, {0x0620, 0x064a, 1}, {0x0904, 0x0939, 1}, {0x3041, 0x3096, 1},
	{0x4e00, 0x9fff, 1}, {0xac00, 0xd7a3, 1},
}}

// usesJoiners reports whether r is of a script in which joiners shape letters:
// the cursive ones of ArabicShaping.txt and those with a virama.
func usesJoiners(r rune) bool {
	return unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa,
		unicode.Manichaean, unicode.Psalter_Pahlavi, unicode.Hanifi_Rohingya, unicode.Sogdian, unicode.Old_Uyghur,
		unicode.Chorasmian, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar,
		unicode.Khmer, unicode.Tai_Tham, unicode.Balinese, unicode.Javanese, unicode.Sundanese, unicode.Meetei_Mayek,
		unicode.Brahmi, unicode.Grantha, unicode.Sharada, unicode.Newa, unicode.Tirhuta, unicode.Siddham, unicode.Modi,
		unicode.Chakma, unicode.Kaithi, unicode.Syloti_Nagri, unicode.Saurashtra, unicode.Nandinagari)
}

// unspaced reports whether r is of a script that writes words without spaces,
// and may mark word boundaries with U+200B.
func unspaced(r rune) bool {
	return unicode.In(r,
		unicode.Khmer, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Tai_Tham, unicode.Tai_Viet,
		unicode.New_Tai_Lue, unicode.Tai_Le, unicode.Javanese, unicode.Balinese)
}

// rightToLeft reports whether r is strongly right-to-left.
func rightToLeft(r rune) bool {
	if r < 0x590 {
		return false
	}
	properties, _ := bidi.LookupRune(r)
	return properties.Class() == bidi.R || properties.Class() == bidi.AL
}

// variable reports whether r may have one of the three variants that StandardizedVariants.txt
// gives to ideographs, mathematical and chess symbols, East Asian punctuation and some letters.
func variable(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case 0x3000 < r && r < 0x3020,
		0xff00 < r && r < 0xff20,
		0x2018 <= r && r <= 0x201d:
		return true
	case 0x2600 <= r && r < 0x2700:
		return true
	}
	return unicode.In(r, unicode.Unified_Ideograph, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean)
}

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

var flagTags = []string{tagsOfEngland, tagsOfScotland, tagsOfWales}
