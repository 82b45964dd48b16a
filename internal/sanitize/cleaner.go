package sanitize

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleaner keeps what the rules need to know about the text before the current position. Each rule
// depends only on the displayed text on the left and on one character on the right that is always
// displayed, so that Text is idempotent.
type cleaner struct {
	report   Report
	most     int  // bytes of output after which run stops before the next escape, 0 for no limit
	size     int  // bytes of output so far
	onlySize bool // count the output instead of writing it
	started  bool // this is not the start of the text
	prev     rune // the previous code point, if displayed as itself; otherwise hidden or broken
	base     rune // the last code point other than marks, selectors and joiners, if displayed as itself
	marks    int  // combining marks since base
}

// The values of prev that are not code points of the text.
const (
	hidden = 0  // nothing, or a character that became an escape
	broken = -1 // a run of invalid bytes
)

const end rune = 0 // follows the last character; no rule matches it

// part tells whether more of a text follows.
type part bool

const (
	lastPart   part = true
	notTheLast part = false
)

// run cleans s. It writes the cleaned text of s[:from] to out; s[from:n] needs no
// change and is left to the caller. If s is not the last part, n stops before the
// bytes that cannot be judged yet, which are fewer than maxPending.
func (c *cleaner) run(out *strings.Builder, s string, position part) (from, n int) {
	i := 0
	for i < len(s) {
		if ascii := asciiRun(s[i:]); ascii > 0 {
			i += ascii
			c.pass(rune(s[i-1]))
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			if position != lastPart && !utf8.FullRuneInString(s[i:]) {
				break
			}
			c.copyTo(out, s, from, i)
			if c.prev != broken {
				c.write(out, string(utf8.RuneError))
				c.report.Invalid++
				c.prev = broken
				c.base = hidden
				c.marks = 0
			}
			i++
			from = i
			continue
		}
		k := kindOf(r)
		if k == plain {
			c.pass(r)
			i += size
			continue
		}
		rest := s[i+size:]
		if r == bom && i == 0 && !c.started {
			c.report.BOM++
			i = size
			from = size
			continue
		}
		if position != lastPart && undecided(k, rest) {
			break
		}
		if k == flag {
			i += size + c.raise(rest)
			continue
		}
		next := end
		if rest != "" {
			next, _ = utf8.DecodeRuneInString(rest)
		}
		if c.belongs(k, r, next) {
			c.keep(k, r)
			i += size
			continue
		}
		if c.most > 0 && c.size+i-from > c.most-maxEscape {
			break
		}
		c.copyTo(out, s, from, i)
		// Write r as \u{…}, the form of ECMAScript, Rust and Swift. It is delimited, and so needs no leading
		// zeros.
		var buffer [maxEscape]byte
		text := append(strconv.AppendInt(append(buffer[:0], `\u{`...), int64(r), 16), '}')
		c.size += len(text)
		if !c.onlySize {
			out.Write(text)
		}
		c.hide(k)
		i += size
		from = i
	}
	c.started = c.started || i > 0
	return from, i
}

// copyTo writes s[from:to]. The first call for a long text reserves space for all of it
// and an eighth more, because each growth leaves a copy as garbage. Escapes may need eight
// times as much, so for a text of megabytes the exact size is computed first.
func (c *cleaner) copyTo(out *strings.Builder, s string, from, to int) {
	if c.size == 0 && len(s) >= longText && !c.onlySize {
		capacity := len(s) + len(s)/8
		if len(s) >= veryLongText {
			counter := cleaner{most: c.most, onlySize: true}
			from, n := counter.run(nil, s, lastPart)
			capacity = counter.size + n - from
		}
		out.Grow(capacity)
	}
	c.write(out, s[from:to])
}

// write writes clean text, and counts its bytes. With onlySize it writes nothing.
func (c *cleaner) write(out *strings.Builder, text string) {
	c.size += len(text)
	if !c.onlySize {
		out.WriteString(text)
	}
}

// veryLongText is the size in bytes from which the memory of a copy costs more than a second pass.
const veryLongText = 1 << 20

// maxEscape is the maximum length of an escape in bytes: \u{10ffff}.
const maxEscape = 10

// longText is the size in bytes from which the cost of a copy matters.
const longText = 64 << 10

// pass updates the state after a character that is always displayed.
func (c *cleaner) pass(r rune) {
	c.prev = r
	c.base = r
	c.marks = 0
}

// keep updates the state after a character of kind k that is displayed at this position.
func (c *cleaner) keep(k kind, r rune) {
	switch k {
	case mark, graphemeJoiner:
		c.marks++
	case carriage, filler:
		c.base = r
		c.marks = 0
	}
	c.prev = r
}

// hide counts a character of kind k that becomes an escape, and updates the state. After a mark too
// many, further marks are too many as well.
func (c *cleaner) hide(k kind) {
	switch k {
	case control, carriage:
		c.report.Controls++
	case escape:
		c.report.Escapes++
	case bidirectional, direction:
		c.report.Bidi++
	case mark:
		c.report.Marks++
	default:
		c.report.Invisible++
	}
	c.prev = hidden
	c.base = hidden
	if k != mark {
		c.marks = 0
	}
}

// raise updates the state after a black flag, and returns the length of the tags that make it another flag.
func (c *cleaner) raise(rest string) int {
	c.pass(blackFlag)
	for _, tags := range flagTags {
		if strings.HasPrefix(rest, tags) {
			c.prev = cancelTag
			return len(tags)
		}
	}
	return 0
}

// maxPending limits the text that must be kept for the next piece: a black flag and its tags.
const maxPending = 4 + len(tagsOfEngland)

