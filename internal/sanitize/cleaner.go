package sanitize

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleaner is the state of the text before a place that the rules need. Each rule depends on
// the shown text on the left and on a character on the right that is shown in any case, so that
// Text is idempotent.
type cleaner struct {
	report  Report
	most    int  // bytes of output after which run stops before the next escape, 0 for no bound
	size    int  // bytes of output so far
	counts  bool // only size is wanted
	started bool // this is not the start of the text
	prev    rune // the code point before, if it is shown as itself; else hidden or broken
	base    rune // the last that is neither mark nor selector nor joiner, if shown as itself
	marks   int  // combining marks since base
}

// The values of prev that are no code points of the text.
const (
	hidden = 0  // nothing, or an escape
	broken = -1 // a run of invalid bytes
)

const end rune = 0 // what follows the last character: none that a rule asks for

// part says whether more of a text follows.
type part bool

const (
	lastPart   part = true
	notTheLast part = false
)

// run judges s and writes to out what is before from; s[from:n] is shown as it
// is. Where s is not the last of its text, n stops before what cannot be judged
// yet: that is less than maxPending bytes.
func (c *cleaner) run(out *strings.Builder, s string, is part) (from, n int) {
	i := 0
	for i < len(s) {
		if ascii := asciiRun(s[i:]); ascii > 0 {
			i += ascii
			c.pass(rune(s[i-1]))
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			if is != lastPart && !utf8.FullRuneInString(s[i:]) {
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
		if is != lastPart && undecided(k, rest) {
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
		// Write r as \u{…}: the form of ECMAScript, Rust and Swift, which has an end and so needs no more
		// digits than there are.
		var buffer [maxEscape]byte
		text := append(strconv.AppendInt(append(buffer[:0], `\u{`...), int64(r), 16), '}')
		c.size += len(text)
		if !c.counts {
			out.Write(text)
		}
		c.hide(k)
		i += size
		from = i
	}
	c.started = c.started || i > 0
	return from, i
}

// copyTo writes s[from:to]. The first time it makes room for all of a long text and
// an eighth more, because each growth leaves a copy of it as garbage. Escapes can need
// eight times as much, so for a text of megabytes the room is counted first.
func (c *cleaner) copyTo(out *strings.Builder, s string, from, to int) {
	if c.size == 0 && len(s) >= longText && !c.counts {
		capacity := len(s) + len(s)/8
		if len(s) >= veryLongText {
			counter := cleaner{most: c.most, counts: true}
			from, n := counter.run(nil, s, lastPart)
			capacity = counter.size + n - from
		}
		out.Grow(capacity)
	}
	c.write(out, s[from:to])
}

// write writes text that may be shown, and counts its bytes. A cleaner that only counts writes nothing.
func (c *cleaner) write(out *strings.Builder, text string) {
	c.size += len(text)
	if !c.counts {
		out.WriteString(text)
	}
}

// veryLongText is from how many bytes on the memory of a second copy matters more than a second look.
const veryLongText = 1 << 20

// maxEscape is how many bytes an escape has at most: \u{10ffff}.
const maxEscape = 10

// longText is how long a text is, in bytes, of which a copy matters.
const longText = 64 << 10

// pass continues after a character that is shown in any case.
func (c *cleaner) pass(r rune) {
	c.prev = r
	c.base = r
	c.marks = 0
}

// keep continues after a character of kind k that is shown here.
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

// hide continues after a character that is shown as an escape. Marks after one that is too many
// are too many, too.
func (c *cleaner) hide(k kind) {
	// Note one code point of kind k that is shown as an escape.
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

// raise continues after a black flag and returns the length of the tags that make it another flag.
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

// maxPending bounds the text that has to be kept for the next piece: a black flag and its tags.
const maxPending = 4 + len(tagsOfEngland)

// undecided reports whether a character of kind k depends on more than rest.
func undecided(k kind, rest string) bool {
	switch k {
	case mark, control, escape, bidirectional, invisible:
		return false
	case flag: // too short to tell whether tags follow
		return slices.ContainsFunc(
			flagTags,
			func(tags string) bool { return len(rest) < len(tags) && strings.HasPrefix(tags, rest) },
		)
	}
	return !utf8.FullRuneInString(rest)
}

// belongs reports whether r, of kind k, is shown here.
func (c *cleaner) belongs(k kind, r, next rune) bool {
	switch k {
	case mark:
		return c.marks < maxMarks
	case carriage: // a line end; alone it would overwrite the line
		return next == '\n'
	case joiner:
		return c.joins(r, next)
	case direction: // ordinary typography next to right-to-left text: UAX #9 section 2.6
		return rightToLeft(c.before()) || c.stays(next) && rightToLeft(next)
	case wordSpace: // where a line may break in scripts without spaces: Unicode 23.2
		return unspaced(c.before()) && c.stays(next) && unspaced(next)
	case selector:
		return c.selects(r, next)
	case mongolian: // the selectors and the vowel separator: Unicode 13.5
		if r == mvs {
			return isLetterOf(unicode.Mongolian, c.before()) && isLetterOf(unicode.Mongolian, next)
		}
		return isLetterOf(unicode.Mongolian, c.prev)
	case graphemeJoiner: // keeps two marks in their order: Unicode 23.2
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

// stays reports whether next is shown in any case, so that a rule may depend on it.
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
// joiner or a direction mark there is none, so that they do not accumulate.
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
	if r == zwj && pictographic(next) {
		switch { // an emoji ends here, with the selector, the skin tone or the tags it may carry
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

// selects judges a variation selector: one, directly after a character that
// has variants (Unicode 23.4, UTS #37 for ideographs, UTS #51 for emoji).
// Elsewhere a row of them can carry any bytes unseen.
func (c *cleaner) selects(r, next rune) bool {
	switch {
	case r >= selector17:
		return unicode.Is(unicode.Unified_Ideograph, c.prev)
	case r >= selector1+14: // as text, as emoji
		isKeycap := next == keycap && strings.ContainsRune("0123456789#*", c.prev)
		return pictographic(c.prev) || isKeycap
	case r < selector1+3 && variable(c.prev):
		return true
	case r == selector1 && c.prev == '0': // with a stroke
		return true
	}
	return r < selector1+7 && isLetterOf(unicode.Egyptian_Hieroglyphs, c.prev) // rotated
}

func isLetterOf(script *unicode.RangeTable, r rune) bool {
	return unicode.Is(script, r) && unicode.IsLetter(r)
}

// notationOf reports whether format is written next to r to format it:
// hieroglyphs (Unicode 11.4), shorthand (21.6) and music (21.2).
func notationOf(r, format rune) bool {
	switch {
	case format < 0x13440:
		return isLetterOf(unicode.Egyptian_Hieroglyphs, r)
	case format < 0x1d000:
		return unicode.Is(unicode.Duployan, r)
	}
	return 0x1d100 <= r && r < 0x1d200
}
