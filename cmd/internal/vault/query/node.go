package query

import (
	"cmp"
	"slices"

	"vaultwicket/cmd/internal/vault/query/trigram"
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
	foresee(s *search, text trigram.Filter) Outlook
	// cost ranks nodes: cheap ones are tried first.
	cost() cost
	needsText() bool
	// write appends the node as query text.
	write(to []byte) []byte
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

// group is what every and either have in common.
type group struct {
	terms   []node // as written
	ordered []node // cheap ones first
}

func newGroup(terms []node) group {
	return group{terms, slices.SortedStableFunc(slices.Values(terms), func(a, b node) int { return cmp.Compare(a.cost(), b.cost()) })}
}

func (g group) cost() cost {
	most := looksAtPath
	for _, term := range g.terms {
		most = max(most, term.cost())
	}
	return most
}

func (g group) needsText() bool { return slices.ContainsFunc(g.terms, node.needsText) }

// every matches if all terms do.
type every struct{ group }

func (n *every) match(s *search, in scope) bool {
	before := len(s.found)
	for _, term := range n.ordered {
		if !term.match(s, in) {
			s.found = s.found[:before]
			return false
		}
	}
	return true
}

func (n *every) possible(text []byte) bool {
	return !slices.ContainsFunc(n.ordered, func(term node) bool { return !term.possible(text) })
}

func (n *every) foresee(s *search, text trigram.Filter) Outlook {
	least := Always
	for _, term := range n.ordered {
		if least = min(least, term.foresee(s, text)); least == Never {
			break
		}
	}
	return least
}

func (n *every) write(to []byte) []byte {
	for i, term := range n.terms {
		if i > 0 {
			to = append(to, ' ')
		}
		to = writeInside(to, term, !isGroup(term))
	}
	return to
}

// either matches if one of the terms does.
type either struct{ group }

func (n *either) match(s *search, in scope) bool {
	found := false
	for _, term := range n.ordered {
		if term.match(s, in) {
			found = true
			if !s.collects {
				break
			}
		}
	}
	return found
}

func (n *either) possible(text []byte) bool {
	return slices.ContainsFunc(n.ordered, func(term node) bool { return term.possible(text) })
}

func (n *either) foresee(s *search, text trigram.Filter) Outlook {
	most := Never
	for _, term := range n.ordered {
		if most = max(most, term.foresee(s, text)); most == Always {
			break
		}
	}
	return most
}

func (n *either) write(to []byte) []byte {
	for i, term := range n.terms {
		if i > 0 {
			to = append(to, " OR "...)
		}
		_, nested := term.(*either)
		to = writeInside(to, term, !nested)
	}
	return to
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

func (n not) foresee(s *search, text trigram.Filter) Outlook {
	return Always - n.term.foresee(s, text)
}

func (n not) cost() cost      { return n.term.cost() }
func (n not) needsText() bool { return n.term.needsText() }

func (n not) write(to []byte) []byte {
	return writeInside(append(to, '-'), n.term, !isGroup(n.term))
}

// writeInside writes a nested node, in parentheses unless bare.
func writeInside(to []byte, n node, bare bool) []byte {
	if bare {
		return n.write(to)
	}
	return append(n.write(append(to, '(')), ')')
}

func isGroup(n node) bool {
	switch n.(type) {
	case *every, *either:
		return true
	}
	return false
}

// operator is a name with a term. Operators that only change where or how to look were applied
// to the terms below by the parser.
type operator struct {
	name string
	node // the term
}

func (o *operator) write(to []byte) []byte {
	return writeInside(append(append(to, o.name...), ':'), o.node, !isGroup(o.node))
}

// setting is the context of a term in the query.
type setting struct {
	exact  bool
	field  field
	depth  int
	scopes int
}

// apply returns the setting inside an operator, and for operators that divide the text how they
// do; ok is false for an unknown operator.
func (set setting) apply(name string) (inside setting, divides bool, k kind, ok bool) {
	inside = set
	switch name {
	case "file":
		inside.field = inName
	case "path":
		inside.field = inPath
	case "content":
		inside.field = inText
	case "tag":
		inside.field = inTags
	case "match-case":
		inside.exact = true
	case "ignore-case":
		inside.exact = false
	default:
		if k, ok = dividers[name]; !ok {
			return set, false, 0, false
		}
		inside.field, inside.scopes, divides = inText, set.scopes+1, true
	}
	return inside, divides, k, true
}

var dividers = map[string]kind{
	"line": lines, "block": blocks, "section": sections, "task": tasks, "task-todo": openTasks, "task-done": doneTasks,
}
