// Package query is the search language of the app: it parses a query and matches it against one
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
// Where the rules of the app are not published, this package decides:
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
// A query is safe for use by several goroutines.
package query

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// Options are the options of [Parse].
type Options struct {
	CaseSensitive bool           // makes terms case-sensitive unless the query says otherwise
	Budget        *budget.Budget // the budget of the call; nil is one with default limits
}

// Query is a parsed query. The zero Query matches nothing.
type Query struct {
	root    node
	special bool
	budget  *budget.Budget
}

// Parse parses a query. Every error is a [*ParseError].
func Parse(text string, options Options) (*Query, error) {
	if len(text) > maxLength {
		return nil, &ParseError{code: "query_too_long", At: 1, Reason: "the query is too long", hint: "write a shorter query"}
	}
	if !utf8.ValidString(text) {
		return nil, &ParseError{code: "query_not_text", At: 1, Reason: "the query is not valid UTF-8", hint: "write the query in UTF-8"}
	}
	q := &Query{budget: options.Budget}
	if q.budget == nil {
		q.budget = budget.New(budget.Limits{})
	}
	p := parser{text: text}
	root, err := p.whole(setting{exact: options.CaseSensitive})
	if err != nil {
		return nil, err
	}
	q.root, q.special = root, p.special
	return q, nil
}

// Match reports whether n matches. After [Query.Err] reports an error, nothing matches.
func (q *Query) Match(n Note) bool {
	if !q.can() {
		return false
	}
	s := begin(n, q.budget)
	defer s.end()
	return q.root.match(s, everything) && q.Err() == nil
}

// Lines returns the lines of n in which a part of the query matches, in order, each once. It is
// empty if only the name or properties of n match, or nothing.
func (q *Query) Lines(n Note) []Line {
	if !q.can() {
		return nil
	}
	s := begin(n, q.budget)
	defer s.end()
	s.collects = true
	if !q.root.match(s, everything) || q.Err() != nil {
		return nil
	}
	slices.Sort(s.found)
	text := s.textOf()
	lines := []Line{} // not nil: the note was found
	number, end := 0, -1
	for _, at := range s.found {
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

// Foresee returns the outlook of Match from the path of a note and the filter of its text. It
// calls no other method of n.
func (q *Query) Foresee(n Note, text trigram.Filter) Outlook {
	if !q.can() {
		return Never
	}
	s := begin(n, q.budget)
	defer s.end()
	return q.root.foresee(s, text)
}

// NeedsText reports whether Match needs the text of a note; otherwise it calls only Path.
func (q *Query) NeedsText() bool { return q.root != nil && q.root.needsText() }

// Err returns the error of the budget that ended the search, nil if none did. With an error the
// results are incomplete.
func (q *Query) Err() error {
	if q.root == nil {
		return nil
	}
	return q.budget.Err()
}

// can reports whether the query can match anything and has not ended.
func (q *Query) can() bool { return q.root != nil && q.Err() == nil }

// String returns the canonical form of the query, which parses to the same query.
func (q *Query) String() string {
	if q.root == nil {
		return ""
	}
	return string(q.root.write(nil))
}

// Note is a note to match. Each method except Path is called at most once per call, and only if
// the query depends on it.
type Note interface {
	// Path is relative to the vault, with slashes and extension, in Unicode normal form C as
	// typed text is.
	Path() string
	// Text is the whole file. It is not changed.
	Text() []byte
	// Scan is the scan of the text.
	Scan() *markdown.Note
	// Properties are the entries of the frontmatter.
	Properties() []Property
}

// Property is one entry of a note's frontmatter.
type Property struct {
	Name string
	// Values are the elements of a list, otherwise the single value. An empty list has none; a
	// name without a value has one of kind Nothing.
	Values []Value
}

// Value is a single value, or a nested one as text.
type Value struct {
	Kind   Kind
	Text   string  // as the app shows it; of a Truth "true" or "false"
	Number float64 // of a Number
}

// Kind is the type of a value.
type Kind uint8

const (
	Words   Kind = iota // text, and everything of no other kind: dates, links, maps
	Nothing             // a value that was left out, or null
	Number              // a number
	Truth               // true or false
)

// Outlook is the expected result of a match before the text of the note is read.
type Outlook uint8

// The outlooks, by likelihood of a match.
const (
	Never Outlook = iota
	Perhaps
	Always
)

func certainly(found bool) Outlook {
	if found {
		return Always
	}
	return Never
}

// Reading returns how a query with operators was understood, with explicit AND, OR and NOT. It
// is "" for plain words.
func (q *Query) Reading() string {
	if q.root == nil || !q.special {
		return ""
	}
	return reading(q.root, false)
}

// reading formats a node; with inside, several sides are in parentheses.
func reading(n node, inside bool) string {
	switch n := n.(type) {
	case *every:
		return sides(n.terms, " AND ", inside)
	case *either:
		return sides(n.terms, " OR ", inside)
	case not:
		return "NOT " + reading(n.term, true)
	case *operator:
		return n.name + ":" + reading(n.node, true)
	case *part:
		return n.name + ":" + reading(n.node, true)
	}
	return string(n.write(nil))
}

func sides(terms []node, between string, inside bool) string {
	var all []string
	for _, term := range terms {
		all = append(all, reading(term, true))
	}
	text := strings.Join(all, between)
	if inside {
		return "(" + text + ")"
	}
	return text
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
