package query

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/query/trigram"
	"vaultwicket/cmd/internal/vault/regex"
)

// regexTerm is a regular expression of JavaScript with the flag m.
//
// There are two engines. That of the standard library takes linear time and is used for regexes
// with the same meaning there, see translator. Everything else (look-around, back-references,
// flag u) is matched by a backtracking engine. Both are stopped by the budget of the call, and
// work on characters, where JavaScript without the flag u works on UTF-16 code units.
type regexTerm struct {
	source, flags string

	full     func() *regex.Regexp // compiled when first needed: it can take milliseconds
	linear   *linear              // nil if it would not mean the same
	anchored bool                 // linear means the same only where lines end in "\n"
	alone    sync.Mutex           // held while the other engine has a large text
	required *needle              // text without which there is no match; nil if not known
}

// newRegex compiles a regex. The flag i overrides exact; g and d have no effect.
func newRegex(source, flags string, exact bool) (*regexTerm, error) {
	exact = exact && !strings.Contains(flags, "i")
	dotAll, unicode := strings.Contains(flags, "s"), strings.Contains(flags, "u")
	options := regex.Flags{Multiline: true, DotAll: dotAll, Unicode: unicode}
	// Whether it is a regex does not depend on case, and this is the fast way to know.
	plain, err := regex.Compile(source, options, budget.Default.Match)
	if err != nil {
		return nil, err
	}
	r := &regexTerm{source: source, flags: flags, full: func() *regex.Regexp { return plain }}
	if !exact {
		r.full = sync.OnceValue(func() *regex.Regexp {
			options.IgnoreCase = true
			folding, err := regex.Compile(source, options, budget.Default.Match)
			if err != nil {
				return plain // cannot happen: only the case differs
			}
			return folding
		})
	}
	if !unicode {
		r.required = requiredText(source, exact)
		if t := (translator{source: source, exact: exact, dotAll: dotAll}); t.run() {
			r.linear, r.anchored = newLinear(t.out.String()), t.anchored
		}
	}
	return r, nil
}

func (r *regexTerm) each(b *budget.Budget, text []byte, many bool, try func(start, end int) verdict) {
	if !r.mayOccur(text) {
		return
	}
	left := 1
	if many {
		left = maxLines
	}
	visit := func(start, end int) bool {
		left--
		return try(start, end) != stop && left > 0
	}
	if r.linear != nil && (!r.anchored || endsLinesSimply(text)) {
		_ = r.linear.each(b, r.source, text, visit) // the query tells of the end of its budget
		return
	}
	if len(text) > largeText {
		r.alone.Lock()
		defer r.alone.Unlock()
	}
	size := int64(len(text)) * 5
	if b.Hold(size) != nil {
		return
	}
	defer b.Release(size)
	_ = b.Match(r.source, func(left time.Duration) error {
		full := regex.Within(r.full(), left)
		if many {
			return regex.EachPlace(full, string(text), visit)
		}
		places, err := full.FindAllStringIndex(string(text), 1)
		if len(places) > 0 {
			visit(places[0][0], places[0][1])
		}
		return err
	})
}

// largeText is the size above which the backtracking engine processes one text at a time: it
// takes five times the size.
const largeText = 256 << 10

// endsLinesSimply reports whether text has no line end of JavaScript other than "\n".
func endsLinesSimply(text []byte) bool {
	return bytes.IndexByte(text, '\r') < 0 && !bytes.Contains(text, []byte("\u2028")) && !bytes.Contains(text, []byte("\u2029"))
}

func (r *regexTerm) mayOccur(text []byte) bool { return r.required == nil || r.required.in(text) }

func (r *regexTerm) grams() trigram.Word {
	if r.required == nil {
		return nil
	}
	return r.required.grams
}

func (r *regexTerm) cost() cost { return runsRegex }

func (r *regexTerm) write(to []byte) []byte {
	to = append(append(append(to, '/'), r.source...), '/')
	return append(to, r.flags...)
}

// linear is a regex for the engine of the standard library, which takes time proportional to
// text times regex and can be interrupted only where it reads character by character. So a
// short text is matched in one call, and a long one through a reader that stops at the time
// limit.
type linear struct {
	first  *regexp.Regexp
	onward func() *regexp.Regexp // that matches one character, which is known already, and then from there on
	size   int                   // instructions
}

const (
	// maxInstructions bounds what one character of a text takes, and the memory of a match.
	maxInstructions = 1 << 14
	// littleWork is how many instructions a call of the engine may look at without being
	// interruptible: a few milliseconds. Above it the engine is as slow by itself.
	littleWork = 1 << 18
	// lookEvery is how many instructions pass before the time and the context are looked at.
	lookEvery = 1 << 15
)

