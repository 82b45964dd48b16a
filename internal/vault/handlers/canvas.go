package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
)

func init() {
	register(
		Command{Name: "canvas:read", Run: readCanvas},
		Command{Name: "canvas:create", Plan: createCanvas},
		Command{Name: "canvas:add", Plan: drawing((*canvas).add)},
		Command{Name: "canvas:set", Plan: drawing((*canvas).set)},
		Command{Name: "canvas:connect", Plan: drawing((*canvas).connect)},
		Command{Name: "canvas:remove", Plan: drawing((*canvas).remove)},
	)
}

const canvasExtension = "canvas"

// openCanvas reads and parses the canvas that a request means. The name may omit the extension, as for a note.
func openCanvas(v *call.Vault, p call.Values) (t call.Target, text []byte, parsed *board, err error) {
	if name := p["file"]; name != "" && !strings.HasSuffix(name, "."+canvasExtension) {
		p["file"] = name + "." + canvasExtension
	}
	if t, err = v.Target(p); err != nil {
		return t, nil, nil, err
	}
	text, err = v.Disk.Read(t.Path)
	switch {
	case err != nil:
		return t, nil, nil, answer.ReadError(t.Typed, err)
	case t.Path.Ext() != canvasExtension:
		return t, nil, nil, answer.Failure("File is not a canvas: %q", answer.Verbatim(t.Path.String()))
	}
	if err := budget.From(v.Ctx).Hold(sizeOf(text)); err != nil {
		return t, nil, nil, err
	}
	if parsed, err = parse(text); err != nil {
		err = answer.Failure("Canvas %q cannot be read: %v", answer.Verbatim(t.Path.String()), err)
	}
	return t, text, parsed, err
}

// sizeOf estimates the memory that a parsed canvas needs together with its text, in bytes. Only nodes and edges are
// kept, which are JSON objects.
func sizeOf(text []byte) int64 {
	const ofObject, ofElement = 220, 8
	return int64(len(text) + ofObject*bytes.Count(text, []byte("{")) + ofElement*bytes.Count(text, []byte(",")))
}

