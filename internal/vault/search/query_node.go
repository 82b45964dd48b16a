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

// node is a node of the syntax tree of a query.
type node interface {
	// match reports whether the node matches in a scope. If s collects, it records the offsets of the matches; none if
	// the node does not match.
	match(s *search, in scope) bool
	// possible reports whether some part of text may match. It is cheap and has no false negatives.
	possible(text []byte) bool
	// foresee predicts match for every scope of a note whose text has these trigrams. It does not
	// read the text.
	foresee(s *search, text index.Trigrams) Outlook
	// cost ranks nodes: cheap ones are tried first.
	cost() cost
}

// cost ranks nodes by what they have to read. Matching has no side effects, so the order does not
// change the result.
type cost uint8

const (
	looksAtPath cost = iota
	looksAtText
	looksAtIndex // needs the parsed note or its frontmatter
	splitsText
	runsRegex
)

// group matches if all its terms match; if anyOf is set, one of them is enough.
type group struct {
	anyOf   bool
	terms   []node // in the order of the query
	ordered []node // by cost
}

// newGroup returns a group that matches if all terms do.
func newGroup(terms []node) *group {
	return &group{
		terms: terms,
		ordered: slices.SortedStableFunc(
			slices.Values(terms),
			func(a, b node) int { return cmp.Compare(a.cost(), b.cost()) },
		),
	}
}

// newAlternatives returns a group that matches if one of the terms does.
func newAlternatives(terms []node) *group {
	g := newGroup(terms)
	g.anyOf = true
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
	before := len(s.offsets)
	found := !g.anyOf
	for _, term := range g.ordered {
		switch matches := term.match(s, in); {
		case !g.anyOf && !matches:
			s.offsets = s.offsets[:before]
			return false
		case g.anyOf && matches && !s.collects:
			return true
		default:
			found = found || matches
		}
	}
	return found
}

func (g *group) possible(text []byte) bool {
	if g.anyOf {
		return slices.ContainsFunc(g.ordered, func(term node) bool { return term.possible(text) })
	}
	return !slices.ContainsFunc(g.ordered, func(term node) bool { return !term.possible(text) })
}

func (g *group) foresee(s *search, text index.Trigrams) Outlook {
	least := Always
	most := Never
	for _, term := range g.ordered {
		outlook := term.foresee(s, text)
		least = min(least, outlook)
		most = max(most, outlook)
		isDecided := least == Never
		if g.anyOf {
			isDecided = most == Always
		}
		if isDecided {
			break
		}
	}
	if g.anyOf {
		return most
	}
	return least
}

// not matches if its term does not.
type not struct{ term node }

func (n not) match(s *search, in scope) bool {
	before := len(s.offsets)
	found := n.term.match(s, in)
	s.offsets = s.offsets[:before]
	return !found
}

func (n not) possible([]byte) bool { return true }

func (n not) foresee(s *search, text index.Trigrams) Outlook {
	return Always - n.term.foresee(s, text)
}

func (n not) cost() cost { return n.term.cost() }

// operator is a named operator with its term. For operators that only change where or how to search,
// the parser has already applied the change to the terms below.
type operator struct {
	name string
	node // the term
}

// setting is what the enclosing operators and brackets determine for a term.
type setting struct {
	letters letterCase
	field   field
	depth   int // of nesting, at most maxDepth
	scopes  int // operators around it that divide the text, at most maxScopes
}

// dividers are the operators that divide the text into pieces.
var dividers = map[string]kind{
	"line": lines, "block": blocks, "section": sections, "task": tasks, "task-todo": openTasks, "task-done": doneTasks,
}

// pattern is a word, phrase or regex that a term searches for.
type pattern interface {
	// each calls try for the matches in text, from left to right, until try returns stop.
	each(b *budget.Budget, text []byte, try func(start, end int) verdict)
	// first returns the beginning of the first match in text. It is called for each note of a vault, so it allocates
	// nothing for words and phrases.
	first(b *budget.Budget, text []byte) (start int, found bool)
	// mayOccur reports whether text may contain the pattern. It has no false negatives.
	mayOccur(text []byte) bool
	// grams returns the trigrams that every matching text contains.
	grams() index.WordTrigrams
	cost() cost
	// source returns the pattern as query text.
	source() string
}

// field is the part of a note in which a term searches.
type field uint8

const (
	anywhere field = iota // in the text and the path
	inName
	inPath
	inText
	inTags   // searched by tagTerm
	inValues // searched by valueTerm
)

// term searches for a pattern in the text, the path or both.
type term struct {
	pattern
	field field
}

func (t *term) match(s *search, in scope) bool {
	switch t.field {
	case inName:
		return s.occurs(t.pattern, s.nameOf())
	case inPath:
		return s.occurs(t.pattern, s.pathOf())
	case anywhere:
		matchesPath := t.matchesPath(s)
		if matchesPath && !s.collects {
			return true
		}
		return t.matchText(s, in) || matchesPath
	}
	return t.matchText(s, in)
}

// occurs reports whether a pattern occurs in a name or value.
func (s *search) occurs(p pattern, text []byte) bool {
	_, found := p.first(s.budget, text)
	return found
}

// matchesPath reports whether the pattern occurs in the path and begins before its extension.
func (t *term) matchesPath(s *search) bool {
	path := s.pathOf()
	stem := len(path)
	if dot := bytes.LastIndexByte(path, '.'); dot > bytes.LastIndexByte(path, '/') {
		stem = dot
	}
	start, found := t.first(s.budget, path) // later matches do not begin earlier
	return found && start < stem
}

