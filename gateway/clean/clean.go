// Package clean decides what may leave the gateway as text: for a model, for a
// terminal, for a log and for a person who is asked. Notes are written by
// others, and text can command a terminal, hide words from the reader whom a
// model obeys, or show letters in another order than they are read.
//
// [Text] is for results, [Stream] the same for text that comes in pieces,
// [Line] for messages and logs, [Fence] for foreign text amid
// our own. Nothing is silently lost: what is not shown stands there as an
// escape such as \u{202e}, and a [Report] counts it. The escapes are for the
// reader. They cannot be turned back, because a note may hold the same
// characters; who needs the bytes reads the bytes.
//
// What ordinary writing needs stays: joiners in Persian and Malayalam, variants
// of ideographs, emoji of several parts, direction marks in Hebrew. So the
// rules look at the neighbours of a character. They do not look for lookalike
// letters, for words of two scripts, or for what a sentence asks: that text is
// foreign is said by Fence, and no more can be known here.
//
// The rules follow the Unicode Standard, chapters 5.21 (default ignorable code
// points), 23 (special areas and format characters) and the chapters of the
// scripts; UAX #9 (direction), UAX #29 and UTS #51 (emoji), UAX #31 section 2.3
// (joiners), UTR #36 section 3 and UTS #39 (security), and ECMA-48 (terminals).
package clean

import (
	"strings"
	"unicode/utf8"
)

// Text returns s as it may be shown, and what was changed. The result is valid
// UTF-8; of the C0 controls it holds newline, tab and the return before a
// newline; Text leaves it as it is. Where there is nothing to change the result
// is s itself.
//
// A terminal control sequence loses its first character only, so that the rest
// is read and not obeyed. A run of bytes that are no UTF-8 becomes one U+FFFD.
// A byte order mark at the start is left out. Private characters and those that
// Unicode has yet to assign stay.
func Text(s string) (string, Report) {
	text, _, report := Start(s, 0)
	return text, report
}

// Start is [Text] of as much of s as becomes no more than most bytes, 0 for no bound; read is
// how many bytes of s that is. A text in which nothing is changed is s itself, whatever its size.
func Start(s string, most int) (text string, read int, report Report) {
	c := cleaner{most: most}
	var out strings.Builder
	from, n := c.run(&out, s, true)
	if c.size == 0 && n == len(s) {
		return s[from:], n, c.report
	}
	if left := most - c.size; most > 0 && n-from > left {
		for n = from + left; n > from && !utf8.RuneStart(s[n]); n-- {
		}
	}
	out.WriteString(s[from:n])
	return out.String(), n, c.report
}

// String returns s as it may be shown, see [Text].
func String(s string) string {
	text, _ := Text(s)
	return text
}

// Strings puts the elements of a list as they may be shown into their places, and
// returns the list.
func Strings(list []string) []string {
	for i := range list {
		list[i] = String(list[i])
	}
	return list
}
