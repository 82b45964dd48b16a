package query

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// translator translates a regex of JavaScript, without the flag u, to the syntax of the
// standard library. It refuses what would not have the same meaning. Its input is a valid
// regex.
//
// The differences: "." excludes four characters in JavaScript and one here; \s includes more
// there; the flag i compares upper-cased characters one by one there, so that k is not the
// Kelvin sign; "^" and "$" know four line ends there, which the caller checks.
type translator struct {
	source string
	exact  bool
	dotAll bool

	at       int
	out      strings.Builder
	anchored bool
}

const (
	spaceClass = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	lineEnds   = `\n\r\x{2028}\x{2029}`
)

// run translates characters, classes, escapes and starts of groups, and reports whether it
// succeeded.
func (t *translator) run() bool {
	for t.at < len(t.source) {
		c := t.source[t.at]
		switch c {
		case '\\':
			r, class, size := readEscape(t.source[t.at:])
			if size == 0 {
				return false
			}
			t.at += size
			switch class {
			case 0:
				if !t.literal(r) {
					return false
				}
			case 's':
				t.out.WriteString("[" + spaceClass + "]")
			case 'S':
				t.out.WriteString("[^" + spaceClass + "]")
			default:
				t.out.WriteString(`\` + string(class))
			}
			continue
		case '[':
			if !t.class() {
				return false
			}
			continue
		case '(':
			rest := t.source[t.at+1:]
			t.out.WriteString("(?:")
			switch {
			case strings.HasPrefix(rest, "?:"):
				t.at += len("(?:")
			case strings.HasPrefix(rest, "?<") && !strings.HasPrefix(rest, "?<=") && !strings.HasPrefix(rest, "?<!"):
				t.at += len("(") + strings.IndexByte(rest, '>') + 1
			case strings.HasPrefix(rest, "?"):
				return false
			default:
				t.at++
			}
			continue
		case '{':
			size := repetition(t.source[t.at:])
			if size == 0 {
				t.out.WriteString(`\{`)
				break
			}
			t.out.WriteString(t.source[t.at : t.at+size])
			t.at += size
			continue
		case '.':
			if t.dotAll {
				t.out.WriteString("(?s:.)")
			} else {
				t.out.WriteString("[^" + lineEnds + "]")
			}
		case '^', '$':
			t.anchored = true
			t.out.WriteString("(?m:" + string(c) + ")")
		case ')', '|', '*', '+', '?':
			t.out.WriteByte(c)
		default:
			r, size := utf8.DecodeRuneInString(t.source[t.at:])
			t.at += size
			if !t.literal(r) {
				return false
			}
			continue
		}
		t.at++
	}
	return true
}

// literal writes a character in both cases.
func (t *translator) literal(r rune) bool {
	same, ok := t.cases(r)
	if !ok {
		return false
	}
	t.out.WriteByte('[')
	t.inClass(same...)
	t.out.WriteByte(']')
	return true
}

func (t *translator) inClass(runes ...rune) {
	for _, r := range runes {
		if r < utf8.RuneSelf && !isWordByte(byte(r)) {
			t.out.WriteByte('\\')
		}
		t.out.WriteRune(r)
	}
}

func isWordByte(c byte) bool { return joins(rune(c)) || c <= ' ' }

// cases returns the characters that a literal matches; ok is false outside alphabets with
// simple case.
func (t *translator) cases(r rune) ([]rune, bool) {
	switch {
	case t.exact:
		return []rune{r}, true
	case isASCIILetter(r):
		return []rune{r, r ^ 0x20}, true
	}
	other := unicode.SimpleFold(r)
	switch {
	case other == r || r == 'ß' || r == 'ſ':
		return []rune{r}, true
	case r < 0xc0 || r > 0x17f && r < 0x391 || r > 0x3c9 && r < 0x400 || r > 0x52f || unicode.SimpleFold(other) != r:
		return nil, false
	}
	return []rune{r, other}, true
}

func isASCIILetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

// repetition returns the length of {n}, {n,} or {n,m} at the start of text.
func repetition(text string) int {
	digits := func(s string) string { return strings.TrimLeft(s, "0123456789") }
	rest := digits(text[1:])
	if len(rest) == len(text)-1 {
		return 0
	}
	if after, ok := strings.CutPrefix(rest, ","); ok {
		rest = digits(after)
	}
	if !strings.HasPrefix(rest, "}") {
		return 0
	}
	return len(text) - len(rest) + 1
}

// readEscape reads an escape outside a class: a character, or the letter of a class or
// boundary. The size is 0 for others.
func readEscape(text string) (r rune, class byte, size int) {
	if len(text) < 2 {
		return 0, 0, 0
	}
	c := text[1]
	switch c {
	case 'd', 'D', 'w', 'W', 's', 'S', 'b', 'B':
		return 0, c, 2
	case 't', 'n', 'v', 'f', 'r':
		return []rune("\t\n\v\f\r")[strings.IndexByte("tnvfr", c)], 0, 2
	case 'x':
		return readHex(text, 2)
	case 'u':
		return readHex(text, 4)
	}
	if c >= utf8.RuneSelf || c < ' ' || isWordByte(c) && c != ' ' {
		return 0, 0, 0
	}
	return rune(c), 0, 2
}

// readHex reads an escape with hexadecimal digits.
func readHex(text string, digits int) (r rune, class byte, size int) {
	if len(text) < 2+digits {
		return 0, 0, 0
	}
	n, err := strconv.ParseUint(text[2:2+digits], 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0, 0
	}
	return rune(n), 0, 2 + digits
}

// class writes a character class: characters, ranges and escapes.
func (t *translator) class() bool {
	read := func(text string) (r rune, class byte, size int) {
		if strings.HasPrefix(text, `\`) {
			return readEscape(text)
		}
		r, size = utf8.DecodeRuneInString(text)
		return r, 0, size
	}
	rest := t.source[t.at+1:]
	t.out.WriteByte('[')
	if after, ok := strings.CutPrefix(rest, "^"); ok {
		rest = after
		t.out.WriteByte('^')
	}
	if strings.HasPrefix(rest, "]") {
		return false
	}
	for !strings.HasPrefix(rest, "]") {
		low, class, size := read(rest)
		if size == 0 {
			return false
		}
		high, ranged := low, len(rest) > size+1 && rest[size] == '-' && rest[size+1] != ']'
		switch {
		case class == 0 && ranged:
			to, kind, more := read(rest[size+1:])
			if more == 0 || kind != 0 {
				return false
			}
			high = to
			size += 1 + more
		case class == 0:
		case ranged || class == 'b' || class == 'B' || class == 'S':
			return false
		case class == 's':
			t.out.WriteString(spaceClass)
		default:
			t.out.WriteString(`\` + string(class))
		}
		rest = rest[size:]
		switch {
		case class != 0:
		case low == high:
			same, ok := t.cases(low)
			if !ok {
				return false
			}
			t.inClass(same...)
		case t.exact:
			t.classRange(low, high)
		case high >= utf8.RuneSelf:
			return false
		default:
			t.classRange(low, high)
			t.classRange(max(low, 'a')-0x20, min(high, 'z')-0x20)
			t.classRange(max(low, 'A')+0x20, min(high, 'Z')+0x20)
		}
	}
	t.out.WriteByte(']')
	t.at = len(t.source) - len(rest) + 1
	return true
}

func (t *translator) classRange(low, high rune) {
	if low > high {
		return
	}
	t.inClass(low)
	t.out.WriteByte('-')
	t.inClass(high)
}
