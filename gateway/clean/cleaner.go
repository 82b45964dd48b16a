package clean

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// cleaner knows of the text before a place what the rules ask about it. Each
// rule looks at what is shown on the left and at a character on the right that
// is shown in any case; so the second time Text finds nothing to change.
type cleaner struct {
	report  Report
	most    int  // bytes of output after which run stops before the next escape, 0 for no bound
	size    int  // bytes of output so far
	counts  bool // only size is wanted
	started bool // something has gone by
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

// run judges s and writes to out what is before from; s[from:n] is shown as it
// is. Where s is not the last of its text, n stops before what cannot be judged
// yet: that is less than maxPending bytes.
func (c *cleaner) run(out *strings.Builder, s string, last bool) (from, n int) {
	i := 0
	for i < len(s) {
		if k, r := calmRun(s[i:]); k > 0 {
			c.pass(r)
			i += k
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			if !last && !utf8.FullRuneInString(s[i:]) {
				break
			}
			c.copyTo(out, s, from, i)
			c.repair(out)
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
			i, from = size, size
			continue
		}
		if !last && undecided(k, rest) {
			break
		}
		if k == flag {
			i += size + c.raise(rest)
			continue
		}
		if c.belongs(k, r, following(rest)) {
			c.keep(k, r)
			i += size
			continue
		}
		if c.most > 0 && c.size+i-from > c.most-maxEscape {
			break
		}
		c.copyTo(out, s, from, i)
		c.escape(out, r)
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
			from, n := counter.run(nil, s, true)
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

// escape writes r as \u{…}: the form of ECMAScript, Rust and Swift, which has an end and so
// needs no more digits than there are.
func (c *cleaner) escape(out *strings.Builder, r rune) {
	var buffer [maxEscape]byte
	text := append(strconv.AppendInt(append(buffer[:0], `\u{`...), int64(r), 16), '}')
	c.size += len(text)
	if !c.counts {
		out.Write(text)
	}
}

// veryLongText is from how many bytes on the memory of a second copy matters more than a second look.
const veryLongText = 1 << 20

// maxEscape is how many bytes an escape has at most: \u{10ffff}.
const maxEscape = 10

// longText is how long a text is, in bytes, of which a copy matters.
const longText = 64 << 10

// pass goes on behind a character that is shown in any case.
func (c *cleaner) pass(r rune) { c.prev, c.base, c.marks = r, r, 0 }

// keep goes on behind a character of kind k that is shown where it stands.
func (c *cleaner) keep(k kind, r rune) {
	switch k {
	case mark, graphemeJoiner:
		c.marks++
	case carriage, filler:
		c.base, c.marks = r, 0
	}
	c.prev = r
}

// hide goes on behind a character that is shown as an escape. Marks behind a
// mark that is too many are too many, too.
func (c *cleaner) hide(k kind) {
	c.report.count(k)
	c.prev, c.base = hidden, hidden
	if k != mark {
		c.marks = 0
	}
}

// repair goes on behind a byte that is no UTF-8.
func (c *cleaner) repair(out *strings.Builder) {
	if c.prev == broken {
		return
	}
	c.write(out, string(utf8.RuneError))
	c.report.Invalid++
	c.prev, c.base, c.marks = broken, hidden, 0
}

// raise goes on behind a black flag and returns the length of the tags that
// make it another flag.
func (c *cleaner) raise(rest string) int {
	c.pass(blackFlag)
	n := len(tagsAt(rest))
	if n > 0 {
		c.prev = cancelTag
	}
	return n
}

// following returns the first character of s.
func following(s string) rune {
	if s == "" {
		return end
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// maxPending bounds what a place has to wait for: a black flag and its tags.
const maxPending = 4 + len(tagsOfEngland)

// undecided reports whether a character of kind k depends on more than rest.
func undecided(k kind, rest string) bool {
	switch k {
	case mark, control, escape, bidirectional, invisible:
		return false
	case flag:
		return tagsMayFollow(rest)
	}
	return !utf8.FullRuneInString(rest)
}