// newLinear compiles a regex. It returns nil if the engine refuses its repetitions or it is too
// large.
func newLinear(source string) *linear {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	l := &linear{size: instructions(parsed)}
	if l.size > maxInstructions {
		return nil
	}
	l.first = regexp.MustCompile(source)
	l.onward = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + source + ")") })
	return l
}

// instructions estimates the number of instructions of a regex.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	if re.Op == syntax.OpLiteral {
		n = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += 1 + instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min+1, re.Max)
	}
	return n
}

// each visits the matches in a text as FindAllIndex does, until visit returns false. The errors
// are those of [budget.Budget.Match].
func (l *linear) each(b *budget.Budget, source string, text []byte, visit func(start, end int) bool) error {
	for at, behind := 0, -1; at <= len(text); {
		re, group, from := l.first, 0, 0
		if at > 0 { // what is before decides whether a word or a line begins
			_, size := utf8.DecodeLastRune(text[:at])
			re, group, from = l.onward(), 2, at-size
		}
		rest := text[from:]
		var place []int
		err := b.Match(source, func(left time.Duration) error {
			if len(rest) <= littleWork/l.size {
				place = re.FindSubmatchIndex(rest)
				return nil
			}
			begun := time.Now()
			in := &interruptible{text: rest, every: lookEvery/l.size + 1, over: func() bool { return b.Err() != nil || time.Since(begun) >= left }}
			if place = re.FindReaderSubmatchIndex(in); in.stopped {
				return errStopped
			}
			return nil
		})
		if err != nil || place == nil {
			return err
		}
		start, end := from+place[group], from+place[group+1]
		isNew := start < end || start != behind
		behind = end
		if end == at {
			_, size := utf8.DecodeRune(text[at:])
			end += max(size, 1)
		}
		at = end
		if isNew && !visit(start, behind) {
			return nil
		}
	}
	return nil
}

var errStopped = errors.New("the match was stopped")

// interruptible is a reader that stops when the match has to end.
type interruptible struct {
	text        []byte
	every, left int // characters, until over is asked again
	over        func() bool
	stopped     bool
}

// ReadRune implements [io.RuneReader].
func (t *interruptible) ReadRune() (rune, int, error) {
	if t.left--; t.left < 0 {
		t.left, t.stopped = t.every, t.over()
	}
	if t.stopped || len(t.text) == 0 {
		return 0, 0, io.EOF
	}
	r, size := utf8.DecodeRune(t.text)
	t.text = t.text[size:]
	return r, size, nil
}

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

func isWordByte(c byte) bool { return joins(rune(c)) || c < ' ' || c == ' ' }

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
	for _, c := range []byte(text[2 : 2+digits]) {
		i := strings.IndexByte("0123456789abcdef", foldByte(c))
		if i < 0 {
			return 0, 0, 0
		}
		r = r<<4 | rune(i)
	}
	if !utf8.ValidRune(r) {
		return 0, 0, 0
	}
	return r, 0, 2 + digits
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

// minRequired is the length from which a required text is searched first.
const minRequired = 2

// requiredText returns the longest text that every match of a regex contains, nil if none is
// found. It considers only ASCII outside groups: it is an optimization.
func requiredText(source string, exact bool) *needle {
	var runs []string
	var run []byte
	end := func() { runs, run = append(runs, string(run)), nil }
	depth := 0
	for at := 0; at < len(source); at = regex.Next(source, at) {
		c := source[at]
		switch {
		case c == '(':
			depth++
			end()
		case c == ')':
			depth--
			end()
		case depth > 0:
		case c == '|':
			return nil
		case c == '*' || c == '?':
			run = run[:max(len(run)-1, 0)]
			end()
		case c == '{':
			run = run[:max(len(run)-1, 0)]
			end()
			at += max(repetition(source[at:])-1, 0)
		case c == '\\':
			r, class, size := readEscape(source[at:])
			if size != 2 {
				return nil // what follows may belong to the escape
			}
			if class != 0 {
				end()
				break
			}
			run = append(run, byte(r))
		case strings.IndexByte("+^$.[]}", c) >= 0 || c >= utf8.RuneSelf:
			end()
		default:
			run = append(run, c)
		}
	}
	end()
	best := slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) })
	if len(best) < minRequired {
		return nil
	}
	return newNeedle(best, exact)
}