func readCanvas(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, text, board, err := openCanvas(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	spent := budget.From(v.Ctx)
	if p["format"] != answer.FormatJSON {
		outline := board.outline()
		return answer.FromNote(v.Disk, t.Path, text, outline), spent.Put(int64(len(outline)))
	}
	rows := make([]canvasItem, 0, len(board.cards)+len(board.groups)+len(board.edges))
	for _, node := range board.cards {
		text := node.content()
		if node.Type == "link" {
			text = node.URL
		} else if node.Type == "file" {
			text = node.File + node.Subpath
		}
		rows = append(rows, canvasItem{Kind: "card", ID: node.ID, Type: node.Type, Text: text, Group: node.group()})
	}
	for _, node := range board.groups {
		rows = append(rows, canvasItem{Kind: "group", ID: node.ID, Text: node.Label, Group: node.group()})
	}
	for _, e := range board.edges {
		rows = append(rows, canvasItem{Kind: "edge", ID: e.ID, Text: e.Label, From: e.From, To: e.To, Arrow: e.arrow()})
	}
	for _, r := range rows {
		if err := spent.Put(int64(len(r.Text) + len(r.Group) + len(r.ID))); err != nil {
			return answer.Reply{}, err
		}
	}
	list, err := json.Marshal(rows)
	return answer.FromNote(v.Disk, t.Path, text, string(list)), err
}

// outline returns a canvas as text: the cards without a group, then each group with its cards, then the edges, which
// refer to cards by number.
func (b *board) outline() string {
	var out strings.Builder
	fmt.Fprintf(
		&out,
		"%s, %s, %s\n",
		answer.Count(len(b.cards), "card"),
		answer.Count(len(b.groups), "group"),
		answer.Count(len(b.edges), "edge"),
	)
	cards := map[*node][]*node{}
	for _, n := range b.cards {
		cards[n.within] = append(cards[n.within], n)
	}
	for _, g := range slices.Insert(slices.Clone(b.groups), 0, nil) {
		if g != nil {
			out.WriteString("\n# " + g.title() + "\n")
		}
		for _, n := range cards[g] {
			text := strings.ReplaceAll(strings.TrimRight(n.content(), "\r\n"), "\n", "\n  ")
			fmt.Fprintf(&out, "[%d] %s\n", n.number, text)
		}
	}
	if len(b.edges) > 0 {
		out.WriteString("\nEdges\n")
	}
	for _, e := range b.edges {
		out.WriteString(e.from.short() + " " + e.arrow() + " " + e.to.short())
		if e.Label != "" {
			out.WriteString(": " + oneLine(e.Label))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Limits of texts that can be repeated for each card and edge.
const (
	maxShort  = 40  // characters of a card
	maxLabel  = 100 // characters of the label of a group
	maxAround = 6   // outer groups in the title of a group
)

// title returns the label of a group, preceded by the labels of the groups around it.
func (n *node) title() string {
	if n.titled == "" {
		n.titled = n.label()
		levels := 0
		for g := n.within; g != nil; g = g.within {
			if levels++; levels > maxAround {
				n.titled = "… / " + n.titled
				break
			}
			n.titled = g.label() + " / " + n.titled
		}
	}
	return n.titled
}

func (n *node) label() string {
	return cmp.Or(shortened(n.Label, maxLabel), "(group without a label)")
}

// content returns what a card shows: its text, the path of its file, or its URL.
func (n *node) content() string {
	switch n.Type {
	case "text":
		return n.Text
	case "file":
		return "file: " + n.File + n.Subpath
	case "link":
		return "link: " + n.URL
	}
	return "(" + cmp.Or(oneLine(n.Type), "card without a type") + ")"
}

// short returns the name of a node in the list of edges.
func (n *node) short() string {
	switch {
	case n.Type == "group":
		return "# " + n.title()
	case n.named == "":
		n.named = fmt.Sprintf("[%d] %s", n.number, shortened(n.content(), maxShort))
	}
	return n.named
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shortened returns at most most characters of the beginning of a text, in one line.
func shortened(text string, most int) string {
	if cut := 4 * most * 2; len(text) > cut { // up to 4 bytes per character, and as many spaces as characters
		text = strings.ToValidUTF8(text[:cut], "")
	}
	line := []rune(oneLine(text))
	if len(line) > most {
		line = append(line[:most], '…')
	}
	return string(line)
}

// arrow returns an edge as an ASCII arrow. By default only the target end has an arrowhead.
func (e edge) arrow() string {
	switch {
	case e.FromEnd == "arrow" && e.ToEnd == "none":
		return "<-"
	case e.FromEnd == "arrow":
		return "<->"
	case e.ToEnd == "none":
		return "--"
	}
	return "->"
}

// canvasItem is a row of the outline in JSON: a card, a group or an edge.
type canvasItem struct {
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Type  string `json:"type,omitempty"`
	Text  string `json:"text,omitempty"`
	Group string `json:"group,omitempty"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Arrow string `json:"arrow,omitempty"`
}

// group returns the title of the group that contains a node, "" if there is none.
func (n *node) group() string {
	if n.within == nil {
		return ""
	}
	return n.within.title()
}

// board is a parsed canvas. Its cards and groups are in reading order: top to bottom, then left to right.
type board struct {
	groups []*node
	cards  []*node
	edges  []*edge // those between two existing nodes
	drawn  []*edge // all edges of the file
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

	at     int   // index among the nodes of the file
	number int   // number of a card in the outline, from 1; 0 for a group
	within *node // the smallest group around the node, or nil

	titled, named string // caches of title and short
}

// edge leads from one node to another.
type edge struct {
	ID      string `json:"id"`
	From    string `json:"fromNode"`
	To      string `json:"toNode"`
	FromEnd string `json:"fromEnd"`
	ToEnd   string `json:"toEnd"`
	Label   string `json:"label"`

	at       int // index among the edges of the file
	from, to *node
}

// maxCompared limits the comparisons of every node with every group.
const maxCompared = 20_000_000

// parse parses a canvas. Nodes of unknown types become cards; an edge whose nodes do not both exist is only in drawn.
func parse(text []byte) (*board, error) {
	var file struct {
		Nodes []*node `json:"nodes"`
		Edges []*edge `json:"edges"`
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, errors.New("it is not a canvas in JSON")
		}
	}
	b := &board{drawn: file.Edges}
	byID := map[string]*node{}
	for i, n := range file.Nodes {
		if n != nil {
			n.at = i
			byID[n.ID] = n
		}
	}
	nodes := slices.DeleteFunc(file.Nodes, func(n *node) bool { return n == nil })
	inReadingOrder := func(a, b *node) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }
	slices.SortStableFunc(nodes, inReadingOrder)
	for _, n := range nodes {
		if n.Type == "group" {
			b.groups = append(b.groups, n)
			continue
		}
		b.cards = append(b.cards, n)
		n.number = len(b.cards)
	}
	if len(b.groups)*len(byID) > maxCompared {
		return nil, errors.New("it has too many groups")
	}
	for _, n := range nodes {
		n.within = b.enclosingGroup(n)
	}
	for i, e := range file.Edges {
		if e == nil {
			e = &edge{}
			file.Edges[i] = e
		}
		e.at = i
		e.from = byID[e.From]
		e.to = byID[e.To]
		if e.from != nil && e.to != nil {
			b.edges = append(b.edges, e)
		}
	}
	return b, nil
}

// covers reports whether a point of the canvas is inside a node.
func (n *node) covers(x, y float64) bool {
	isInColumn := n.X <= x && x <= n.X+n.Width
	isInRow := n.Y <= y && y <= n.Y+n.Height
	return isInColumn && isInRow
}

// enclosingGroup returns the smallest group that contains the center of a node, or nil.
func (b *board) enclosingGroup(n *node) (smallest *node) {
	x := n.X + n.Width/2
	y := n.Y + n.Height/2
	for _, g := range b.groups {
		switch {
		case g == n || n.Type == "group" && g.area() <= n.area():
		case !g.covers(x, y):
		case smallest == nil || g.area() < smallest.area():
			smallest = g
		}
	}
	return smallest
}

func (n *node) area() float64 { return n.Width * n.Height }
