package query

import (
	"bytes"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/markdown"
)

// search is one query held against one note. It remembers what the note was
// asked for.
type search struct {
	note   Note
	budget *budget.Budget
	steps  int64 // that the budget was not told of

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
func begin(n Note, b *budget.Budget) *search {
	s := searches.Get().(*search)
	*s = search{note: n, budget: b, path: s.path[:0], found: s.found[:0]}
	return s
}

func (s *search) end() {
	_ = s.budget.Step(s.steps)                // the query tells of its end
	*s = search{path: s.path, found: s.found} // it keeps no note in memory
	searches.Put(s)
}

// spend counts that so much text is looked at, and reports whether the search goes on. The budget
// is told of many steps at once: several goroutines share it.
func (s *search) spend(bytes int) bool {
	const stepBytes, atOnce = 256, 1 << 12
	if s.steps += 1 + int64(bytes)/stepBytes; s.steps < atOnce {
		return true
	}
	err := s.budget.Step(s.steps)
	s.steps = 0
	return err == nil
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

// maxLines is how many lines of one note are reported: the app stops there for a whole
// search.
const maxLines = 100_000

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
