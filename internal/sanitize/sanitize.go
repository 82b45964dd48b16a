// Package sanitize makes text safe to display: to a model, on a terminal, in a log and in a question
// to the user. Notes may be written by others, and text can control a terminal, hide words from
// people that a model reads, or show letters in another order than they are read.
//
// [Text] is for results, [Stream] for text that comes in pieces, [Line] for messages and logs, and
// [Fence] for foreign text within our own. Nothing is silently lost: a character that is not
// displayed becomes an escape such as \u{202e}, and a [Report] counts it. The escapes are for the
// reader. They cannot be reversed, because a note may contain the same characters; code that needs
// the original bytes must read the note.
//
// Everything that ordinary writing needs is kept: joiners in Persian and Malayalam, variants of
// ideographs, emoji of several parts, direction marks in Hebrew. The rules therefore depend on the
// neighbours of a character. They do not detect lookalike letters, words in two scripts, or
// instructions: Fence marks text as foreign, and this package cannot know more.
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

// Text returns s made safe to display, and a report of the changes. The result is valid UTF-8; its
// only C0 controls are newline, tab and the return before a newline. Text is idempotent, and returns
// s itself if there is nothing to change.
//
// Only the first character of a terminal control sequence is replaced, so that the rest is visible
// but has no effect. A run of invalid UTF-8 becomes one U+FFFD. A byte order mark at the start is
// removed. Private and unassigned characters are kept.
func Text(s string) (string, Report) {
	text, _, report := Start(s, 0)
	return text, report
}

// Start is [Text] for the longest prefix of s whose result has at most most bytes (0 for no limit);
// read is the length of that prefix. If nothing needs to change, the result is s itself, whatever
// its size.
func Start(s string, most int) (text string, read int, report Report) {
	c := cleaner{most: most}
	var out strings.Builder
	from, n := c.run(&out, s, lastPart)
	if c.size == 0 && n == len(s) {
		return s[from:], n, c.report
	}
	left := most - c.size
	if most > 0 && n-from > left {
		n = from + left
		for n > from && !utf8.RuneStart(s[n]) {
			n--
		}
	}
	out.WriteString(s[from:n])
	return out.String(), n, c.report
}

// String returns s made safe to display, see [Text].
func String(s string) string {
	text, _ := Text(s)
	return text
}

// Report counts the changes of a text. The sum of its fields is the number of
// replaced or removed code points, where a run of invalid bytes counts as one.
type Report struct {
	Invalid   int // runs of invalid UTF-8, each replaced by U+FFFD
	Controls  int // C0, C1 and delete, returns that overwrite a line, U+2028 and U+2029
	Escapes   int // ESC and the C1 characters that begin or end a terminal sequence
	Invisible int // characters that are invisible at their position: zero width, tags, fillers, noncharacters
	Bidi      int // direction: embeddings, overrides, isolates, and marks away from right-to-left text
	Marks     int // combining marks beyond the eighth on one letter
	BOM       int // 1 for a byte order mark at the start, which is removed
}

// None reports whether nothing was changed.
func (r Report) None() bool { return r == Report{} }

// Notice describes the changes in a sentence that begins with what, or returns "" if there are none.
func (r Report) Notice(what string) string {
	var clauses, escaped []string
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
		clauses = append(clauses, strings.Join(escaped[:last], ", ")+" and "+escaped[last]+" are shown as escapes")
	case total > 1:
		clauses = append(clauses, escaped[0]+" are shown as escapes")
	case total == 1:
		clauses = append(clauses, escaped[0]+" is shown as an escape")
	}
	if r.Invalid > 0 {
		clauses = append(clauses, "bytes that are no UTF-8 are shown as U+FFFD in "+Counted(r.Invalid, "place"))
	}
	if r.BOM > 0 {
		clauses = append(clauses, "the byte order mark is left out")
	}
	if clauses == nil {
		return ""
	}
	return what + ": " + strings.Join(clauses, "; ")
}

// Number is the type of a count.
type Number interface {
	~int | ~int64 | ~uint | ~uint64
}

// Counted returns a count with its noun, such as "1 note" or "2 notes".
func Counted[N Number](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Stream cleans text that comes in pieces, with the same result as [Text] for the
// whole: characters, sequences and neighbours may be split between two pieces. It
// buffers only what it cannot judge yet, a few bytes.
type Stream struct {
	to      io.Writer
	cleaner cleaner
	pending string
}

// NewStream returns a stream that writes clean text to w.
func NewStream(w io.Writer) *Stream { return &Stream{to: w} }

// Write cleans p and writes what can be judged already. Its errors are those of the writer.
func (s *Stream) Write(p []byte) (int, error) {
	if err := s.write(s.pending+string(p), notTheLast); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush ends the text, and writes its pending rest. Later writes begin another text, which
// continues the same report.
func (s *Stream) Flush() error {
	err := s.write(s.pending, lastPart)
	s.cleaner = cleaner{report: s.cleaner.report}
	return err
}

// write cleans a part of the text, and keeps what cannot be judged yet.
func (s *Stream) write(text string, position part) error {
	var out strings.Builder
	from, n := s.cleaner.run(&out, text, position)
	out.WriteString(text[from:n])
	s.pending = text[n:]
	if out.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(s.to, out.String())
	return err
}
