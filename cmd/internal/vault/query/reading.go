package query

import "strings"

// Reading says how a query with operators was understood, with AND, OR and NOT where
// they are in effect. It is "" for words side by side, which say it themselves.
func (q *Query) Reading() string {
	if q.root == nil || !q.special {
		return ""
	}
	return reading(q.root, false)
}

// reading writes a node out. inside puts parentheses around what has several sides.
func reading(n node, inside bool) string {
	switch n := n.(type) {
	case *every:
		return sides(n.terms, " AND ", inside)
	case *either:
		return sides(n.terms, " OR ", inside)
	case not:
		return "NOT " + reading(n.term, true)
	case *operator:
		return n.name + ":" + reading(n.term, true)
	case *part:
		return n.name + ":" + reading(n.term, true)
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
