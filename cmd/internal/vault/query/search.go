package query

import (
	"bytes"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// search is one query held against one note. It remembers what the note was
// asked for.
type search struct {
	note Note
	cost *spent

	collects bool
	found    []int // offsets into the text

	path, text []byte
	hasText    bool
	scan       *markdown.Note
	properties []Property
	hasProps   bool
	tags       []tag
	hasTags    bool
	parts      [kinds][]span
	hasParts   [kinds]bool
}

// scope is the part of a note that counts at the moment.
type scope struct {
	span
	whole  bool    // the whole note, path and frontmatter included
	values []Value // inside of a property
}

// span is a range of bytes.
type span struct{ start, end int }

// everything is the scope of a whole note. Its span is not used: to know the
// length of the text means to read it.
var everything = scope{whole: true}

// Line is a line of a note in which something was found.
type Line struct {
	Line int // from 1
	Text string
}

// maxLines is how many places of one note are reported: the app stops there for
// a whole search.
const maxLines = 100_000

// Lines returns the lines of n where a part of the query matches, in their
// order, one for each place: a line with two places comes twice. It is empty if
// n is found by its name or properties alone, or not at all.
func (q *Query) Lines(n Note) []Line {
	if q.root == nil {
		return nil
	}
	s := search{note: n, cost: &q.cost, collects: true}
	if !q.root.match(&s, everything) || q.Err() != nil {
		return nil
	}
	slices.Sort(s.found)
	return linesAt(s.textOf(), slices.Compact(s.found))
}

// linesAt returns the line of each place.
func linesAt(text []byte, places []int) []Line {
	lines := make([]Line, 0, len(places))
	number, start, end := 0, 0, -1
	var line string
	for _, at := range places {
		if at > end {
			number += 1 + bytes.Count(text[end+1:at], []byte("\n"))
			start = 1 + bytes.LastIndexByte(text[:at], '\n')
			end = at + lineLength(text[at:])
			line = string(bytes.TrimSuffix(text[start:end], []byte("\r")))
		}
		lines = append(lines, Line{Line: number, Text: line})
	}
	return lines
}

// lineLength returns how much of text lies before the end of its first line.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// put remembers a place, as an offset into the text.
func (s *search) put(at int) {
	if s.collects && len(s.found) < maxLines {
		s.found = append(s.found, at)
	}
}

func (s *search) mark() int       { return len(s.found) }
func (s *search) forget(mark int) { s.found = s.found[:mark] }

func (s *search) pathOf() []byte {
	if s.path == nil {
		s.path = []byte(s.note.Path())
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
