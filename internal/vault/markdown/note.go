// Package markdown finds in the text of a note what the app's index has of it:
// frontmatter, headings, links, tags, tasks and blocks.
//
// It is a line scanner, not a Markdown parser: one pass over the bytes, made for speed,
// with the rules by which the app decides what counts. It renders nothing, resolves
// nothing and never fails: every text is a note, invalid UTF-8 included.
package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Note is the result of [Scan]. Offsets count bytes from the start of the text, lines
// count from 1. All lists are in the order of the text. Strings are copies or share the
// text's own bytes as a string: they stay valid.
type Note struct {
	// Frontmatter is the YAML between the fences, without them; zero when the note has
	// none. A block that is not closed is none.
	Frontmatter Span
	Body        int // where the text after the frontmatter begins: 0 without one
	BodyLine    int // the line of Body
	Size        int // the length of the text

	Headings []Heading
	Links    []Link
	Tags     []Tag
	Tasks    []Task
	Blocks   []Block
	Bases    []Span // contents of code blocks in the language of bases
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// Heading is an ATX or a setext heading.
type Heading struct {
	Level int    // 1 to 6
	Text  string // as written, without marks at the ends
	Line  int
	At    int // offset of its first line
}

// Link is a wikilink or a Markdown link to something in the vault, or an embed.
type Link struct {
	// Target is the link text as written, without display text: "a#b", for Markdown links
	// percent-decoded. Path is the part before the first "#".
	Target, Path string
	Subpath      string // begins with "#", "" when there is none
	Display      string // "" when none was given
	Style        LinkStyle
	Embed        bool
	Line         int
	Span         Span // the whole link, marks included
}

// LinkStyle is how a link is written.
type LinkStyle uint8

const (
	Wikilink  LinkStyle = iota // [[target|display]]
	Inline                     // [display](target)
	Reference                  // [label]: target, the definition that reference links share
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
	Text   string // the whole line without its indent, quote marks included
	Line   int
	MarkAt Span // the mark
}

// Block is a block id, "^id" at the end of a block.
type Block struct {
	ID   string // without the "^"
	Line int
	// Span is what the id names, marks included: a paragraph, the own lines of a list
	// item, a heading, or, where the id is alone, the whole block above it (a table, a
	// list, a quote).
	Span Span
}

// Section returns the section of a heading of the note: its own lines and all up to the
// next heading of its level or above, sub-headings included.
func (n Note) Section(heading int) Span {
	h := n.Headings[heading]
	for _, next := range n.Headings[heading+1:] {
		if next.Level <= h.Level {
			return Span{h.At, next.At}
		}
	}
	return Span{h.At, n.Size}
}

// Block returns the block with an id, in whatever case: the last one, should there be
// several.
func (n Note) Block(id string) (Block, bool) {
	for at := len(n.Blocks) - 1; at >= 0; at-- {
		if strings.EqualFold(n.Blocks[at].ID, id) {
			return n.Blocks[at], true
		}
	}
	return Block{}, false
}

// FoldCase returns what all texts have in common that [strings.EqualFold] takes for the same.
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

// pieceSize is how much memory is taken at a time, in bytes.
const pieceSize = 64 << 10

// Arena copies many short texts into few pieces of memory, which takes less time than an
// allocation for each. A piece stays as long as one of its texts is in use. The zero Arena
// is ready for use, by one goroutine at a time.
type Arena struct{ piece strings.Builder }

// Copy returns a copy of a text of any length, which never changes.
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
// A word is a run of letters, apostrophes, dashes and numbers, where a number
// may have commas and dots between its digits; a character of a script that
// is written without blanks is a word of its own. Characters are counted as
// JavaScript does, in units of UTF-16. A byte order mark does not count.
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

// isBetweenDigits reports whether the bytes before and after the one at at are digits. There is one before it.
func isBetweenDigits(text []byte, at int) bool {
	return isDigit(text[at-1]) && at+1 < len(text) && isDigit(text[at+1])
}

type class uint8

const (
	separator class = iota
	letter          // digits, apostrophes and dashes as well
	combining       // continues a word, begins none
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
