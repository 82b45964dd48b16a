package search

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// node is a part of a query.
type node interface {
	// match matches the node in a scope. A search that collects gets the places of the matches.
	match(s *search, in scope) bool
	// possible reports whether any part of text could match, by a cheap check without false
	// negatives.
	possible(text []byte) bool
	// foresee returns the outlook of match in every scope of a note whose text has this filter.
	// It does not read the text.
	foresee(s *search, text index.Trigrams) Outlook
	// cost ranks nodes: cheap ones are tried first.
	cost() cost
}

// cost is what a node has to read. Matching has no side effects, so the order does not change
// the result.
type cost uint8

const (
	looksAtPath cost = iota
	looksAtText
	looksAtIndex // what a scan finds, or the frontmatter
	splitsText
	runsRegex
)

// group matches if all terms do, or with any if one of them does.
type group struct {
	any     bool
	terms   []node // as written
	ordered []node // cheap ones first
}

// newGroup returns the group that matches if all of some terms do.
func newGroup(terms []node) *group {
	return &group{
		terms: terms,
		ordered: slices.SortedStableFunc(
			slices.Values(terms),
			func(a, b node) int { return cmp.Compare(a.cost(), b.cost()) },
		),
	}
}

// newAlternatives returns the group that matches if one of some terms does.
func newAlternatives(terms []node) *group {
	g := newGroup(terms)
	g.any = true
	return g
}

func (g *group) cost() cost {
	most := looksAtPath
	for _, term := range g.terms {
		most = max(most, term.cost())
	}
	return most
}

func (g *group) match(s *search, in scope) bool {
	before := len(s.found)
	found := !g.any
	for _, term := range g.ordered {
		switch matches := term.match(s, in); {
		case !g.any && !matches:
			s.found = s.found[:before]
			return false
		case g.any && matches && !s.collects:
			return true
		default:
			found = found || matches
		}
	}
	return found
}

func (g *group) possible(text []byte) bool {
	return slices.ContainsFunc(g.ordered, func(term node) bool { return term.possible(text) == g.any }) == g.any
}

func (g *group) foresee(s *search, text index.Trigrams) Outlook {
	least := Always
	most := Never
	for _, term := range g.ordered {
		outlook := term.foresee(s, text)
		least = min(least, outlook)
		most = max(most, outlook)
		isDecided := least == Never
		if g.any {
			isDecided = most == Always
		}
		if isDecided {
			break
		}
	}
	if g.any {
		return most
	}
	return least
}

// not matches if its term does not.
type not struct{ term node }

func (n not) match(s *search, in scope) bool {
	before := len(s.found)
	found := n.term.match(s, in)
	s.found = s.found[:before]
	return !found
}

func (n not) possible([]byte) bool { return true }

func (n not) foresee(s *search, text index.Trigrams) Outlook {
	return Always - n.term.foresee(s, text)
}

func (n not) cost() cost { return n.term.cost() }

// operator is a name with a term. Operators that only change where or how to look were applied
// to the terms below by the parser.
type operator struct {
	name string
	node // the term
}

// setting is the context of a term in the query.
type setting struct {
	letters letterCase
	field   field
	depth   int
	scopes  int
}

// dividers are the operators that divide the text.
var dividers = map[string]kind{
	"line": lines, "block": blocks, "section": sections, "task": tasks, "task-todo": openTasks, "task-done": doneTasks,
}

// extent says which of the matches of a pattern are asked for.
type extent bool

const (
	firstMatch extent = false
	everyMatch extent = true
)

// pattern is what a term searches for.
type pattern interface {
	// each calls try for the matches in text that are asked for, from left to right, until it has enough.
	each(b *budget.Budget, text []byte, asked extent, try func(start, end int) verdict)
	mayOccur(text []byte) bool
	// grams are the trigrams that every matching text contains.
	grams() index.WordTrigrams
	cost() cost
	// source is the pattern as query text.
	source() string
}

// field is where a term searches.
type field uint8

const (
	anywhere field = iota // in the text and in the path
	inName
	inPath
	inText
	inTags
	inValues
)

// term searches for a pattern in the text or the path.
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
	t.each(s.budget, name, firstMatch, func(int, int) verdict {
		found = true
		return stop
	})
	return found
}

// names reports whether the path matches outside its extension.
func (t *term) names(s *search) bool {
	path := s.pathOf()
	stem := len(path)
	if dot := bytes.LastIndexByte(path, '.'); dot > bytes.LastIndexByte(path, '/') {
		stem = dot
	}
	found := false
	t.each(s.budget, path, firstMatch, func(start, _ int) verdict {
		found = start < stem
		return stop // later matches are no better
	})
	return found
}

