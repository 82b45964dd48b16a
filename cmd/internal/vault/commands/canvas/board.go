package canvas

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
)

// board is a canvas, its cards and groups in the order in which they are read: from the
// top down, and from the left to the right.
type board struct {
	groups []*node
	cards  []*node
	edges  []edge
}

// node is a card or a group.
type node struct {
	ID      string  `json:"id"`
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	File    string  `json:"file"`
	Subpath string  `json:"subpath"`
	URL     string  `json:"url"`
	Label   string  `json:"label"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`

	number int   // of a card in the outline, from 1; 0 for a group
	within *node // the smallest group around it

	titled, named string // what is repeated of it, made once
}

// edge leads from one node to another.
type edge struct {
	From    string `json:"fromNode"`
	To      string `json:"toNode"`
	FromEnd string `json:"fromEnd"`
	ToEnd   string `json:"toEnd"`
	Label   string `json:"label"`

	from, to *node
}

// maxCompared bounds the work of putting nodes into groups: each is compared with each
// group.
const maxCompared = 20_000_000

// parse reads a canvas. Nodes of kinds that nobody knows are cards; an edge without two
// nodes is none.
func parse(text []byte) (*board, error) {
	var file struct {
		Nodes []*node `json:"nodes"`
		Edges []edge  `json:"edges"`
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, errors.New("it is not a canvas in JSON")
		}
	}
	b := &board{}
	byID := map[string]*node{}
	for _, n := range file.Nodes {
		switch {
		case n == nil:
			continue
		case n.Type == "group":
			b.groups = append(b.groups, n)
		default:
			b.cards = append(b.cards, n)
		}
		byID[n.ID] = n
	}
	if len(b.groups)*len(byID) > maxCompared {
		return nil, errors.New("it has too many groups")
	}
	slices.SortStableFunc(b.groups, inReadingOrder)
	slices.SortStableFunc(b.cards, inReadingOrder)
	b.arrange()
	for _, e := range file.Edges {
		if e.from, e.to = byID[e.From], byID[e.To]; e.from != nil && e.to != nil {
			b.edges = append(b.edges, e)
		}
	}
	return b, nil
}

func inReadingOrder(a, b *node) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }

// arrange numbers the cards and puts every node into the smallest group around its
// middle.
func (b *board) arrange() {
	for i, n := range b.cards {
		n.number = i + 1
		n.within = b.around(n)
	}
	for _, n := range b.groups {
		n.within = b.around(n)
	}
}

func (b *board) around(n *node) (smallest *node) {
	for _, g := range b.groups {
		switch {
		case g == n || !g.contains(n) || n.Type == "group" && g.area() <= n.area():
		case smallest == nil || g.area() < smallest.area():
			smallest = g
		}
	}
	return smallest
}

func (n *node) area() float64 { return n.Width * n.Height }

// contains reports whether the middle of another node is in a group.
func (n *node) contains(other *node) bool {
	x, y := other.X+other.Width/2, other.Y+other.Height/2
	return x >= n.X && x <= n.X+n.Width && y >= n.Y && y <= n.Y+n.Height
}
