package query

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/markdown"
)

// search is one query held against one note. It remembers what the note was
// asked for.
type search struct {
	note Note
	cost *spent

	collects bool
	found    []int // offsets into the text, none that is in one line with the one before
	line     span  // the part of a line that was looked at last, up to its end

	path, text       []byte
	hasPath, hasText bool
	scan             *markdown.Note
	properties       []Property
	hasProps         bool
	tags             []tag
	hasTags          bool
	parts            [kinds][]span
	hasParts         [kinds]bool
}

// searches are used again: each note of a vault takes one for a moment.
var searches = sync.Pool{New: func() any { return new(search) }}

// begin returns a search that is given back by end.
func (q *Query) begin(n Note) *search {
	s := searches.Get().(*search)
	*s = search{note: n, cost: &q.cost, path: s.path[:0], found: s.found[:0]}
	return s
}

func (s *search) end() {
	*s = search{path: s.path, found: s.found} // it keeps no note in memory
	searches.Put(s)
}

// scope is the part of a note that counts at the moment.
type scope struct {
	span
	whole  bool    // the whole note, path and frontmatter included
	values []Value // inside of a property
}

// everything is the scope of a whole note. Its span is not used: to know the
// length of the text means to read it.
var everything = scope{whole: true}

// Line is a line of a note in which something was found.
type Line struct {
	Line int // from 1
	// Text is the line, or of one that is longer than [maxLineText] an excerpt
	// around the first place.
	Text string
}

const (
	// maxLines is how many lines of one note are reported: the app stops there for
	// a whole search.
	maxLines = 100_000
	// maxLineText bounds the text of a line in bytes: more than a long paragraph.
	// Some notes are one line of megabytes.
	maxLineText = 1 << 10
	ellipsis    = "…" // stands for what an excerpt leaves out
)

// Lines returns the lines of n where a part of the query matches, in their
// order, each once. It is empty if n is found by its name or properties alone,
// or not at all.
func (q *Query) Lines(n Note) []Line {
	if q.root == nil {
		return nil
	}
	s := q.begin(n)
	defer s.end()
	s.collects = true
	if !q.root.match(s, everything) || q.Err() != nil {
		return nil
	}
	slices.Sort(s.found)
	return linesAt(s.textOf(), s.found)
}

// linesAt returns the lines in which the places are.
func linesAt(text []byte, places []int) []Line {
	lines := []Line{} // not nil: the note was found
	number, end := 0, -1
	for _, at := range places {
		if at <= end {
			continue
		}
		number += 1 + bytes.Count(text[end+1:at], []byte("\n"))
		start := 1 + bytes.LastIndexByte(text[:at], '\n')
		end = at + lineLength(text[at:])
		line := bytes.TrimSuffix(text[start:end], []byte("\r"))
		lines = append(lines, Line{Line: number, Text: excerpt(line, at-start)})
	}
	return lines
}

// excerpt returns a line, or of a long one whole characters around a place, which
// has a quarter of the text before it.
func excerpt(line []byte, at int) string {
	if len(line) <= maxLineText {
		return string(line)
	}
	start := max(0, min(at-maxLineText/4, len(line)-maxLineText))
	end := start + maxLineText
	before, after := "", ""
	if start > 0 {
		start, before = nextRune(line, start), ellipsis
	}
	if end < len(line) {
		end, after = nextRune(line, end-utf8.UTFMax), ellipsis
	}
	return before + string(line[start:end]) + after
}

// nextRune returns where the first character begins at or behind an offset. What
// is no character begins anywhere.
func nextRune(text []byte, at int) int {
	for n := 0; n < utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); n++ {
		at++
	}
	return at
}

// put remembers a place, as an offset into the text. One that is in the line of
// the place before adds nothing.
func (s *search) put(at int) {
	if !s.collects || len(s.found) >= maxLines {
		return
	}
	if !s.line.has(at) {
		s.line = span{at, at + lineLength(s.textOf()[at:]) + 1}
	}
	if n := len(s.found); n == 0 || !s.line.has(s.found[n-1]) {
		s.found = append(s.found, at)
	}
}

func (p span) has(at int) bool { return p.start <= at && at < p.end }

func (s *search) mark() int       { return len(s.found) }
func (s *search) forget(mark int) { s.found = s.found[:mark] }

func (s *search) pathOf() []byte {
	if !s.hasPath {
		s.path, s.hasPath = append(s.path[:0], s.note.Path()...), true
	}
	return s.path
}

// nameOf returns the last part of the path.
func (s *search) nameOf() []byte {
	path := s.pathOf()
	return path[1+bytes.LastIndexByte(path, '/'):]
}

func (s *search) textOf() []byte {
	if !s.hasText {
		s.text, s.hasText = s.note.Text(), true
	}
	return s.text
}

// in returns the text of a scope and where it begins.
func (s *search) in(sc scope) (text []byte, start int) {
	if sc.whole {
		return s.textOf(), 0
	}
	return s.textOf()[sc.start:sc.end], sc.start
}

func (s *search) scanOf() *markdown.Note {
	if s.scan == nil {
		s.scan = s.note.Scan()
	}
	return s.scan
}

func (s *search) propertiesOf() []Property {
	if !s.hasProps {
		s.properties, s.hasProps = s.note.Properties(), true
	}
	return s.properties
}

// tagsOf returns the tags of the note: those of the frontmatter at no place,
// then those of the text.
func (s *search) tagsOf() []tag {
	if s.hasTags {
		return s.tags
	}
	s.hasTags = true
	for _, p := range s.propertiesOf() {
		if strings.EqualFold(p.Name, "tags") {
			s.tags = append(s.tags, propertyTags(p)...)
		}
	}
	for _, t := range s.scanOf().Tags {
		s.tags = append(s.tags, tag{text: []byte(t.Text), at: t.At})
	}
	return s.tags
}
