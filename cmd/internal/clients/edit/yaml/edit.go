package yaml

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"vaultwicket/cmd/internal/clients/edit"
)

// Set returns the text with the entry at a place, added or replaced.
func (e Editor) Set(text []byte, at edit.Place, entry edit.Object) ([]byte, error) {
	before, err := e.Decode(text)
	if err != nil {
		return nil, err
	}
	h, err := holderOf(text, at)
	if err != nil {
		return nil, err
	}
	w := writer{newline: edit.Newline(text)}
	var changed []byte
	switch {
	case h.key == nil:
		changed = appendBlock(text, at.Path[0]+":"+w.newline+w.entry(at, entry, "  "), w.newline)
	case h.empty():
		changed, err = h.fill(w.entry(at, entry, h.childIndent()), w.newline)
	default:
		changed, err = h.insert(at, w.entry(at, entry, h.childIndent()), w.newline)
	}
	if err != nil {
		return nil, err
	}
	return changed, e.verify(before, changed, at, &entry)
}

// Remove returns the text without the entry at a place, the text itself if there is
// none. A collection that becomes empty stays.
func (e Editor) Remove(text []byte, at edit.Place) ([]byte, error) {
	before, err := e.Decode(text)
	if err != nil {
		return nil, err
	}
	if _, found := edit.Lookup(before, at); !found {
		return text, nil
	}
	h, err := holderOf(text, at)
	if err != nil {
		return nil, err
	}
	start, end, err := h.span(at)
	if err != nil {
		return nil, err
	}
	var insertions []edit.Splice
	if len(h.value.Content) == h.step() {
		colon, err := h.colon()
		if err != nil {
			return nil, err
		}
		brackets := " {}"
		if at.List {
			brackets = " []"
		}
		insertions = append(insertions, edit.Splice{Start: colon, End: colon, Text: brackets})
	}
	if end == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
		start -= lineEnd(text[:start])
	}
	changed := edit.Apply(text, append(insertions, edit.Splice{Start: start, End: end})...)
	return changed, e.verify(before, changed, at, nil)
}

func lineEnd(text []byte) int {
	return len(text) - len(bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r")))
}

func (e Editor) verify(before any, changed []byte, at edit.Place, entry *edit.Object) error {
	after, err := e.Decode(changed)
	if err != nil {
		return flow(at)
	}
	found, ok := edit.Lookup(after, at)
	if ok != (entry != nil) || ok && !edit.Equal(found, withName(at, *entry).Plain()) {
		return flow(at)
	}
	return edit.Verify(before, after, at)
}

func flow(at edit.Place) error {
	return &edit.Unsupported{Reason: at.Path[0] + " is written in a form that cannot be edited, such as one in brackets"}
}

// appendBlock puts a block behind a text. A text without a line end at its end gets a
// block without one.
func appendBlock(text []byte, block, newline string) []byte {
	out := bytes.Clone(text)
	if body := bytes.TrimPrefix(text, []byte(edit.BOM)); len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")) {
		block = newline + strings.TrimSuffix(block, newline)
	}
	return append(out, block...)
}

// holder is the collection that entries are in; without a key there is none.
type holder struct {
	lines
	key, value *yaml.Node
	list       bool
}

// holderOf finds the collection of a place, whose path has one key.
func holderOf(text []byte, at edit.Place) (*holder, error) {
	h := &holder{lines: linesOf(text), list: at.List}
	root, err := parse(text)
	if err != nil || root == nil {
		return h, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, &edit.Malformed{Line: root.Line, Column: root.Column, Reason: "a mapping is needed here, for " + at.Path[0]}
	}
	if root.Style&yaml.FlowStyle != 0 {
		return nil, &edit.Unsupported{Reason: "the file is written in braces"}
	}
	if len(root.Content) > 0 && root.Content[0].Column != 1 {
		return nil, &edit.Unsupported{Reason: "all of the file is indented"}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != at.Path[0] || root.Content[i].Kind != yaml.ScalarNode {
			continue
		}
		h.key, h.value = root.Content[i], root.Content[i+1]
		return h, h.check(at)
	}
	return h, nil
}

// check returns an error for a value that is no collection of the kind that is
// needed, or is written in a form that is not edited.
func (h *holder) check(at edit.Place) error {
	kind, name := yaml.MappingNode, "mapping"
	if h.list {
		kind, name = yaml.SequenceNode, "list"
	}
	switch {
	case h.value.Kind == yaml.AliasNode:
		return flow(at)
	case h.empty() && (h.value.Kind == kind || h.value.Kind == yaml.ScalarNode):
		return nil
	case h.value.Kind != kind:
		return &edit.Malformed{Line: h.value.Line, Column: h.value.Column, Reason: fmt.Sprintf("a %s is needed here, for %s", name, at.Path[0])}
	case h.value.Style&yaml.FlowStyle != 0 || h.value.Content[0].Line <= h.key.Line:
		return flow(at)
	}
	return nil
}

