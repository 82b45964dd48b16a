// Package query is the search language of the notes app: it parses a query and
// holds it against one note at a time. It reads no file, knows no vault and
// ranks nothing.
//
// The language: terms side by side must all match, OR asks for one of its
// sides, a dash in front negates, parentheses group; NOT binds tighter than
// AND, AND tighter than OR. A term is a word, a "phrase", a /regex/, an
// operator with a term of its own (line:(a b)), or a property ([name:value]).
//
// A word is found anywhere: "art" is in "party". A phrase needs a word boundary
// at each end. Both are looked for in the text and in the path of a note; a
// regex, too. Letters are compared by simple lower-casing over all of Unicode,
// one character for one; the rules of single languages, and those that make two
// letters of one, do not count.
//
// Where the app's rules are not published, this package decides:
//   - A name directly before a colon and a value is an operator, and one that does
//     not exist is refused. Addresses, times of day, drives, and a colon with a
//     blank behind it are text.
//   - What is half typed is refused with advice, never guessed.
//   - A dash negates wherever a term may begin, behind an operator as well.
//   - A hit that lies in the extension of a file does not count for a term
//     without operator: else "md" would find every note.
//   - A section ends at the next heading of any level. A section: that holds
//     another section: spans its sub-headings, else nesting would mean nothing.
//   - The text of a task begins behind its box, so task:x does not find the x
//     of a done one.
//
// A query may be used by several goroutines at once.
package query

import (
	"slices"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// Options are what a search is asked for besides its text.
type Options struct {
	// CaseSensitive makes upper and lower case differ where the query itself
	// does not say.
	CaseSensitive bool
	// Budget is that of the call; nil is one with the usual limits.
	Budget *budget.Budget
}

// Query is a parsed query. The zero Query matches nothing.
type Query struct {
	root    node
	special bool
	budget  *budget.Budget
}

// Parse reads a query. Every error is a [*ParseError].
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

// Match reports whether n is found by the query. Once [Query.Err] reports an
// error, nothing matches any more.
func (q *Query) Match(n Note) bool {
	if !q.can() {
		return false
	}
	s := begin(n, q.budget)
	defer s.end()
	return q.root.match(s, everything) && q.Err() == nil
}

// Lines returns the lines of n where a part of the query matches, in their
// order, each once. It is empty if n is found by its name or properties alone,
// or not at all.
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
	return linesAt(s.textOf(), s.found)
}

// Foresee says what Match will of a note, by its path and the filter of its text. It asks
// the note for nothing but its path.
func (q *Query) Foresee(n Note, text trigram.Filter) Outlook {
	if !q.can() {
		return Never
	}
	s := begin(n, q.budget)
	defer s.end()
	return q.root.foresee(s, text)
}

// NeedsText reports whether a note must be read at all. If not, Match asks for
// nothing but its path.
func (q *Query) NeedsText() bool { return q.root != nil && q.root.needsText() }

// Err returns why the search had to end, if it had: an error of its budget. What was found
// until then is not all there is.
func (q *Query) Err() error {
	if q.root == nil {
		return nil
	}
	return q.budget.Err()
}

// can reports whether the query can match anything, and still does.
func (q *Query) can() bool { return q.root != nil && q.Err() == nil }

// String returns the query as it was understood. It parses to the same query.
func (q *Query) String() string {
	if q.root == nil {
		return ""
	}
	return string(q.root.write(nil))
}
