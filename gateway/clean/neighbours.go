package clean

import "unicode"

// belongs reports whether r, of kind k, is shown where it stands.
func (c *cleaner) belongs(k kind, r, next rune) bool {
	switch k {
	case mark:
		return c.marks < maxMarks
	case carriage: // a line end; alone it would overwrite the line
		return next == '\n'
	case joiner:
		return c.joins(r, next)
	case direction: // ordinary typography beside right-to-left text: UAX #9 section 2.6
		return rightToLeft(c.before()) || c.stays(next) && rightToLeft(next)
	case wordSpace: // where a line may break in scripts without spaces: Unicode 23.2
		return unspaced(c.before()) && c.stays(next) && unspaced(next)
	case selector:
		return c.selects(r, next)
	case mongolian:
		return c.shapes(r, next)
	case graphemeJoiner: // holds two marks in their order: Unicode 23.2
		return c.prev != cgj && c.marks+1 < maxMarks && kindOf(next) == mark
	case filler: // a Hangul syllable without its first consonant or its vowel: Unicode 3.12
		return r == choseong && isVowel(next) || r == jungseong && isConsonant(c.prev)
	case notation:
		return kindOf(c.prev) != notation && notationOf(c.before(), r) || c.stays(next) && notationOf(next, r)
	}
	return false
}

// stays reports whether next is shown in any case, so that a rule may rest on it.
func (c *cleaner) stays(next rune) bool {
	switch kindOf(next) {
	case plain, flag:
		return true
	case mark:
		return c.marks < maxMarks
	}
	return false
}

// before returns the letter to which something after prev would belong. Behind a
// joiner or a direction mark there is none, so that they do not pile up.
func (c *cleaner) before() rune {
	switch c.prev {
	case zwsp, zwnj, zwj, lrm, rlm, alm, mvs:
		return hidden
	}
	return c.base
}

// joins judges the zero width joiner and non-joiner. They shape the letters of
// cursive and Indic scripts (UAX #31 section 2.3, Unicode 9.2, 12.1 and 23.2):
// also at the end or the start of a word, and between a letter and a number or a
// foreign word. The joiner makes one emoji of several (UAX #29 rule GB11).
func (c *cleaner) joins(r, next rune) bool {
	if r == zwj && pictographic(next) && c.afterEmoji() {
		return true
	}
	switch c.prev {
	case zwnj, zwj:
		return false
	}
	return usesJoiners(c.before()) || c.stays(next) && usesJoiners(next)
}

// afterEmoji reports whether an emoji ends here, with the selector, the skin
// tone or the tags it may carry.
func (c *cleaner) afterEmoji() bool {
	switch {
	case c.prev == selector1+15:
		return pictographic(c.base)
	case c.prev == cancelTag, 0x1f3fb <= c.prev && c.prev <= 0x1f3ff:
		return true
	}
	return pictographic(c.prev)
}

// selects judges a variation selector: one, directly behind a character that
// has variants (Unicode 23.4, UTS #37 for ideographs, UTS #51 for emoji).
// Elsewhere a row of them can carry any bytes unseen.
func (c *cleaner) selects(r, next rune) bool {
	switch {
	case r >= selector17:
		return unicode.Is(unicode.Unified_Ideograph, c.prev)
	case r >= selector1+14: // as text, as emoji
		return pictographic(c.prev) || isKeycapBase(c.prev) && next == keycap
	case r < selector1+3 && variable(c.prev):
		return true
	case r == selector1 && c.prev == '0': // with a stroke
		return true
	}
	return r < selector1+7 && isHieroglyph(c.prev) // rotated
}

// shapes judges the Mongolian selectors and the vowel separator: Unicode 13.5.
func (c *cleaner) shapes(r, next rune) bool {
	if r == mvs {
		return isMongolian(c.before()) && isMongolian(next)
	}
	return isMongolian(c.prev)
}

func isKeycapBase(r rune) bool {
	return '0' <= r && r <= '9' || r == '#' || r == '*'
}

func isMongolian(r rune) bool {
	return unicode.Is(unicode.Mongolian, r) && unicode.IsLetter(r)
}

func isHieroglyph(r rune) bool {
	return unicode.Is(unicode.Egyptian_Hieroglyphs, r) && unicode.IsLetter(r)
}

// isConsonant and isVowel know the conjoining jamo without the fillers.
func isConsonant(r rune) bool { return 0x1100 <= r && r <= 0x115e || 0xa960 <= r && r <= 0xa97c }
func isVowel(r rune) bool     { return 0x1161 <= r && r <= 0x11a7 || 0xd7b0 <= r && r <= 0xd7c6 }

// notationOf reports whether r is written beside format for what it formats:
// hieroglyphs (Unicode 11.4), shorthand (21.6) and music (21.2).
func notationOf(r, format rune) bool {
	switch {
	case format < 0x13440:
		return isHieroglyph(r)
	case format < 0x1d000:
		return unicode.Is(unicode.Duployan, r)
	}
	return 0x1d100 <= r && r < 0x1d200
}