func (h *holder) empty() bool {
	return len(h.value.Content) == 0 && (h.value.Kind != yaml.ScalarNode || h.value.ShortTag() == "!!null")
}

// step is how many nodes an entry has in the collection.
func (h *holder) step() int {
	if h.list {
		return 1
	}
	return 2
}

// childIndent is the white space before an entry.
func (h *holder) childIndent() string {
	switch {
	case h.empty():
		return "  "
	case h.list:
		return strings.Repeat(" ", h.value.Column-1)
	}
	return strings.Repeat(" ", h.value.Content[0].Column-1)
}

// colon returns the offset behind the colon of the key.
func (h *holder) colon() (int, error) {
	at := h.offset(h.key.Line, h.key.Column)
	raw := h.key.Value
	switch h.key.Style &^ yaml.TaggedStyle {
	case yaml.SingleQuotedStyle:
		raw = "'" + raw + "'"
	case yaml.DoubleQuotedStyle:
		raw = `"` + raw + `"`
	}
	if rest, ok := bytes.CutPrefix(h.text[at:], []byte(raw+":")); ok {
		return len(h.text) - len(rest), nil
	}
	return 0, &edit.Unsupported{Reason: "the key " + h.key.Value + " is written in a form that cannot be edited"}
}

// fill puts a first entry into an empty collection: what stands for it, such as [],
// is taken away.
func (h *holder) fill(block, newline string) ([]byte, error) {
	colon, err := h.colon()
	if err != nil {
		return nil, err
	}
	line := string(h.text[colon:h.start(h.key.Line+1)])
	content := strings.TrimRight(line, "\r\n")
	rest := strings.TrimLeft(content, " \t")
	for _, token := range []string{"{}", "[]", "{ }", "[ ]", "~", "null", "Null", "NULL"} {
		if after, ok := strings.CutPrefix(rest, token); ok && (after == "" || after[0] == ' ' || after[0] == '\t') {
			rest = after
			break
		}
	}
	if rest = strings.TrimRight(rest, " \t"); rest != "" {
		comment := strings.TrimLeft(rest, " \t")
		if comment[0] != '#' {
			return nil, &edit.Unsupported{Reason: "the value of " + h.key.Value + " is written in a form that cannot be edited"}
		}
		rest = " " + comment
	}
	text := rest + newline + block
	if len(line) == len(content) { // the last line, without a line end
		text = strings.TrimSuffix(text, newline)
	}
	return edit.Apply(h.text, edit.Splice{Start: colon, End: colon + len(line), Text: text}), nil
}

// insert replaces an entry, or puts one before the first.
func (h *holder) insert(at edit.Place, block, newline string) ([]byte, error) {
	start, end, err := h.span(at)
	if err != nil {
		return nil, err
	}
	if start < 0 {
		start = h.start(h.key.Line + 1)
		end = start
	} else if !bytes.HasSuffix(h.text[start:end], []byte("\n")) {
		block = strings.TrimSuffix(block, newline)
	}
	return edit.Apply(h.text, edit.Splice{Start: start, End: end, Text: block}), nil
}

// span returns where an entry is, in whole lines, without the comments behind it;
// -1 if there is none.
func (h *holder) span(at edit.Place) (start, end int, err error) {
	for i := 0; i < len(h.value.Content); i += h.step() {
		n := h.value.Content[i]
		if !h.list && n.Value != at.Name || h.list && nameOf(n) != at.Name {
			continue
		}
		indent := h.childIndent()
		text := h.content(n.Line)
		if after, ok := strings.CutPrefix(text, indent); !ok || strings.HasPrefix(after, " ") || h.list != strings.HasPrefix(after, "- ") {
			return 0, 0, flow(at)
		}
		last := n.Line
		for line := n.Line + 1; line <= len(h.starts); line++ {
			text := h.content(line)
			trimmed := strings.TrimLeft(text, " \t")
			if trimmed == "" || trimmed[0] == '#' {
				continue
			}
			// An item of a list at the indentation of its key belongs to the entry.
			if depth := len(text) - len(trimmed); depth < len(indent) || depth == len(indent) && (h.list || !strings.HasPrefix(trimmed, "- ")) {
				break
			}
			last = line
		}
		return h.start(n.Line), h.start(last + 1), nil
	}
	return -1, -1, nil
}

// nameOf returns the field "name" of an element of a list.
func nameOf(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "name" {
				return n.Content[i+1].Value
			}
		}
	}
	return ""
}
