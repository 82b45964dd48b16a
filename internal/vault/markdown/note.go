// Package markdown finds the parts of a note that the app has in its index: frontmatter,
// headings, links, tags, tasks and blocks.
//
// It is a line scanner, not a Markdown parser: it makes one fast pass over the bytes, and
// applies the rules of the app. It renders nothing, resolves nothing and never fails: every
// text is a note, even if it is not valid UTF-8.
package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Note is the result of [Scan]. Offsets count bytes from the start of the text, lines
// count from 1. All lists are in the order of the text. Strings do not refer to the bytes
// that were scanned, so they stay valid if these change.
type Note struct {
	// Frontmatter is the YAML between the fences; zero if the note has none. A block that is
	// not closed does not count.
	Frontmatter Span
	Body        int // offset of the text after the frontmatter, 0 without one
	BodyLine    int // the line of Body
	Size        int // the length of the text

	Headings []Heading
	Links    []Link
	Tags     []Tag
	Tasks    []Task
	Blocks   []Block
	Bases    []Span // contents of code blocks with the language base
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// Heading is an ATX or a setext heading.
type Heading struct {
	Level int    // 1 to 6
	Text  string // as written, without the marks around it
	Line  int
	At    int // offset of its first line
}

// Link is a wikilink or a Markdown link to something in the vault, or an embed.
type Link struct {
	// Target is the target as written, such as "a#b"; in Markdown links it is percent-decoded.
	// Path is the part before the first "#".
	Target, Path string
	Subpath      string // the rest, which begins with "#"; "" if there is none
	Display      string // the display text, "" if there is none
	Style        LinkStyle
	Embed        bool
	Line         int
	Span         Span // the whole link, including its marks
}

// LinkStyle is how a link is written.
type LinkStyle uint8

const (
	Wikilink  LinkStyle = iota // [[target|display]]
	Inline                     // [display](target)
	Reference                  // [label]: target, the definition of reference links
)

// Tag is a tag in the body, with its "#".
type Tag struct {
	Text string
	Line int
	At   int // offset of the "#"
}

// Task is a list item with a box.
type Task struct {
	Mark   rune   // the character in the box
	Text   string // the line from the list mark on
	Line   int
	MarkAt Span // where the mark is
}

// Block is a block id, "^id" at the end of a block.
type Block struct {
	ID   string // without the "^"
	Line int
	// Span is the block that the id names, including marks: a paragraph, the first lines of
	// a list item, a heading, or, for an id on a line of its own, the whole block above it
	// (a table, a list, a quote).
	Span Span
}

// Section returns the section of a heading, given by its index in n.Headings: everything from
// the heading to the next heading of the same or a higher level.
func (n Note) Section(heading int) Span {
	h := n.Headings[heading]
	for _, next := range n.Headings[heading+1:] {
		if next.Level <= h.Level {
			return Span{h.At, next.At}
		}
	}
	return Span{h.At, n.Size}
}

// Block returns the block with an id, ignoring case. If there are several, it returns the
// last one.
func (n Note) Block(id string) (Block, bool) {
	for at := len(n.Blocks) - 1; at >= 0; at-- {
		if strings.EqualFold(n.Blocks[at].ID, id) {
			return n.Blocks[at], true
		}
	}
	return Block{}, false
}

// FoldCase returns a text that is the same for all texts that are equal under [strings.EqualFold].
func FoldCase(text string) string {
	return strings.Map(func(r rune) rune {
		hasThirdForm := strings.ContainsRune("KkSs", r)
		if r < utf8.RuneSelf && !hasThirdForm {
			return unicode.ToLower(r)
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}

// pieceSize is the size in bytes of a piece of memory of an [Arena].
const pieceSize = 64 << 10

// Arena copies many short texts into a few pieces of memory, which is faster than one
// allocation per text. A piece is freed when none of its texts is in use anymore. The zero
// Arena is ready for use, by one goroutine at a time.
type Arena struct{ piece strings.Builder }

// Copy returns a copy of text, which may have any length.
func (a *Arena) Copy(text []byte) string {
	if len(text) > a.piece.Cap()-a.piece.Len() {
		a.piece = strings.Builder{}
		a.piece.Grow(max(pieceSize, len(text)))
	}
	start := a.piece.Len()
	a.piece.Write(text)
	return a.piece.String()[start:]
}

// WordCount counts the words and the characters of the body of a note.
//
// A word is a run of letters, apostrophes, dashes and numbers; a number may
// have commas and dots between its digits. Each character of a script that is
// written without blanks is a word. Characters are counted as in JavaScript,
// in UTF-16 units. A byte order mark does not count.
func WordCount(body []byte) (words, characters int) {
	body = bytes.TrimPrefix(body, []byte(bom))
	inWord := false
	for at := 0; at < len(body); {
		r := rune(body[at])
		size := 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(body[at:])
		}
		characters++
		if r > 0xffff {
			characters++
		}
		switch c := classify(r); {
		case c == ideograph:
			words++
			inWord = false
		case c == letter:
			if !inWord {
				words++
			}
			inWord = true
		case inWord && c == combining:
		case inWord && c == point && isBetweenDigits(body, at):
		default:
			inWord = false
		}
		at += size
	}
	return words, characters
}

// isBetweenDigits reports whether the bytes before and after text[at] are digits. at must not be 0.
func isBetweenDigits(text []byte, at int) bool {
	return isDigit(text[at-1]) && at+1 < len(text) && isDigit(text[at+1])
}

// class says how a character counts for words.
type class uint8

const (
	separator class = iota
	letter          // also digits, apostrophes and dashes
	combining       // continues a word, but does not begin one
	point           // continues a number, between two digits
	ideograph
)

func classify(r rune) class {
	if r < utf8.RuneSelf {
		b := byte(r)
		switch {
		case isLetter(b), isDigit(b), b == '\'', b == '-':
			return letter
		case b == ',' || b == '.':
			return point
		}
		return separator
	}
	switch {
	case r == '’':
		return letter
	case r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case unicode.IsLetter(r):
		return letter
	case unicode.IsMark(r):
		return combining
	}
	return separator
}
