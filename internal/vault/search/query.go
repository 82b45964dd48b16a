package search

// A [Query] is in the search language of the app: it parses a query and matches it against one
// note at a time. It reads no file and ranks nothing.
//
// The language: adjacent terms must all match, OR needs one of its sides, a leading dash
// negates, parentheses group; NOT binds tighter than AND, AND tighter than OR. A term is a
// word, a "phrase", a /regex/, an operator with its own term (line:(a b)), or a property
// ([name:value]).
//
// A word matches anywhere: "art" is in "party". A phrase needs a word boundary at each end.
// They and a regex are searched in the text and the path of a note. Case is folded by simple
// lower-casing of each Unicode character, without rules of single languages and foldings to
// several characters.
//
// Where the rules of the app are not published, these are the decisions:
//
//   - A name directly before a colon and a value is an operator, and an unknown one is
//     refused. URLs, times, drives, and a colon before a blank are text.
//   - An incomplete query is refused with advice, never guessed.
//   - A dash negates wherever a term may begin, also after an operator.
//   - A match inside the extension of a file does not count for a term without operator;
//     otherwise "md" would match every note.
//   - A section ends at the next heading of any level. A section: that contains another
//     section: includes its sub-headings, otherwise nesting would be useless.
//   - The text of a task begins after its box, so task:x does not match the x of a done one.
//
// A query is safe for use by several goroutines. The trigrams of a note tell without the text which notes cannot match.

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// QueryOptions are the options of [ParseQuery].
type QueryOptions struct {
	CaseSensitive bool           // makes terms case-sensitive unless the query says otherwise
	Budget        *budget.Budget // the budget of the call; nil is one with default limits
}

// Query is a parsed query. The zero Query matches nothing.
type Query struct {
	root    node
	special bool
	budget  *budget.Budget
}

// ParseQuery parses a query. Every error is a [*ParseError].
func ParseQuery(text string, options QueryOptions) (q *Query, err error) {
	if len(text) > maxLength {
		return nil, &ParseError{
			code:   "query_too_long",
			At:     1,
			Reason: "the query is too long",
			hint:   "write a shorter query",
		}
	}
	if !utf8.ValidString(text) {
		return nil, &ParseError{
			code:   "query_not_text",
			At:     1,
			Reason: "the query is not valid UTF-8",
			hint:   "write the query in UTF-8",
		}
	}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *ParseError:
			q = nil
			err = failed
		default:
			panic(failed)
		}
	}()
	q = &Query{budget: options.Budget}
	if q.budget == nil {
		q.budget = budget.New(budget.Limits{})
	}
	p := parser{text: text}
	if p.blanks(); p.done() {
		p.fail(
			0,
			"query_empty",
			"there is nothing to search for",
			"write a word, a \"phrase\" or an operator with a term",
		)
	}
	if q.root = p.alternatives(setting{letters: letterCase(options.CaseSensitive)}); !p.done() {
		p.closesNothing()
	}
	q.special = p.special
	return q, nil
}

// Match reports whether n matches. After [Query.Err] reports an error, nothing matches.
func (q *Query) Match(n QueryNote) bool {
	s := q.begin(n)
	if s == nil {
		return false
	}
	defer s.end()
	return q.root.match(s, everything) && q.Err() == nil
}

// Lines returns the lines of n in which a part of the query matches, in order, each once. It is
// empty if only the name or properties of n match, or nothing.
func (q *Query) Lines(n QueryNote) []MatchedLine {
	s := q.begin(n)
	if s == nil {
		return nil
	}
	defer s.end()
	s.collects = true
	if !q.root.match(s, everything) || q.Err() != nil {
		return nil
	}
	slices.Sort(s.found)
	text := s.textOf()
	lines := []MatchedLine{} // not nil: the note was found
	number := 0
	end := -1
	for _, at := range s.found {
		if at <= end {
			continue
		}
		number += 1 + bytes.Count(text[end+1:at], []byte("\n"))
		start := 1 + bytes.LastIndexByte(text[:at], '\n')
		end = at + lineLength(text[at:])
		line := bytes.TrimSuffix(text[start:end], []byte("\r"))
		before := ""
		after := ""
		if len(line) > maxLineText { // an excerpt of whole characters, with a quarter of it before the match
			from := max(0, min(at-start-maxLineText/4, len(line)-maxLineText))
			to := from + maxLineText
			if to < len(line) {
				to = nextRune(line, to-utf8.UTFMax)
				after = ellipsis
			}
			if from > 0 {
				from = nextRune(line, from)
				before = ellipsis
			}
			line = line[from:to]
		}
		lines = append(lines, MatchedLine{Line: number, Text: before + string(line) + after})
	}
	return lines
}

// Foresee returns the outlook of Match from the path of a note and the filter of its text. It
// calls no other method of n.
func (q *Query) Foresee(n QueryNote, text index.Trigrams) Outlook {
	s := q.begin(n)
	if s == nil {
		return Never
	}
	defer s.end()
	return q.root.foresee(s, text)
}

// NeedsText reports whether Match needs the text of a note; otherwise it calls only Path.
func (q *Query) NeedsText() bool { return q.root != nil && q.root.cost() > looksAtPath }

