package handlers

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// emptyCanvas is a new canvas as the app writes it: one element per line.
const emptyCanvas = "{\n\t\"nodes\":[],\n\t\"edges\":[]\n}"

func createCanvas(v *call.Vault, p call.Values) (change.Proposal, error) {
	path := strings.TrimSuffix(p["path"], "."+canvasExtension) + "." + canvasExtension
	return create(v, call.Values{"path": path, "content": emptyCanvas})
}

// canvas is a parsed canvas that a call changes, with its text.
type canvas struct {
	*board
	v    *call.Vault
	path disk.Path
	text []byte
}

// drawing returns the command that applies draw to a canvas. Only the changed elements get different bytes.
func drawing(
	draw func(*canvas, call.Values) (text []byte, message string, err error),
) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		t, before, board, err := openCanvas(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		c := &canvas{board, v, t.Path, before}
		if bare := bytes.TrimSpace(before); len(bare) == 0 || string(bare) == "{}" {
			c.text = []byte(emptyCanvas)
		}
		after, message, err := draw(c, p)
		var malformed *textedit.Malformed
		var unsupported *textedit.Unsupported
		if errors.As(err, &malformed) || errors.As(err, &unsupported) {
			err = answer.Failure("Canvas %q cannot be changed: %v", answer.Verbatim(t.Path.String()), err)
		}
		if err != nil {
			return change.Proposal{}, err
		}
		return change.Proposal{
			Steps:   []change.Step{{Path: t.Path, Before: change.Existing(before), After: change.Existing(after)}},
			Message: message,
			Note:    t.Path,
			Already: fmt.Sprintf(
				"%q is so already in %q",
				answer.Verbatim(p["id"]),
				answer.Verbatim(t.Path.String()),
			),
		}, nil
	}
}

// Default sizes of cards, as in the app, in pixels.
const (
	textWidth     = 250
	textHeight    = 60
	lineHeight    = 24
	maxTextHeight = 600
	cardSize      = 400
	groupWidth    = 600
	groupHeight   = 400
	between       = 40        // space between a new card and others
	farthest      = 1_000_000 // maximum coordinate in each direction
)

func (c *canvas) add(p call.Values) ([]byte, string, error) {
	members, kind, err := c.content(p, "")
	if err != nil {
		return nil, "", err
	}
	width := cardSize
	height := cardSize
	switch kind {
	case "text":
		width = textWidth
		height = min(textHeight+lineHeight*strings.Count(p["text"], "\n"), maxTextHeight)
	case "group":
		width = groupWidth
		height = groupHeight
	}
	n := &node{Type: kind, Width: float64(width), Height: float64(height)}
	if _, err := c.numbers(p, n); err != nil {
		return nil, "", err
	}
	x, y, err := c.beside(n)
	if err != nil {
		return nil, "", err
	}
	if p.Has("x") {
		x = int(n.X)
	}
	if p.Has("y") {
		y = int(n.Y)
	}
	members = append(members,
		textedit.Member{Key: "x", Value: x},
		textedit.Member{Key: "y", Value: y},
		textedit.Member{Key: "width", Value: int(n.Width)},
		textedit.Member{Key: "height", Value: int(n.Height)},
	)
	color, err := parseColor(p)
	if err != nil {
		return nil, "", err
	}
	id := c.unusedID(kind)
	entry := slices.Concat(textedit.Object{{Key: "id", Value: id}, {Key: "type", Value: kind}}, members, color)
	text, err := textedit.JSON{}.AddTo(c.text, "nodes", entry)
	return text, fmt.Sprintf("Added: %s %s to %s", kind, id, c.path), err
}

