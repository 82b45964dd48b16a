package pages

import (
	"math/bits"
	"strings"
)

// surveyed reads a text of form JSON.
func surveyed(text string) Rows { return (&walk{s: text}).survey() }

func (w *walk) survey() Rows {
	w.skip()
	isJSON := w.one()
	if isJSON {
		w.skip()
		isJSON = w.at == len(w.s)
	}
	if _, isArray := firstRow(w.s); !isJSON || !isArray {
		return Rows{known: true, isJSON: isJSON}
	}
	return Rows{known: true, isJSON: true, isArray: true, count: w.rows}
}

// maxCompact bounds the text that [Compact] works on, in bytes: it makes a copy.
const maxCompact = 4 << 20

// Compact returns JSON without the space between its tokens, which costs a model as much
// as the values do, and what it has seen of its rows. Keys and values keep their bytes. What
// is no JSON, or longer than 4 MiB, is returned as it is.
func Compact(text string) (compact string, rows Rows) {
	w := walk{s: text, compacts: len(text) <= maxCompact}
	if rows = w.survey(); !rows.isJSON {
		return text, rows
	}
	end := len(text)
	if w.end > 0 {
		end = w.end
	}
	if w.copied == 0 {
		return text[:end], rows
	}
	w.copyTo(end)
	return w.out.String(), rows
}

// walk reads a text of JSON once, from its start to its end, without recursion. It says
// whether it is JSON as encoding/json sees it, and how many rows it has, and copies its
// tokens without the space between them where that is asked for.
type walk struct {
	s    string
	at   int
	open []byte // the closing brackets of what is open, the innermost last
	rows int    // of the array that the text is

	compacts bool
	out      strings.Builder // the tokens up to copied, "" while they are those of s
	copied   int
	end      int // where the space at the end begins, if there is any
}

// maxDepth is how deep encoding/json reads.
const maxDepth = 10_000

// one advances past a value with all that is in it.
func (w *walk) one() bool {
	for {
		if w.at == len(w.s) {
			return false
		}
		inside, ok := false, false
		switch w.s[w.at] {
		case '"':
			ok = w.string()
		case '{':
			inside, ok = w.enter('}')
		case '[':
			inside, ok = w.enter(']')
		case 't':
			ok = w.word("true")
		case 'f':
			ok = w.word("false")
		case 'n':
			ok = w.word("null")
		default:
			ok = w.number()
		}
		if !ok {
			return false
		}
		for !inside { // the value is complete: a comma or the closing bracket follows
			last := len(w.open) - 1
			if last < 0 {
				return true
			}
			w.skip()
			switch {
			case w.at == len(w.s):
				return false
			case w.s[w.at] == w.open[last]:
				w.open = w.open[:last]
				w.at++
				continue
			case w.s[w.at] != ',':
				return false
			}
			w.at++
			w.skip()
			if inside = w.beforeValue(); !inside {
				return false
			}
		}
	}
}

// enter goes into an array or object.
func (w *walk) enter(closing byte) (inside, ok bool) {
	if len(w.open) == maxDepth {
		return false, false
	}
	w.at++
	w.skip()
	if w.at < len(w.s) && w.s[w.at] == closing {
		w.at++
		return false, true
	}
	w.open = append(w.open, closing)
	return true, w.beforeValue()
}

// beforeValue counts a row, or advances past the key of a member.
func (w *walk) beforeValue() bool {
	if last := len(w.open) - 1; w.open[last] == ']' {
		if last == 0 {
			w.rows++
		}
		return true
	}
	if w.at == len(w.s) || w.s[w.at] != '"' || !w.string() {
		return false
	}
	w.skip()
	if w.at == len(w.s) || w.s[w.at] != ':' {
		return false
	}
	w.at++
	w.skip()
	return true
}