// Err returns the error of the budget that ended the search, nil if none did. With an error the
// results are incomplete.
func (q *Query) Err() error {
	if q.root == nil {
		return nil
	}
	return q.budget.Err()
}

// QueryNote is a note to match. Each method except Path is called at most once per call, and only if
// the query depends on it.
type QueryNote interface {
	// Path is relative to the vault, with slashes and extension, in Unicode normal form C as
	// typed text is.
	Path() string
	// Text is the whole file. It is not changed.
	Text() []byte
	// Scan is the scan of the text.
	Scan() *markdown.Note
	// Properties are those of the frontmatter.
	Properties() frontmatter.Properties
}

// Outlook is the expected result of a match before the text of the note is read.
type Outlook uint8

// The outlooks, by likelihood of a match.
const (
	Never Outlook = iota
	Perhaps
	Always
)

// Reading returns how a query with operators was understood, as a query with all parentheses. It
// is "" for plain words.
func (q *Query) Reading() string {
	if q.root == nil || !q.special {
		return ""
	}
	return reading(q.root, notation{})
}

// notation says how [reading] writes a node.
type notation struct {
	nested  bool // several sides are in parentheses
	inValue bool // of a property, which has only the parentheses that it needs
}

// reading formats a node.
func reading(n node, in notation) string {
	operand := notation{nested: true, inValue: in.inValue}
	switch n := n.(type) {
	case *group:
		between := " "
		if n.any {
			between = " OR "
		}
		var all []string
		for _, term := range n.terms {
			inner, isGroup := term.(*group)
			needsBrackets := isGroup && (inner.any || !n.any)
			all = append(all, reading(term, notation{nested: !in.inValue || needsBrackets, inValue: in.inValue}))
		}
		if in.nested {
			return "(" + strings.Join(all, between) + ")"
		}
		return strings.Join(all, between)
	case not:
		return "-" + reading(n.term, operand)
	case *operator:
		return n.name + ":" + reading(n.node, operand)
	case *part:
		return reading(&n.operator, operand)
	case *property:
		var names []string
		for _, name := range n.names {
			names = append(names, name.source())
		}
		text := "[" + strings.Join(names, " OR ")
		if n.value != nil {
			text += ":" + reading(n.value, notation{inValue: true})
		}
		return text + "]"
	}
	return n.(pattern).source()
}

// ParseError is an error in a query, with advice.
type ParseError struct {
	code   string
	At     int // the character where the trouble begins, from 1
	Reason string
	hint   string
}

// Code returns the kind of error, for programs.
func (e *ParseError) Code() string { return e.code }

// Error returns the reason and the place.
func (e *ParseError) Error() string { return fmt.Sprintf("query, character %d: %s", e.At, e.Reason) }

// Hint returns the advice.
func (e *ParseError) Hint() string { return e.hint }

// search is the match of one query against one note. It caches what it asked of the note.
type search struct {
	note   QueryNote
	budget *budget.Budget
	steps  int64 // that the budget was not told of

	collects bool
	found    []int // offsets into the text, none that is in one line with the one before
	line     span  // the part of a line that was looked at last, up to its end

	path, text       []byte
	hasPath, hasText bool
	scan             *markdown.Note
	properties       frontmatter.Properties
	hasProps         bool
	tags             []tag
	hasTags          bool
	parts            [kinds][]span
	hasParts         [kinds]bool
}

// searches is a pool: each note of a vault takes a search for a short time.
var searches = sync.Pool{New: func() any { return new(search) }}

// begin returns a search, which is to be released by end; nil if the query cannot match anything or
// has ended.
func (q *Query) begin(n QueryNote) *search {
	if q.root == nil || q.Err() != nil {
		return nil
	}
	s := searches.Get().(*search)
	*s = search{note: n, budget: q.budget, path: s.path[:0], found: s.found[:0]}
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
	whole  bool                // the whole note, path and frontmatter included
	values []frontmatter.Value // inside of a property
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
		s.path = append(s.path[:0], s.note.Path()...)
		s.hasPath = true
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
		s.text = s.note.Text()
		s.hasText = true
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

func (s *search) propertiesOf() frontmatter.Properties {
	if !s.hasProps {
		s.properties = s.note.Properties()
		s.hasProps = true
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
		if !strings.EqualFold(p.Key, "tags") {
			continue
		}
		for _, v := range p.Value.Elements() {
			name := strings.TrimPrefix(v.Text(), "#")
			unfit := func(r rune) bool {
				return unicode.IsSpace(r) || strings.ContainsRune("!\"#$%&'()*+,.:;<=>?@[\\]^{|}~`", r)
			}
			if v.Kind() == frontmatter.String && name != "" && !strings.ContainsFunc(name, unfit) {
				s.tags = append(s.tags, tag{text: []byte("#" + name), at: -1})
			}
		}
	}
	for _, t := range s.scanOf().Tags {
		s.tags = append(s.tags, tag{text: []byte(t.Text), at: t.At})
	}
	return s.tags
}

// MatchedLine is a line of a note with a match.
type MatchedLine struct {
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

// nextRune returns the offset of the first character at or after an offset. Invalid bytes are
// characters.
func nextRune(text []byte, at int) int {
	for n := 0; n < utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); n++ {
		at++
	}
	return at
}
