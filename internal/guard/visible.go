package guard

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// A token may contain what nobody sees: a soft hyphen, a zero-width space or a mark of direction from a page that was
// copied, or "<wbr>". It may be in full-width letters. Such a text is searched as a reader sees it, too.

// visibleLevels returns the levels of a text without what is invisible in words, as far as there is any.
func visibleLevels(text []byte, parent *level) (levels []*level) {
	for _, decode := range []func([]byte) *view{withoutBreakTags, visible} {
		v := decode(text)
		if v == nil {
			continue
		}
		parent = &level{view: v, parent: parent}
		text = v.text
		levels = append(levels, parent)
	}
	return levels
}

// withoutBreakTags removes the places where HTML allows a line break within a word. It returns nil if there are none.
func withoutBreakTags(text []byte) *view {
	return decode(text, '<', func(rest []byte) ([]byte, int) {
		for _, tag := range []string{"<wbr>", "<wbr/>", "<wbr />"} {
			if hasPrefixFold(rest, tag) {
				return nil, len(tag)
			}
		}
		return nil, 0
	})
}

// visible returns a text without the invisible characters in its words, with ASCII in place of full-width characters,
// and with plain spaces. It returns nil if the text has no invisible character in a word, no full-width letter, and no
// other space beside a sign that assigns a value.
func visible(text []byte) *view {
	first := nextNonASCII(text, 0)
	reason := first
	for reason < len(text) && !isSeenOtherwise(text, reason) {
		_, size := utf8.DecodeRune(text[reason:])
		reason = nextNonASCII(text, reason+size)
	}
	if reason == len(text) {
		return nil
	}
	v := &view{text: make([]byte, 0, len(text))}
	copied := 0
	for at := first; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		seen, isKnown := seenAs(r)
		if isKnown {
			v.copyText(text[copied:at], copied)
			v.addDecoded(seen, at, size)
			copied = at + size
		}
		at = nextNonASCII(text, at+size)
	}
	v.copyText(text[copied:], copied)
	return v
}

// nextNonASCII returns the offset of the first byte at or after an offset that is not ASCII, or the length of the text.
func nextNonASCII(text []byte, from int) int {
	const highBits = 0x8080808080808080
	for from+8 <= len(text) && binary.LittleEndian.Uint64(text[from:])&highBits == 0 {
		from += 8
	}
	for from < len(text) && text[from] < utf8.RuneSelf {
		from++
	}
	return from
}

// isSeenOtherwise reports whether the character at an offset is a reason to search the visible text: invisible between
// ASCII letters or signs of tokens, a full-width letter, digit or "_", or a space beside ":" or "=".
func isSeenOtherwise(text []byte, at int) bool {
	r, size := utf8.DecodeRune(text[at:])
	isLetter := 0xc0 <= r && r < 0x300
	if isLetter {
		return false
	}
	seen, isKnown := seenAs(r)
	switch {
	case !isKnown:
		return false
	case len(seen) == 0:
		isInWord := at > 0 && isToken[text[at-1]]
		return isInWord && isToken[byteBehind(text, at)]
	case seen[0] == ' ':
		isBehind := at > 0 && isAssignment(text[at-1])
		return isBehind || at+size < len(text) && isAssignment(text[at+size])
	}
	return isWordByte[seen[0]]
}

// isAssignment reports whether a byte assigns a value to a name.
func isAssignment(c byte) bool { return c == ':' || c == '=' }

// byteBehind returns the byte behind a run of invisible characters, or 0 at the end of the text.
func byteBehind(text []byte, at int) byte {
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		seen, isKnown := seenAs(r)
		if !isKnown || len(seen) > 0 {
			return text[at]
		}
		at += size
	}
	return 0
}

// seenAs returns the ASCII text as which a reader sees a character: none for an invisible one. isKnown is false for
// characters that stand for themselves.
func seenAs(r rune) (seen []byte, isKnown bool) {
	switch {
	case r == 0xa0:
		return []byte(" "), true
	case r < 0x300: // of these letters only the soft hyphen is invisible
		return nil, r == 0xad
	case r == utf8.RuneError, 0x3400 <= r && r < 0xfb00: // most letters of Chinese and Korean
		return nil, false
	case 0xff01 <= r && r <= 0xff5e: // full-width ASCII
		return fullWidth[r-0xff01 : r-0xff00], true
	case unicode.Is(unicode.Zs, r):
		return []byte(" "), true
	case 0x115f <= r && r <= 0x1160, r == 0x3164, r == 0xffa0: // Hangul fillers
		return nil, true
	}
	return nil, unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me)
}

// fullWidth has the ASCII characters that have a full-width form, in order.
var fullWidth = []byte(
	"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~")