// skip advances past space, and leaves it out of the copy.
func (w *walk) skip() {
	if w.at == len(w.s) || w.s[w.at] > ' ' {
		return
	}
	end := skipSpace(w.s, w.at)
	switch {
	case end == len(w.s):
		w.end = w.at // which is cut off without a copy
	case w.compacts && end > w.at:
		w.copyTo(w.at)
		w.copied = end
	}
	w.at = end
}

// sample is how much of a text tells how much of the rest is space.
const sample = 4 << 10

// copyTo copies the text that was not copied yet. Memory for the rest is allocated once, estimated
// from the text so far: each time a builder grows, the old copy becomes garbage.
func (w *walk) copyTo(end int) {
	tokens := w.s[w.copied:end]
	if missing := len(tokens) - (w.out.Cap() - w.out.Len()); missing > 0 && end > sample {
		rest := len(w.s) - w.copied
		expected := int(int64(rest) * int64(w.out.Len()+len(tokens)) / int64(end))
		w.out.Grow(max(min(rest, expected+expected/32+sample)-2*w.out.Cap(), len(tokens)))
	}
	w.out.WriteString(tokens)
}

func (w *walk) word(word string) bool {
	ok := strings.HasPrefix(w.s[w.at:], word)
	w.at += len(word)
	return ok
}

func (w *walk) string() bool {
	for w.at++; ; {
		w.at = plainEnd(w.s, w.at)
		if w.at == len(w.s) || w.s[w.at] < ' ' {
			return false
		}
		if w.s[w.at] == '"' {
			w.at++
			return true
		}
		rest := w.s[w.at+1:] // of an escape
		switch {
		case rest == "", rest[0] != 'u' && strings.IndexByte(`"\/bfnrt`, rest[0]) < 0:
			return false
		case rest[0] != 'u':
			w.at += 2
		case len(rest) < len("u0000") || strings.Trim(rest[1:len("u0000")], "0123456789abcdefABCDEF") != "":
			return false
		default:
			w.at += len(`\u0000`)
		}
	}
}

func (w *walk) number() bool {
	if w.s[w.at] == '-' {
		w.at++
	}
	zero := w.at < len(w.s) && w.s[w.at] == '0'
	if n := w.digits(); n == 0 || zero && n > 1 {
		return false
	}
	if w.at < len(w.s) && w.s[w.at] == '.' {
		w.at++
		if w.digits() == 0 {
			return false
		}
	}
	if w.at == len(w.s) || w.s[w.at]|0x20 != 'e' {
		return true
	}
	w.at++
	if w.at < len(w.s) && (w.s[w.at] == '+' || w.s[w.at] == '-') {
		w.at++
	}
	return w.digits() > 0
}

func (w *walk) digits() int {
	from := w.at
	for w.at < len(w.s) && '0' <= w.s[w.at] && w.s[w.at] <= '9' {
		w.at++
	}
	return w.at - from
}

const (
	lows  = 0x0101010101010101
	highs = 0x80 * lows
)

// plainEnd returns the offset of the next quotation mark, backslash or control character, the
// length of s if there is none. It reads eight bytes at a time.
func plainEnd(s string, at int) int {
	for len(s)-at >= 8 {
		b := s[at : at+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, slash := x^'"'*lows, x^'\\'*lows
		// The lowest bit that is set is right; a loan may have set those above it.
		if special := ((x-' '*lows)&^x | (quote-lows)&^quote | (slash-lows)&^slash) & highs; special != 0 {
			return at + bits.TrailingZeros64(special)/8
		}
		at += 8
	}
	for at < len(s) && s[at] >= ' ' && s[at] != '"' && s[at] != '\\' {
		at++
	}
	return at
}

// space has the characters that may separate the tokens of JSON.
const space = " \t\r\n"

func skipSpace(s string, at int) int {
	for at < len(s) && (s[at] == ' ' || s[at] == '\n' || s[at] == '\r' || s[at] == '\t') {
		at++
	}
	return at
}

// valueEnd returns the end of the value at an offset, the offset itself if there is none.
func valueEnd(s string, at int) int {
	w := walk{s: s, at: at}
	if !w.one() {
		return at
	}
	return w.at
}
