package search

// A [Query] is a query in the search language of the app. It is parsed once and matched against one
// note at a time. It reads no files and ranks nothing.
//
// The language: adjacent terms must all match, OR needs one of its sides to match, a leading dash
// negates, parentheses group; NOT binds tighter than AND, AND tighter than OR. A term is a
// word, a "phrase", a /regex/, an operator with its own term (line:(a b)), or a property
// ([name:value]).
//
// A word matches anywhere: "art" is in "party". A phrase needs a word boundary at each end.
// Words, phrases and regexes are searched for in the text and the path of a note. Case is folded by
// simple lower-casing of each Unicode character, without language-specific rules and without foldings
// to several characters.
//
// Where the rules of the app are not published, these are the decisions:
//
//   - A name directly before a colon and a value is an operator; an unknown operator is
//     an error. URLs, times, drives, and a colon before a blank are text.
//   - An incomplete query is an error with advice; its meaning is never guessed.
//   - A dash negates wherever a term may begin, including after an operator.
//   - A match in the extension of a file does not count for a term without an operator;
//     otherwise "md" would match every note.
//   - A section ends at the next heading of any level. A section: that contains another
//     section: includes its sub-headings, otherwise nesting would be useless.
//   - The text of a task begins after its box, so task:x does not match the x of a done one.
//
// A query is safe for concurrent use. With the trigrams of a note, it rules out notes without reading their text.

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
	CaseSensitive bool           // case-sensitive unless the query overrides it
	Budget        *budget.Budget // budget of the call; if nil, a budget with default limits
}

// Query is a parsed query. The zero Query matches nothing.
type Query struct {
	root      node
	hasSyntax bool // see parser
	budget    *budget.Budget
}

// ParseQuery parses a query of at most maxLength bytes. Every error is a [*ParseError].
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
	p.skipBlanks()
	if p.done() {
		p.fail(
			0,
			"query_empty",
			"there is nothing to search for",
			"write a word, a \"phrase\" or an operator with a term",
		)
	}
	q.root = p.alternatives(setting{letters: letterCase(options.CaseSensitive)})
	if !p.done() {
		p.failUnopened()
	}
	q.hasSyntax = p.hasSyntax
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

// Lines returns the lines of n in which a term of the query matches, in order and without duplicates.
// It returns nil if n does not match, and an empty list if only its name or properties do.
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
	slices.Sort(s.offsets)
	text := s.textOf()
	lines := []MatchedLine{} // not nil: the note was found
	number := 0
	end := -1
	for _, at := range s.offsets {
		if at <= end {
			continue
		}
		number += 1 + bytes.Count(text[end+1:at], []byte("\n"))
		start := 1 + bytes.LastIndexByte(text[:at], '\n')
		end = at + lineLength(text[at:])
		line := bytes.TrimSuffix(text[start:end], []byte("\r"))
		lines = append(lines, MatchedLine{Line: number, Text: shortLine(line, at-start)})
	}
	return lines
}

// shortLine returns a line, or an excerpt if it is longer than maxLineText: whole characters, about a quarter of them
// before the match at an offset.
func shortLine(line []byte, match int) string {
	if len(line) <= maxLineText {
		return string(line)
	}
	from := max(0, min(match-maxLineText/4, len(line)-maxLineText))
	to := from + maxLineText
	before := ""
	after := ""
	if to < len(line) {
		to = nextRune(line, to-utf8.UTFMax)
		after = ellipsis
	}
	if from > 0 {
		from = nextRune(line, from)
		before = ellipsis
	}
	return before + string(line[from:to]) + after
}

// Foresee predicts the result of Match from the path of a note and the trigrams of its text. Path is
// the only method of n that it calls.
func (q *Query) Foresee(n QueryNote, text index.Trigrams) Outlook {
	s := q.begin(n)
	if s == nil {
		return Never
	}
	defer s.end()
	return q.root.foresee(s, text)
}

// NeedsText reports whether Match may need more of a note than its path.
func (q *Query) NeedsText() bool { return q.root != nil && q.root.cost() > looksAtPath }

// Err returns the error of the budget that ended the search, or nil. After an error the results are
// incomplete.
func (q *Query) Err() error {
	if q.root == nil {
		return nil
	}
	return q.budget.Err()
}

// QueryNote is a note to match. A query calls each method except Path at most once per match, and only
// if the result depends on it.
type QueryNote interface {
	// Path is relative to the vault, with slashes and extension, in Unicode normal form C, like
	// typed text.
	Path() string
	// Text returns the whole file. The query does not change it.
	Text() []byte
	// Scan returns the parsed text.
	Scan() *markdown.Note
	// Properties returns the properties of the frontmatter.
	Properties() frontmatter.Properties
}

// Outlook is the predicted result of a match, before the text of the note is read.
type Outlook uint8

// The outlooks, from the least to the most likely match.
const (
	Never Outlook = iota
	Perhaps
	Always
)

// Reading returns the query as it was understood, with all parentheses written out. It returns ""
// for a query of plain words.
func (q *Query) Reading() string {
	if q.root == nil || !q.hasSyntax {
		return ""
	}
	return reading(q.root, notation{})
}

// notation controls how [reading] writes a node.
type notation struct {
	nested  bool // put parentheses around a group
	inValue bool // within a property value, where only needed parentheses are written
}

