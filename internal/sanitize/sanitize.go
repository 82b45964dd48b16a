// Package sanitize makes text safe to show: to a model, on a terminal, in a log and in a question
// to the user. Notes can be written by others, and text can control a terminal, hide words from
// people that a model reads, or show letters in another order than they are read.
//
// [Text] is for results, [Stream] the same for text that comes in pieces, [Line] for messages and
// logs, [Fence] for foreign text amid our own. Nothing is silently lost: a character that is not
// shown becomes an escape such as \u{202e}, and a [Report] counts it. The escapes are for the
// reader. They cannot be turned back, because a note may contain the same characters; who needs
// the bytes reads the bytes.
//
// What ordinary writing needs stays: joiners in Persian and Malayalam, variants of ideographs,
// emoji of several parts, direction marks in Hebrew. So the rules look at the neighbours of a
// character. They do not look for lookalike letters, for words of two scripts, or for what a
// sentence asks: that text is foreign is said by Fence, and no more can be known here.
//
// The rules follow the Unicode Standard, chapters 5.21 (default ignorable code
// points), 23 (special areas and format characters) and the chapters of the
// scripts; UAX #9 (direction), UAX #29 and UTS #51 (emoji), UAX #31 section 2.3
// (joiners), UTR #36 section 3 and UTS #39 (security), and ECMA-48 (terminals).
package sanitize

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Text returns s as it may be shown, and what was changed. The result is valid UTF-8; of the C0
// controls it has newline, tab and the return before a newline; Text leaves it as it is. Where
// there is nothing to change the result is s itself.
//
// A terminal control sequence loses its first character only, so that the rest is read and not
// obeyed. A run of bytes that are no UTF-8 becomes one U+FFFD. A byte order mark at the start is
// left out. Private characters and those that Unicode has yet to assign stay.
func Text(s string) (string, Report) {
	text, _, report := Start(s, 0)
	return text, report
}

// Start is [Text] of as much of s as becomes no more than most bytes, 0 for no bound; read is
// how many bytes of s that is. A text in which nothing is changed is s itself, whatever its size.
func Start(s string, most int) (text string, read int, report Report) {
	c := cleaner{most: most}
	var out strings.Builder
	from, n := c.run(&out, s, lastPart)
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

// Report counts what was changed in a text. The sum of its fields is the number
// of code points that are no longer there, where a run of invalid bytes is one.
type Report struct {
	Invalid   int // runs of bytes that are no UTF-8, each shown as U+FFFD
	Controls  int // C0, C1 and delete, returns that overwrite a line, U+2028 and U+2029
	Escapes   int // ESC and the C1 characters that open or close a terminal sequence
	Invisible int // invisible in their place: zero width, tags, fillers, noncharacters
	Bidi      int // direction: embeddings, overrides, isolates, and marks away from right-to-left text
	Marks     int // combining marks beyond the eighth on one letter
	BOM       int // 1 for a byte order mark at the start, which is left out
}

// None reports whether nothing was changed.
func (r Report) None() bool { return r == Report{} }

// Notice says in one sentence what was changed in what, "" if nothing was.
func (r Report) Notice(what string) string {
	var said, escaped []string
	total := 0
	for _, item := range []struct {
		n    int
		name string
	}{
		{r.Escapes, "terminal control sequence"},
		{r.Controls, "control character"},
		{r.Bidi, "direction control"},
		{r.Invisible, "invisible character"},
		{r.Marks, "piled combining mark"},
	} {
		total += item.n
		if item.n > 0 {
			escaped = append(escaped, Counted(item.n, item.name))
		}
	}
	switch last := len(escaped) - 1; {
	case last > 0:
		said = append(said, strings.Join(escaped[:last], ", ")+" and "+escaped[last]+" are shown as escapes")
	case total > 1:
		said = append(said, escaped[0]+" are shown as escapes")
	case total == 1:
		said = append(said, escaped[0]+" is shown as an escape")
	}
	if r.Invalid > 0 {
		said = append(said, "bytes that are no UTF-8 are shown as U+FFFD in "+Counted(r.Invalid, "place"))
	}
	if r.BOM > 0 {
		said = append(said, "the byte order mark is left out")
	}
	if said == nil {
		return ""
	}
	return what + ": " + strings.Join(said, "; ")
}

// Number is a count of things.
type Number interface {
	~int | ~int64 | ~uint | ~uint64
}

// Counted is n things, in words.
func Counted[N Number](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Stream cleans text that comes in pieces, with what [Text] makes of the whole:
// characters, sequences and neighbours may be divided between two pieces. It
// keeps back no more than what it cannot judge yet, a few bytes.
type Stream struct {
	to      io.Writer
	cleaner cleaner
	pending string
}

// NewStream returns a stream that writes clean text to w.
func NewStream(w io.Writer) *Stream { return &Stream{to: w} }

// Write cleans p and writes what can be judged. An error is one of the writer.
func (s *Stream) Write(p []byte) (int, error) {
	if err := s.write(s.pending+string(p), notTheLast); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush ends the text: the pending rest is judged as its end.
// What is written afterwards begins another text, with the same report.
func (s *Stream) Flush() error {
	err := s.write(s.pending, lastPart)
	s.cleaner = cleaner{report: s.cleaner.report}
	return err
}

func (s *Stream) write(text string, is part) error {
	var out strings.Builder
	from, n := s.cleaner.run(&out, text, is)
	out.WriteString(text[from:n])
	s.pending = text[n:]
	if out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(s.to, out.String())
	return err
}