func (t *term) matchText(s *search, in scope) bool {
	text, offset := s.in(in)
	if !s.spend(len(text)) {
		return false
	}
	asked := firstMatch
	if s.collects {
		asked = everyMatch
	}
	found := false
	t.each(s.budget, text, asked, func(start, end int) verdict {
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
	return t.field == inName || t.field == inPath || t.pattern.mayOccur(text)
}

func (t *term) foresee(s *search, text index.Trigrams) Outlook {
	switch {
	case t.field == inName || t.field == inPath:
		if t.match(s, everything) {
			return Always
		}
		return Never
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

// wordNodes is a word of the query, which also matches inside words.
type wordNodes struct {
	needle *needle
	raw    string
}

func (w wordNodes) each(_ *budget.Budget, text []byte, _ extent, try func(start, end int) verdict) {
	w.needle.each(text, try)
}

func (w wordNodes) mayOccur(text []byte) bool { return w.needle.in(text) }
func (w wordNodes) grams() index.WordTrigrams { return w.needle.grams }
func (w wordNodes) cost() cost                { return looksAtText }
func (w wordNodes) source() string            { return w.raw }

// phrase is text that has a word boundary at both ends.
type phrase struct{ wordNodes }

func (p phrase) each(_ *budget.Budget, text []byte, _ extent, try func(start, end int) verdict) {
	p.needle.each(text, func(start, end int) verdict {
		if start < end && (cutsWord(text, start) || cutsWord(text, end)) {
			return skip
		}
		return try(start, end)
	})
}

func (p phrase) source() string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.raw) + `"`
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

// joins reports whether r forms a word with an adjacent such character.
func joins(r rune) bool {
	if r < utf8.RuneSelf {
		isDigit := '0' <= r && r <= '9'
		return isASCIILetter(r) || isDigit || r == '_'
	}
	if r == 'ー' || unicode.In(r, withoutBlanks...) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// withoutBlanks are scripts that have no blanks between words.
var withoutBlanks = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// cutsWord reports whether an offset is inside a word.
func cutsWord(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at:])
	return joins(before) && joins(after)
}

// inFrontmatter is what may match in the frontmatter, where names and values may be escaped: neither the
// text nor its filter excludes it.
type inFrontmatter struct{}

func (inFrontmatter) foresee(*search, index.Trigrams) Outlook { return Perhaps }
func (inFrontmatter) possible([]byte) bool                    { return true }

// property matches if a property with one of the names has a matching value.
type property struct {
	inFrontmatter
	names []propertyName
	value node // nil if the name is enough
}

func (p *property) match(s *search, _ scope) bool {
	return slices.ContainsFunc(s.propertiesOf(), func(have frontmatter.Property) bool {
		named := slices.ContainsFunc(p.names, func(n propertyName) bool {
			if n.name == nil {
				return (&term{pattern: n.pattern}).foundIn(s, []byte(have.Key))
			}
			return bytes.Equal(foldString(have.Key), n.name)
		})
		return named && (p.value == nil || p.value.match(s, scope{whole: true, values: have.Value.Elements()}))
	})
}

func (p *property) cost() cost { return looksAtIndex }

// propertyName is an alternative name of a property.
type propertyName struct {
	pattern        // as written
	name    []byte // folded; nil for a regex
}

// valueTerm matches if one of the values of a property does.
type valueTerm struct {
	inFrontmatter
	pattern
	fits func(frontmatter.Value) bool // decides before the pattern, if not nil
	only bool                         // decides alone
}

func (v *valueTerm) match(s *search, in scope) bool {
	return slices.ContainsFunc(in.values, func(have frontmatter.Value) bool {
		if v.fits != nil && v.fits(have) {
			return true
		}
		return !v.only && have.Kind() != frontmatter.Null &&
			(&term{pattern: v.pattern}).foundIn(s, []byte(have.String()))
	})
}

// tag is a tag with its "#" and its offset in the text, -1 for one in the frontmatter.
type tag struct {
	text []byte
	at   int
}

// tagTerm matches if one of the tags does.
type tagTerm struct {
	inFrontmatter
	pattern        // as written
	name    []byte // folded, without "#"; nil for a regex
}

func (t *tagTerm) match(s *search, in scope) bool {
	found := false
	for _, tag := range s.tagsOf() {
		if !in.whole && (tag.at < in.start || tag.at >= in.end) {
			continue
		}
		if t.name == nil {
			if !(&term{pattern: t.pattern}).foundIn(s, tag.text) {
				continue
			}
		} else {
			rest, ok := bytes.CutPrefix(foldString(string(tag.text[1:])), t.name)
			isAll := len(rest) == 0 || len(t.name) == 0
			if !ok || !isAll && rest[0] != '/' {
				continue // neither the wanted tag nor one nested in it
			}
		}
		found = true
		if tag.at >= 0 {
			s.put(tag.at)
		}
		if !s.collects {
			break
		}
	}
	return found
}

func (t *tagTerm) cost() cost { return max(looksAtIndex, t.pattern.cost()) }
