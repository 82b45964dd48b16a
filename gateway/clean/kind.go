package clean

import "unicode"

// kind says how a character is judged.
type kind uint8

const (
	plain kind = iota // shown, whatever stands beside it
	mark              // combining, shown up to maxMarks in a row
	flag              // U+1F3F4, shown, and may open an emoji tag sequence

	// Shown where they belong, see [cleaner.belongs].
	carriage
	joiner
	direction
	wordSpace
	selector
	mongolian
	graphemeJoiner
	filler
	notation

	// Never shown.
	control
	escape
	bidirectional
	invisible
)

// maxMarks is how many combining marks one letter carries. Hebrew with
// cantillation needs four or five, Tibetan stacks rarely more; Unicode's own
// stream-safe bound of 30 (UAX #15) is about memory and covers lines above.
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
	choseong   = '\u115f' // Hangul fillers: in the place of a first consonant,
	jungseong  = '\u1160' // and in the place of a vowel
	blackFlag  = '\U0001f3f4'
	cancelTag  = '\U000e007f'
	selector1  = '\ufe00'
	selector17 = '\U000e0100'
)

// kindOf returns the kind of r.
func kindOf(r rune) kind {
	switch {
	case r < 0x20:
		return kindOfC0(r)
	case r < 0x7f:
		return plain
	case r < 0xa0:
		return kindOfC1(r)
	case r < 0x300:
		if r == 0xad { // soft hyphen: seen only where a line breaks, Unicode 6.2
			return invisible
		}
		return plain
	case r < 0x370:
		if r == cgj {
			return graphemeJoiner
		}
		return mark
	case r >= 0xe0000:
		return kindOfHigh(r)
	}
	if k := kindOfFormat(r); k != plain {
		return k
	}
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
		return mark
	}
	return plain
}

// kindOfC0: ECMA-48 section 5.2, and Unicode 23.1.
func kindOfC0(r rune) kind {
	switch r {
	case '\n', '\t':
		return plain
	case '\r':
		return carriage
	case 0x1b:
		return escape
	}
	return control
}

// kindOfC1: ECMA-48 section 5.3. DCS, SOS, CSI, ST, OSC, PM and APC are one
// character here, and two, with ESC, in seven bits.
func kindOfC1(r rune) kind {
	if r == 0x90 || r == 0x98 || 0x9b <= r {
		return escape
	}
	return control
}

// kindOfHigh: planes 14 to 16. Of plane 14 all but the selectors is reserved for
// characters that are not seen (Unicode 23.9); the others are private.
func kindOfHigh(r rune) kind {
	switch {
	case selector17 <= r && r <= 0xe01ef:
		return selector
	case r < 0xe1000, r&0xfffe == 0xfffe:
		return invisible
	}
	return plain
}

// kindOfFormat knows the format characters below plane 14 that kindOf has not
// met yet: the default ignorable code points of Unicode 5.21 with what is like
// them, and the noncharacters of 23.7. Everything else is plain.
func kindOfFormat(r rune) kind {
	switch {
	case r == alm:
		return direction
	case r == choseong, r == jungseong:
		return filler
	case r == 0x17b4, r == 0x17b5: // Khmer inherent vowels, not to be used: Unicode 16.4
		return invisible
	case 0x180b <= r && r <= 0x180f:
		return mongolian
	case 0x2000 <= r && r < 0x2070:
		return kindOfPunctuation(r)
	case r == 0x3164, r == 0xffa0: // Hangul fillers of old encodings: Unicode 18.6
		return invisible
	case 0xfdd0 <= r && r <= 0xfdef, r&0xfffe == 0xfffe: // noncharacters
		return invisible
	case selector1 <= r && r < 0xfe10:
		return selector
	case r == bom, 0xfff0 <= r && r < 0xfffc: // with the interlinear annotations, Unicode 23.8
		return invisible
	case 0x13430 <= r && r < 0x13440, 0x1bca0 <= r && r < 0x1bca4, 0x1d173 <= r && r < 0x1d17b:
		return notation
	case r == blackFlag:
		return flag
	}
	return plain
}

// kindOfPunctuation: the block General Punctuation, Unicode 23.2 and 23.3.
func kindOfPunctuation(r rune) kind {
	switch {
	case r == zwsp:
		return wordSpace
	case r == zwnj, r == zwj:
		return joiner
	case r == lrm, r == rlm:
		return direction
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return control
	case 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return bidirectional
	case 0x2060 <= r:
		return invisible
	}
	return plain
}