// content returns the members of a node for the content that a request gives, and the type of the node. If kind is the
// type of an existing node, content of another type is an error.
func (c *canvas) content(p call.Values, kind string) (textedit.Object, string, error) {
	var members textedit.Object
	for _, parameter := range []struct{ param, kind, key string }{
		{"text", "text", "text"},
		{"note", "file", "file"},
		{"url", "link", "url"},
		{"label", "group", "label"},
	} {
		switch {
		case !p.Has(parameter.param):
			continue
		case len(members) > 0:
			return nil, "", answer.Misuse("Use one of text, note, url and label.")
		case kind != "" && parameter.kind != kind:
			return nil, "", answer.BadValue.Failure(
				"The node is of the type %q: %s is for the type %s.",
				answer.Verbatim(kind),
				parameter.param,
				parameter.kind,
			)
		}
		value := p[parameter.param]
		if parameter.kind == "file" {
			name, subpath, _ := strings.Cut(value, "#")
			path, err := c.v.Resolve(name)
			if err != nil {
				return nil, "", err
			}
			if value = path.String(); subpath != "" {
				members = textedit.Object{{Key: "subpath", Value: "#" + subpath}}
			} else if kind != "" {
				members = textedit.Object{{Key: "subpath"}} // remove the subpath of the previous file
			}
		}
		members = append(textedit.Object{{Key: parameter.key, Value: value}}, members...)
		kind = parameter.kind
	}
	if kind == "" {
		return nil, "", answer.Misuse("Missing required parameter: text=<text>, note=<name>, url=<url> or label=<text>")
	}
	return members, kind, nil
}

// numbers sets the position and size that a request gives in a node, and returns them as members.
func (c *canvas) numbers(p call.Values, n *node) (given textedit.Object, err error) {
	for _, parameter := range []struct {
		key   string
		field *float64
		least int
	}{
		{"x", &n.X, -farthest},
		{"y", &n.Y, -farthest},
		{"width", &n.Width, 1},
		{"height", &n.Height, 1},
	} {
		if p.Has(parameter.key) {
			number, err := p.Number(parameter.key, 0, parameter.least, farthest)
			if err != nil {
				return nil, err
			}
			*parameter.field = float64(number)
			given = append(given, textedit.Member{Key: parameter.key, Value: number})
		}
	}
	return given, nil
}

