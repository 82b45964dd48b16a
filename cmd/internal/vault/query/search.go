package query

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/markdown"
)

// search is the match of one query against one note. It caches what it asked of the note.
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

// searches is a pool: each note of a vault takes a search for a short time.
var searches = sync.Pool{New: func() any { return new(search) }}

// begin returns a search; release it by end.
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

// spend counts bytes that are read and reports whether the search may continue. It charges the
// shared budget in batches.
func (s *search) spend(bytes int) bool {
	const stepBytes, atOnce = 256, 1 << 12
	if s.steps += 1 + int64(bytes)/stepBytes; s.steps < atOnce {
		return true
	}
	err := s.budget.Step(s.steps)
	s.steps = 0
	return err == nil
}

// scope is the part of a note that is matched.
type scope struct {
	span
	whole  bool    // the whole note, path and frontmatter included
	values []Value // inside of a property
}

// everything is the scope of a whole note. Its span is unused, because it would need the text.
var everything = scope{whole: true}

// maxLines bounds the reported lines of one note; the app stops at that number for a whole
// search.
const maxLines = 100_000

// put adds an offset in the text, unless it is in the line of the previous one.
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

// tagsOf returns the tags of the frontmatter, then those of the text.
func (s *search) tagsOf() []tag {
	if s.hasTags {
		return s.tags
	}
	s.hasTags = true
	for _, p := range s.propertiesOf() {
		if strings.EqualFold(p.Name, "tags") {
			var tags []tag
			for _, v := range p.Values {
				name := strings.TrimPrefix(v.Text, "#")
				unfit := func(r rune) bool {
					return unicode.IsSpace(r) || strings.ContainsRune("!\"#$%&'()*+,.:;<=>?@[\\]^{|}~`", r)
				}
				if v.Kind == Words && name != "" && !strings.ContainsFunc(name, unfit) {
					tags = append(tags, tag{text: []byte("#" + name), at: -1})
				}
			}
			s.tags = append(s.tags, tags...)
		}
	}
	for _, t := range s.scanOf().Tags {
		s.tags = append(s.tags, tag{text: []byte(t.Text), at: t.At})
	}
	return s.tags
}

// Line is a line of a note with a match.
type Line struct {
	Line int // from 1
	// Text is the line; of one longer than maxLineText an excerpt around the first match.
	Text string
}

const (
	// maxLineText bounds the text of a line in bytes: more than a long paragraph.
	// Some notes are one line of megabytes.
	maxLineText = 1 << 10
	ellipsis    = "…" // in place of omitted text
)

// excerpt returns a line, or of a long one an excerpt of whole characters around an offset,
// with a quarter of it before.
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

// nextRune returns the offset of the first character at or after an offset. Invalid bytes are
// characters.
func nextRune(text []byte, at int) int {
	for n := 0; n < utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); n++ {
		at++
	}
	return at
}