// reading formats a node as query text.
func reading(n node, in notation) string {
	operand := notation{nested: true, inValue: in.inValue}
	switch n := n.(type) {
	case *group:
		between := " "
		if n.anyOf {
			between = " OR "
		}
		var sides []string
		for _, term := range n.terms {
			inner, isGroup := term.(*group)
			needsBrackets := isGroup && (inner.anyOf || !n.anyOf)
			sides = append(sides, reading(term, notation{nested: !in.inValue || needsBrackets, inValue: in.inValue}))
		}
		if in.nested {
			return "(" + strings.Join(sides, between) + ")"
		}
		return strings.Join(sides, between)
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

// ParseError reports an error in a query, with advice on how to correct it.
type ParseError struct {
	code   string
	At     int // position of the error in characters, from 1
	Reason string
	hint   string
}

// Code returns the error code for programs, such as "query_too_long".
func (e *ParseError) Code() string { return e.code }

// Error returns the position and the reason.
func (e *ParseError) Error() string { return fmt.Sprintf("query, character %d: %s", e.At, e.Reason) }

// Hint returns the advice for the user.
func (e *ParseError) Hint() string { return e.hint }

// search is the state of matching one query against one note. It caches the results of the note's methods.
type search struct {
	note   QueryNote
	budget *budget.Budget
	steps  int64 // not yet charged to budget

	collects bool
	offsets  []int // of matches in the text; no two successive ones are in the same line
	line     span  // from the offset that addOffset last looked up to the end of its line

	path, text       []byte
	hasPath, hasText bool
	scan             *markdown.Note
	properties       frontmatter.Properties
	hasProps         bool
	tags             []tag
	hasTags          bool
	parts            [kindCount][]span
	hasParts         [kindCount]bool
}

// searches is a pool, because every note of a vault needs a search for a short time.
var searches = sync.Pool{New: func() any { return new(search) }}

// begin returns a search that the caller must release with end. It returns nil if the query is empty
// or its budget is used up.
func (q *Query) begin(n QueryNote) *search {
	if q.root == nil || q.Err() != nil {
		return nil
	}
	s := searches.Get().(*search)
	*s = search{note: n, budget: q.budget, path: s.path[:0], offsets: s.offsets[:0]}
	return s
}

func (s *search) end() {
	_ = s.budget.Step(s.steps)                    // Query.Err reports the end of the budget
	*s = search{path: s.path, offsets: s.offsets} // the pool must not keep notes in memory
	searches.Put(s)
}

// spend counts bytes that were read and reports whether the search may continue. It charges the
// shared budget in batches, because all goroutines contend for it.
func (s *search) spend(bytes int) bool {
	const (
		stepBytes = 256
		batch     = 1 << 12
	)
	s.steps += 1 + int64(bytes)/stepBytes
	if s.steps < batch {
		return true
	}
	err := s.budget.Step(s.steps)
	s.steps = 0
	return err == nil
}

// scope is the part of a note that is matched.
type scope struct {
	span
	whole  bool                // the whole note, with path and frontmatter
	values []frontmatter.Value // of the property that is matched, if any
}

// everything is the scope of a whole note. Its span is not set, because that would need the text.
var everything = scope{whole: true}

// maxLines is the maximum number of lines reported for one note. The app has the same limit for a
// whole search.
const maxLines = 100_000

// addOffset records the offset of a match, unless the previous one is in the same line.
func (s *search) addOffset(at int) {
	if !s.collects || len(s.offsets) >= maxLines {
		return
	}
	if !s.line.contains(at) {
		s.line = span{at, at + lineLength(s.textOf()[at:]) + 1}
	}
	if n := len(s.offsets); n == 0 || !s.line.contains(s.offsets[n-1]) {
		s.offsets = append(s.offsets, at)
	}
}

func (p span) contains(at int) bool { return p.start <= at && at < p.end }

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

// textIn returns the text of a scope and its offset in the note.
func (s *search) textIn(sc scope) (text []byte, start int) {
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

// tagsOf returns the tags of the frontmatter, followed by those of the text.
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
			isTag := name != "" && !strings.ContainsFunc(name, endsTag)
			if isTag && v.Kind() == frontmatter.String {
				s.tags = append(s.tags, tag{text: []byte("#" + name), at: -1})
			}
		}
	}
	for _, t := range s.scanOf().Tags {
		s.tags = append(s.tags, tag{text: []byte(t.Text), at: t.At})
	}
	return s.tags
}

// endsTag reports whether r cannot be in the name of a tag.
func endsTag(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("!\"#$%&'()*+,.:;<=>?@[\\]^{|}~`", r)
}

// MatchedLine is a line of a note with a match.
type MatchedLine struct {
	Line int // from 1
	// Text is the line, or an excerpt around the first match if the line is longer than maxLineText bytes.
	Text string
}

const (
	// maxLineText is the maximum length of a reported line in bytes, longer than most paragraphs:
	// some notes are a single line of megabytes.
	maxLineText = 1 << 10
	ellipsis    = "…" // replaces omitted text
)

// nextRune returns the offset of the first character that begins at or after an offset. An invalid
// byte counts as a character.
func nextRune(text []byte, at int) int {
	for n := 0; n < utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); n++ {
		at++
	}
	return at
}