// undecided reports whether the decision about a character of kind k needs more text than rest.
func undecided(k kind, rest string) bool {
	switch k {
	case mark, control, escape, bidirectional, invisible:
		return false
	case flag: // rest may be the start of tags
		return slices.ContainsFunc(
			flagTags,
			func(tags string) bool { return len(rest) < len(tags) && strings.HasPrefix(tags, rest) },
		)
	}
	return !utf8.FullRuneInString(rest)
}

// belongs reports whether r, of kind k, is displayed at this position.
func (c *cleaner) belongs(k kind, r, next rune) bool {
	switch k {
	case mark:
		return c.marks < maxMarks
	case carriage: // part of a line end; alone it would overwrite the line
		return next == '\n'
	case joiner:
		return c.joins(r, next)
	case direction: // ordinary typography next to right-to-left text: UAX #9 section 2.6
		return rightToLeft(c.before()) || c.stays(next) && rightToLeft(next)
	case wordSpace: // a possible line break in scripts without spaces: Unicode 23.2
		return unspaced(c.before()) && c.stays(next) && unspaced(next)
	case selector:
		return c.selects(r, next)
	case mongolian: // the selectors and the vowel separator: Unicode 13.5
		if r == mvs {
			return isLetterOf(unicode.Mongolian, c.before()) && isLetterOf(unicode.Mongolian, next)
		}
		return isLetterOf(unicode.Mongolian, c.prev)
	case graphemeJoiner: // preserves the order of two marks: Unicode 23.2
		return c.prev != cgj && c.marks+1 < maxMarks && kindOf(next) == mark
	case filler: // a Hangul syllable without its first consonant or its vowel: Unicode 3.12
		switch r {
		case choseong:
			return isVowelOfHangul(next)
		case jungseong:
			return isConsonantOfHangul(c.prev)
		}
		return false
	case notation:
		if kindOf(c.prev) != notation && notationOf(c.before(), r) {
			return true
		}
		return c.stays(next) && notationOf(next, r)
	}
	return false
}

// isVowelOfHangul reports whether r is the vowel of a syllable: Jungseong of the blocks Hangul Jamo and Extended-B.
func isVowelOfHangul(r rune) bool {
	isBasic := 0x1161 <= r && r <= 0x11a7
	isExtended := 0xd7b0 <= r && r <= 0xd7c6
	return isBasic || isExtended
}

// isConsonantOfHangul reports whether r begins a syllable: Choseong of the blocks Hangul Jamo and Extended-A.
func isConsonantOfHangul(r rune) bool {
	isBasic := 0x1100 <= r && r <= 0x115e
	isExtended := 0xa960 <= r && r <= 0xa97c
	return isBasic || isExtended
}

// stays reports whether next is always displayed, so that a rule may depend on it.
func (c *cleaner) stays(next rune) bool {
	switch kindOf(next) {
	case plain, flag:
		return true
	case mark:
		return c.marks < maxMarks
	}
	return false
}

// before returns the letter to which a character after prev would belong. After a
// joiner or direction mark it returns hidden, so that these do not accumulate.
func (c *cleaner) before() rune {
	switch c.prev {
	case zwsp, zwnj, zwj, lrm, rlm, alm, mvs:
		return hidden
	}
	return c.base
}

// joins reports whether the zero width joiner or non-joiner r is displayed. They shape
// the letters of cursive and Indic scripts (UAX #31 section 2.3, Unicode 9.2, 12.1 and
// 23.2), also at the end or start of a word, and between a letter and a number or foreign
// word. The joiner combines several emoji into one (UAX #29 rule GB11).
func (c *cleaner) joins(r, next rune) bool {
	if r == zwj && pictographic(next) {
		switch { // an emoji ends here, with its selector, skin tone or tags
		case c.prev == selector1+15:
			if pictographic(c.base) {
				return true
			}
		case c.prev == cancelTag, 0x1f3fb <= c.prev && c.prev <= 0x1f3ff, pictographic(c.prev):
			return true
		}
	}
	if c.prev == zwnj || c.prev == zwj {
		return false
	}
	return usesJoiners(c.before()) || c.stays(next) && usesJoiners(next)
}

// selects reports whether the variation selector r is displayed: only directly after
// a character that has variants (Unicode 23.4, UTS #37 for ideographs, UTS #51 for
// emoji). Elsewhere a row of selectors could carry hidden bytes.
func (c *cleaner) selects(r, next rune) bool {
	switch {
	case r >= selector17:
		return unicode.Is(unicode.Unified_Ideograph, c.prev)
	case r >= selector1+14: // text or emoji style
		isKeycap := next == keycap && strings.ContainsRune("0123456789#*", c.prev)
		return pictographic(c.prev) || isKeycap
	case r < selector1+3 && variable(c.prev):
		return true
	case r == selector1 && c.prev == '0': // zero with a stroke
		return true
	}
	return r < selector1+7 && isLetterOf(unicode.Egyptian_Hieroglyphs, c.prev) // rotated
}

func isLetterOf(script *unicode.RangeTable, r rune) bool {
	return unicode.Is(script, r) && unicode.IsLetter(r)
}

// notationOf reports whether the format character format may be next to r:
// in hieroglyphs (Unicode 11.4), shorthand (21.6) or music (21.2).
func notationOf(r, format rune) bool {
	switch {
	case format < 0x13440:
		return isLetterOf(unicode.Egyptian_Hieroglyphs, r)
	case format < 0x1d000:
		return unicode.Is(unicode.Duployan, r)
	}
	return 0x1d100 <= r && r < 0x1d200
}
