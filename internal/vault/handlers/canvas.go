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

// openCanvas reads the canvas that a request means. The ending may be left out of a name, as
// for a note.
func openCanvas(v *call.Vault, p call.Values) (t call.Target, text []byte, b *board, err error) {
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
	if b, err = parse(text); err != nil {
		err = answer.Failure("Canvas %q cannot be read: %v", answer.Verbatim(t.Path.String()), err)
	}
	return t, text, b, err
}

// sizeOf returns about how many bytes a canvas takes in memory, with its text: of the rest only nodes and edges are
// kept, which are objects.
func sizeOf(text []byte) int64 {
	const ofObject, ofElement = 220, 8
	return int64(len(text) + ofObject*bytes.Count(text, []byte("{")) + ofElement*bytes.Count(text, []byte(",")))
}

func readCanvas(v *call.Vault, p call.Values) (answer.Reply, error) {
	t, text, board, err := openCanvas(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	uses := budget.From(v.Ctx)
	if p["format"] != answer.FormatJSON {
		outline := board.outline()
		return answer.FromNote(v.Disk, t.Path, text, outline), uses.Put(int64(len(outline)))
	}
	rows := make([]canvasItem, 0, len(board.cards)+len(board.groups)+len(board.edges))
	for _, n := range board.cards {
		text := n.content()
		if n.Type == "link" {
			text = n.URL
		} else if n.Type == "file" {
			text = n.File + n.Subpath
		}
		rows = append(rows, canvasItem{Kind: "card", ID: n.ID, Type: n.Type, Text: text, Group: n.group()})
	}
	for _, n := range board.groups {
		rows = append(rows, canvasItem{Kind: "group", ID: n.ID, Text: n.Label, Group: n.group()})
	}
	for _, e := range board.edges {
		rows = append(rows, canvasItem{Kind: "edge", ID: e.ID, Text: e.Label, From: e.From, To: e.To, Arrow: e.arrow()})
	}
	for _, r := range rows {
		if err := uses.Put(int64(len(r.Text) + len(r.Group) + len(r.ID))); err != nil {
			return answer.Reply{}, err
		}
	}
	list, err := json.Marshal(rows)
	return answer.FromNote(v.Disk, t.Path, text, string(list)), err
}

// outline prints a canvas: the cards without a group, then each group with its cards,
// then the edges, which name cards by their numbers.
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

// How much is repeated of what a canvas calls something: it can be repeated for each card
// and edge.
const (
	maxShort  = 40  // characters of a card
	maxLabel  = 100 // characters of the label of a group
	maxAround = 6   // groups around another one
)

// title is the label of a group after those of the groups around it.
func (n *node) title() string {
	if n.titled == "" {
		n.titled = n.label()
		around := 0
		for g := n.within; g != nil; g = g.within {
			if around++; around > maxAround {
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

// content is what a card shows: its text, the path of its file, or its address.
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

// short names a node in an edge.
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

// shortened is the beginning of a text in one line, of so many characters.
func shortened(text string, most int) string {
	if cut := 4 * most * 2; len(text) > cut { // with as many blanks
		text = strings.ToValidUTF8(text[:cut], "")
	}
	line := []rune(oneLine(text))
	if len(line) > most {
		line = append(line[:most], '…')
	}
	return string(line)
}

// arrow shows the ends of an edge. Without a word about it only its second end has one.
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

// group is the title of the group that a node is in, "" for none.
func (n *node) group() string {
	if n.within == nil {
		return ""
	}
	return n.within.title()
}

// board is a canvas, its cards and groups in the order in which they are read: from the
// top down, and from the left to the right.
type board struct {
	groups []*node
	cards  []*node
	edges  []*edge // between two nodes that are there
	drawn  []*edge // all of the file
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

	at     int   // among the nodes of the file
	number int   // of a card in the outline, from 1; 0 for a group
	within *node // the smallest group around it

	titled, named string // what is repeated of it, made once
}

// edge leads from one node to another.
type edge struct {
	ID      string `json:"id"`
	From    string `json:"fromNode"`
	To      string `json:"toNode"`
	FromEnd string `json:"fromEnd"`
	ToEnd   string `json:"toEnd"`
	Label   string `json:"label"`

	at       int // among the edges of the file
	from, to *node
}

// maxCompared bounds the work of putting nodes into groups: each is compared with each
// group.
const maxCompared = 20_000_000

// parse reads a canvas. Nodes of unknown kinds are cards; an edge without two
// nodes is none.
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
			n.at, byID[n.ID] = i, n
		}
	}
	nodes := slices.DeleteFunc(file.Nodes, func(n *node) bool { return n == nil })
	slices.SortStableFunc(
		nodes,
		func(a, b *node) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) },
	) // in reading order
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
		n.within = b.around(n)
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

// covers reports whether a point of the canvas is within a node.
func (n *node) covers(x, y float64) bool {
	isInColumn := n.X <= x && x <= n.X+n.Width
	isInRow := n.Y <= y && y <= n.Y+n.Height
	return isInColumn && isInRow
}

// around returns the smallest group around the middle of a node.
func (b *board) around(n *node) (smallest *node) {
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
