package query

import (
	"bytes"
	"strings"

	"vaultwicket/cmd/internal/vault/budget"
	"vaultwicket/cmd/internal/vault/query/trigram"
)

// pattern is what a single term looks for.
type pattern interface {
	// each calls try for the places in text, from left to right, until it has
	// enough. If many is not set, one place is enough from the start.
	each(b *budget.Budget, text []byte, many bool, try func(start, end int) verdict)
	possible(text []byte) bool
	// grams are what every text has in which there is a place.
	grams() trigram.Word
	cost() cost
	write(to []byte) []byte
}

// field is where a term looks.
type field uint8

const (
	anywhere field = iota // in the text and in the path
	inName
	inPath
	inText
	inTags
	inValues
)

// term looks for a pattern in the text or the path.
type term struct {
	pattern
	field field
}

func (t *term) match(s *search, in scope) bool {
	switch t.field {
	case inName:
		return t.foundIn(s, s.nameOf())
	case inPath:
		return t.foundIn(s, s.pathOf())
	case anywhere:
		named := t.names(s)
		if named && !s.collects {
			return true
		}
		return t.matchText(s, in) || named
	}
	return t.matchText(s, in)
}

func (t *term) foundIn(s *search, name []byte) bool {
	found := false
	t.each(s.budget, name, false, func(int, int) verdict {
		found = true
		return stop
	})
	return found
}

// names reports whether the term is found in the path, and not only in the
// extension.
func (t *term) names(s *search) bool {
	path := s.pathOf()
	stem := len(path)
	if dot := bytes.LastIndexByte(path, '.'); dot > bytes.LastIndexByte(path, '/') {
		stem = dot
	}
	found := false
	t.each(s.budget, path, false, func(start, _ int) verdict {
		found = start < stem
		return stop // the places behind are no better
	})
	return found
}

func (t *term) matchText(s *search, in scope) bool {
	text, offset := s.in(in)
	if !s.spend(len(text)) {
		return false
	}
	found := false
	t.each(s.budget, text, s.collects, func(start, end int) verdict {
		found = true
		if !s.collects {
			return stop
		}
		if start < end || !in.whole { // task:"" is meant to show every task
			s.put(offset + start)
		}
		return take
	})
	return found
}

func (t *term) possible(text []byte) bool {
	return t.field == inName || t.field == inPath || t.pattern.possible(text)
}

func (t *term) foresee(s *search, text trigram.Filter) Outlook {
	switch {
	case t.field == inName:
		return certainly(t.foundIn(s, s.nameOf()))
	case t.field == inPath:
		return certainly(t.foundIn(s, s.pathOf()))
	case t.field == anywhere && t.names(s):
		return Always
	case !text.MayHold(t.grams()):
		return Never
	}
	return Perhaps
}

func (t *term) cost() cost {
	if t.field == inName || t.field == inPath {
		return looksAtPath
	}
	return t.pattern.cost()
}

func (t *term) needsText() bool { return t.field != inName && t.field != inPath }

// words is a word of the query: it is found anywhere, inside of words, too.
type words struct {
	needle *needle
	raw    string
}

func (w words) each(_ *budget.Budget, text []byte, _ bool, try func(start, end int) verdict) {
	w.needle.each(text, try)
}

func (w words) possible(text []byte) bool { return w.needle.in(text) }
func (w words) grams() trigram.Word       { return w.needle.grams }
func (w words) cost() cost                { return looksAtText }
func (w words) write(to []byte) []byte    { return append(to, w.raw...) }

// phrase is text that does not begin or end inside of a word.
type phrase struct {
	needle *needle
	raw    string
}

func (p phrase) each(_ *budget.Budget, text []byte, _ bool, try func(start, end int) verdict) {
	p.needle.each(text, func(start, end int) verdict {
		if start < end && (cutsWord(text, start) || cutsWord(text, end)) {
			return skip
		}
		return try(start, end)
	})
}

func (p phrase) possible(text []byte) bool { return p.needle.in(text) }
func (p phrase) grams() trigram.Word       { return p.needle.grams }
func (p phrase) cost() cost                { return looksAtText }
func (p phrase) write(to []byte) []byte    { return appendQuoted(to, p.raw) }

func appendQuoted(to []byte, text string) []byte {
	to = append(to, '"')
	to = append(to, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)...)
	return append(to, '"')
}

// in reports whether the needle is in text.
func (n *needle) in(text []byte) bool {
	found := false
	n.each(text, func(int, int) verdict {
		found = true
		return stop
	})
	return found
}