var isColor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([1-6]|#[0-9a-fA-F]{6})$`) })

// colorNames are the names of the colors 1 to 6.
var colorNames = []string{"red", "orange", "yellow", "green", "cyan", "purple"}

// parseColor returns the color that a request gives as a member; "none" gives a member without a value, which removes
// the color.
func parseColor(p call.Values) (textedit.Object, error) {
	switch color := p["color"]; {
	case color == "":
		return nil, nil
	case color == "none":
		return textedit.Object{{Key: "color"}}, nil
	case !isColor().MatchString(color):
		const wants = "Invalid value for color: %s. Use 1 to 6, #rrggbb or none."
		if number := slices.Index(colorNames, strings.ToLower(color)) + 1; number > 0 {
			return nil, answer.MisuseWithHint(fmt.Sprintf("did you mean color=\"%d\"?", number), wants, answer.Verbatim(color))
		}
		return nil, answer.Misuse(wants, answer.Verbatim(color))
	default:
		return textedit.Object{{Key: "color", Value: color}}, nil
	}
}

// beside returns a position to the right of the last card of the file where a new node does not overlap other nodes.
// A card may overlap the groups that contain the last card.
func (c *canvas) beside(n *node) (x, y int, err error) {
	others := c.all()
	candidates := c.cards
	if n.Type == "group" || len(candidates) == 0 {
		candidates = others
	}
	if len(candidates) == 0 {
		return 0, 0, nil
	}
	last := slices.MaxFunc(candidates, func(a, b *node) int { return cmp.Compare(a.at, b.at) })
	for g := last.within; g != nil && n.Type != "group"; g = g.within {
		others = slices.DeleteFunc(others, func(o *node) bool { return o == g })
	}
	spot := &node{X: last.X + last.Width + between, Y: last.Y, Width: n.Width, Height: n.Height}
	// Only X changes below, so nodes above and below the spot do not matter.
	others = slices.DeleteFunc(others, func(o *node) bool {
		return spot.Y >= o.Y+o.Height || o.Y >= spot.Y+spot.Height
	})
	spent := budget.From(c.v.Ctx)
	for overlaps := true; overlaps; {
		overlaps = false
		for _, o := range others {
			if spot.X < o.X+o.Width && o.X < spot.X+spot.Width {
				spot.X = o.X + o.Width + between
				overlaps = true
			}
		}
		if err := spent.Step(int64(len(others))); err != nil {
			return 0, 0, err
		}
	}
	if spot.X > farthest || spot.Y > farthest || spot.Y < -farthest {
		return 0, 0, answer.Misuse("There is no place next to the last node: give x=<n> and y=<n>.")
	}
	return int(spot.X), int(spot.Y), nil
}

// unusedID returns an id that no node or edge has. It is derived from the canvas, so that the change that is made
// equals the one that was previewed for approval.
func (c *canvas) unusedID(what string) string {
	for n := 0; ; n++ {
		id := answer.Digest(fmt.Appendf(nil, "%s %d %s", what, n, c.text))
		if !slices.ContainsFunc(c.all(), func(n *node) bool { return n.ID == id }) &&
			!slices.ContainsFunc(c.drawn, func(e *edge) bool { return e.ID == id }) {
			return id
		}
	}
}

func (c *canvas) all() []*node { return slices.Concat(c.cards, c.groups) }

// node finds a node by its id, or by its content if no other node has the same content.
func (c *canvas) node(typed string) (*node, error) {
	var byID, byText []*node
	content := oneLine(typed)
	for _, n := range c.all() {
		if n.ID == typed {
			byID = append(byID, n)
		} else if text := n.own(); text != "" && oneLine(text) == content {
			byText = append(byText, n)
		}
	}
	switch found := slices.Concat(byID, byText); {
	case len(byID) == 1 || len(byID) == 0 && len(byText) == 1:
		return found[0], nil
	case len(found) > 0:
		ids := answer.Map(found, func(n *node) string { return n.ID })
		return nil, answer.Ambiguous.Advise("canvas:read format=json has the ids").
			Failure("%d nodes of the canvas are %q: %s", len(found), answer.Verbatim(typed), answer.List(ids, maxViews))
	}
	return nil, answer.NotFoundNearest.Advise("canvas:read format=json has the ids of nodes and edges").
		Failure("Node %q not found in the canvas.", answer.Verbatim(typed))
}

// own returns the content of a node as it is in the file.
func (n *node) own() string {
	switch n.Type {
	case "text":
		return n.Text
	case "file":
		return n.File + n.Subpath
	case "link":
		return n.URL
	case "group":
		return n.Label
	}
	return ""
}

// edge returns the index in drawn of the edge with an id, -1 if there is none.
func (c *canvas) edge(id string) int {
	return slices.IndexFunc(c.drawn, func(e *edge) bool { return e.ID == id && id != "" })
}

func (c *canvas) set(p call.Values) ([]byte, string, error) {
	members, err := parseColor(p)
	if err != nil {
		return nil, "", err
	}
	if i := c.edge(p["id"]); i >= 0 {
		label, err := edgeLabel(p)
		if err != nil {
			return nil, "", err
		}
		return c.setMembers(p["id"], "edges", c.drawn[i].at, append(members, label...))
	}
	n, err := c.node(p["id"])
	if err != nil {
		return nil, "", err
	}
	sizes, err := c.numbers(p, n)
	if err != nil {
		return nil, "", err
	}
	members = append(members, sizes...)
	if slices.ContainsFunc([]string{"text", "note", "url", "label"}, p.Has) {
		content, _, err := c.content(p, cmp.Or(n.Type, "?"))
		if err != nil {
			return nil, "", err
		}
		members = append(members, content...)
	}
	return c.setMembers(p["id"], "nodes", n.at, members)
}

// edgeLabel returns the label that a request gives an edge. Other contents are an error.
func edgeLabel(p call.Values) (textedit.Object, error) {
	for _, name := range []string{"text", "note", "url", "x", "y", "width", "height"} {
		if p.Has(name) {
			return nil, answer.BadValue.Failure("An edge has a label and a color, and no %s.", name)
		}
	}
	if !p.Has("label") {
		return nil, nil
	}
	return textedit.Object{{Key: "label", Value: p["label"]}}, nil
}

// setMembers returns the canvas with members set in an element of a list.
func (c *canvas) setMembers(id, list string, at int, members textedit.Object) ([]byte, string, error) {
	if len(members) == 0 {
		return nil, "", answer.Misuse("Nothing to change: give text, note, url, label, color, x, y, width or height.")
	}
	text, err := textedit.JSON{}.SetIn(c.text, list, at, members)
	return text, fmt.Sprintf("Changed: %s in %s", id, c.path), err
}

func (c *canvas) connect(p call.Values) ([]byte, string, error) {
	from, err := c.node(p["from"])
	if err != nil {
		return nil, "", err
	}
	to, err := c.node(p["to"])
	if err != nil {
		return nil, "", err
	}
	isSame := func(e *edge) bool { return e.From == from.ID && e.To == to.ID && e.Label == p["label"] }
	if slices.ContainsFunc(c.drawn, isSame) {
		return nil, "", answer.AlreadyExists.Advise("canvas:set changes an edge, canvas:remove removes one").
			Failure("The two nodes are connected already.")
	}
	// Connect the sides that face each other, as the app does for an arrow drawn by hand.
	dx := to.X + to.Width/2 - from.X - from.Width/2
	dy := to.Y + to.Height/2 - from.Y - from.Height/2
	fromSide := "right"
	toSide := "left"
	switch isHorizontal := dx*dx >= dy*dy; {
	case isHorizontal && dx < 0:
		fromSide = "left"
		toSide = "right"
	case !isHorizontal && dy >= 0:
		fromSide = "bottom"
		toSide = "top"
	case !isHorizontal:
		fromSide = "top"
		toSide = "bottom"
	}
	color, err := parseColor(p)
	if err != nil {
		return nil, "", err
	}
	id := c.unusedID("edge")
	entry := textedit.Object{
		{Key: "id", Value: id},
		{Key: "fromNode", Value: from.ID},
		{Key: "fromSide", Value: cmp.Or(p["from-side"], fromSide)},
		{Key: "toNode", Value: to.ID},
		{Key: "toSide", Value: cmp.Or(p["to-side"], toSide)},
	}
	if p["arrow"] == "both" || p["arrow"] == "back" {
		entry = append(entry, textedit.Member{Key: "fromEnd", Value: "arrow"})
	}
	if p["arrow"] == "none" || p["arrow"] == "back" {
		entry = append(entry, textedit.Member{Key: "toEnd", Value: "none"})
	}
	entry = append(entry, color...)
	if p.Has("label") {
		entry = append(entry, textedit.Member{Key: "label", Value: p["label"]})
	}
	text, err := textedit.JSON{}.AddTo(c.text, "edges", entry)
	return text, fmt.Sprintf("Connected: edge %s in %s", id, c.path), err
}

// remove removes an edge, or a node together with the edges from and to it.
func (c *canvas) remove(p call.Values) ([]byte, string, error) {
	if i := c.edge(p["id"]); i >= 0 {
		text, err := textedit.JSON{}.RemoveFrom(c.text, "edges", func(at int) bool { return at == c.drawn[i].at })
		return text, fmt.Sprintf("Removed: edge %s from %s", p["id"], c.path), err
	}
	n, err := c.node(p["id"])
	if err != nil {
		return nil, "", err
	}
	text, err := textedit.JSON{}.RemoveFrom(c.text, "nodes", func(at int) bool { return at == n.at })
	if err != nil {
		return nil, "", err
	}
	removed := map[int]bool{}
	for _, e := range c.drawn {
		if e.From == n.ID || e.To == n.ID {
			removed[e.at] = true
		}
	}
	if text, err = (textedit.JSON{}).RemoveFrom(text, "edges", func(at int) bool { return removed[at] }); err != nil {
		return nil, "", err
	}
	return text, fmt.Sprintf(
		"Removed: %s %s with %s from %s",
		cmp.Or(n.Type, "node"),
		n.ID,
		answer.Count(len(removed), "edge"),
		c.path,
	), nil
}