func (t *term) matchText(s *search, in scope) bool {
	text, offset := s.textIn(in)
	if !s.spend(len(text)) {
		return false
	}
	if !s.collects {
		return s.occurs(t.pattern, text)
	}
	found := false
	t.each(s.budget, text, func(start, end int) verdict {
		found = true
		if start < end || !in.whole { // task:"" has to report every task, although the match is empty
			s.addOffset(offset + start)
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
	case t.field == anywhere && t.matchesPath(s):
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

// wordPattern is a word of the query. It also matches inside words of the text.
type wordPattern struct {
	needle *needle
	raw    string
}

func (w wordPattern) each(_ *budget.Budget, text []byte, try func(start, end int) verdict) {
	w.needle.each(text, try)
}

func (w wordPattern) first(_ *budget.Budget, text []byte) (start int, found bool) {
	return w.needle.first(text)
}

func (w wordPattern) mayOccur(text []byte) bool { return w.needle.occursIn(text) }
func (w wordPattern) grams() index.WordTrigrams { return w.needle.grams }
func (w wordPattern) cost() cost                { return looksAtText }
func (w wordPattern) source() string            { return w.raw }

// phrase is text that matches only with a word boundary at each end.
type phrase struct{ wordPattern }

func (p phrase) each(_ *budget.Budget, text []byte, try func(start, end int) verdict) {
	p.needle.each(text, func(start, end int) verdict {
		if isInsideWords(text, start, end) {
			return skip
		}
		return try(start, end)
	})
}

func (p phrase) first(_ *budget.Budget, text []byte) (start int, found bool) {
	p.needle.each(text, func(from, to int) verdict {
		if isInsideWords(text, from, to) {
			return skip
		}
		start = from
		found = true
		return stop
	})
	return start, found
}

// isInsideWords reports whether a match begins or ends inside a word.
func isInsideWords(text []byte, start, end int) bool {
	return start < end && (isInWord(text, start) || isInWord(text, end))
}

func (p phrase) source() string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.raw) + `"`
}

// first returns the offset of the first occurrence of the needle in a text.
func (n *needle) first(text []byte) (start int, found bool) {
	n.each(text, func(from, _ int) verdict {
		start = from
		found = true
		return stop
	})
	return start, found
}

// occursIn reports whether text contains the needle.
func (n *needle) occursIn(text []byte) bool {
	_, found := n.first(text)
	return found
}

// isWordRune reports whether r is a character of words: there is no word boundary between two of them.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		isDigit := '0' <= r && r <= '9'
		return isASCIILetter(r) || isDigit || r == '_'
	}
	// The mark of a long vowel in Japanese belongs to no script.
	if r == 'ー' || unicode.In(r, unspacedScripts...) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// unspacedScripts are scripts in which a word boundary cannot be told from the letters: most do not separate words by
// spaces, and Korean appends particles to words.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isInWord reports whether an offset is inside a word, and not at its beginning or end.
func isInWord(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at:])
	return isWordRune(before) && isWordRune(after)
}

// inFrontmatter is embedded by nodes that search the frontmatter, where names and values may be
// escaped, so that neither the text nor its trigrams can rule out a match.
type inFrontmatter struct{}

func (inFrontmatter) foresee(*search, index.Trigrams) Outlook { return Perhaps }
func (inFrontmatter) possible([]byte) bool                    { return true }

// property matches if a property with one of the names exists and has a matching value.
type property struct {
	inFrontmatter
	names []propertyName
	value node // if nil, any value matches
}

func (p *property) match(s *search, _ scope) bool {
	return slices.ContainsFunc(s.propertiesOf(), func(prop frontmatter.Property) bool {
		hasName := slices.ContainsFunc(p.names, func(n propertyName) bool { return n.matches(s, prop.Key) })
		return hasName && (p.value == nil || p.value.match(s, scope{whole: true, values: prop.Value.Elements()}))
	})
}

func (p *property) cost() cost { return looksAtIndex }

// propertyName is one of the alternative names in a property term.
type propertyName struct {
	pattern        // as written
	name    []byte // folded; nil for a regex
}

// matches reports whether a property has the name.
func (n propertyName) matches(s *search, key string) bool {
	if n.name == nil {
		return s.occurs(n.pattern, []byte(key))
	}
	return bytes.Equal(foldString(key), n.name)
}

// valueTerm matches if one of the values of a property does. It is a term within [name:value].
type valueTerm struct {
	inFrontmatter
	pattern
	fits           func(frontmatter.Value) bool // if not nil, a value that fits matches
	ignoresPattern bool                         // only fits decides
}

func (v *valueTerm) match(s *search, in scope) bool {
	return slices.ContainsFunc(in.values, func(value frontmatter.Value) bool {
		if v.fits != nil && v.fits(value) {
			return true
		}
		return !v.ignoresPattern && value.Kind() != frontmatter.Null &&
			s.occurs(v.pattern, []byte(value.String()))
	})
}

// tag is a tag with its "#" and its offset in the text, which is -1 for a tag in the frontmatter.
type tag struct {
	text []byte
	at   int
}

// tagTerm matches if one of the tags of the note does.
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
		if !t.matches(s, tag) {
			continue
		}
		found = true
		if tag.at >= 0 {
			s.addOffset(tag.at)
		}
		if !s.collects {
			break
		}
	}
	return found
}

// matches reports whether a tag is the wanted one or nested in it.
func (t *tagTerm) matches(s *search, tag tag) bool {
	if t.name == nil {
		return s.occurs(t.pattern, tag.text)
	}
	rest, ok := bytes.CutPrefix(foldString(string(tag.text[1:])), t.name)
	return ok && (len(t.name) == 0 || len(rest) == 0 || rest[0] == '/')
}

func (t *tagTerm) cost() cost { return max(looksAtIndex, t.pattern.cost()) }
