package canvas

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// outline prints a canvas: the cards without a group, then each group with its cards,
// then the edges, which name cards by their numbers.
func (b *board) outline() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s, %s\n", counted(len(b.cards), "card"), counted(len(b.groups), "group"), counted(len(b.edges), "edge"))
	cards := map[*node][]*node{}
	for _, n := range b.cards {
		cards[n.within] = append(cards[n.within], n)
	}
	writeCards(&out, cards[nil])
	for _, g := range b.groups {
		out.WriteString("\n# " + g.title() + "\n")
		writeCards(&out, cards[g])
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

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func writeCards(out *strings.Builder, cards []*node) {
	for _, n := range cards {
		text := strings.ReplaceAll(strings.TrimRight(n.content(), "\r\n"), "\n", "\n  ")
		fmt.Fprintf(out, "[%d] %s\n", n.number, text)
	}
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

// item is a row of the outline in JSON: a card, a group or an edge.
type item struct {
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Type  string `json:"type,omitempty"`
	Text  string `json:"text,omitempty"`
	Group string `json:"group,omitempty"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Arrow string `json:"arrow,omitempty"`
}

// rows are the cards, groups and edges with their ids.
func (b *board) rows() []item {
	rows := make([]item, 0, len(b.cards)+len(b.groups)+len(b.edges))
	for _, n := range b.cards {
		text := n.content()
		if n.Type == "link" {
			text = n.URL
		} else if n.Type == "file" {
			text = n.File + n.Subpath
		}
		rows = append(rows, item{Kind: "card", ID: n.ID, Type: n.Type, Text: text, Group: n.group()})
	}
	for _, n := range b.groups {
		rows = append(rows, item{Kind: "group", ID: n.ID, Text: n.Label, Group: n.group()})
	}
	for _, e := range b.edges {
		rows = append(rows, item{Kind: "edge", Text: e.Label, From: e.From, To: e.To, Arrow: e.arrow()})
	}
	return rows
}

// group is the title of the group that a node is in, "" for none.
func (n *node) group() string {
	if n.within == nil {
		return ""
	}
	return n.within.title()
}
