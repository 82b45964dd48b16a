package textedit

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// YAML edits YAML files. An entry is a key of a mapping, or an element of a list with a field "name". A new
// entry is inserted before the first one, in block style. A non-empty collection in flow style is not edited.
type YAML struct{}

// Decode returns the parsed text, nil for an empty one. Integers are float64. A scalar that is not a string,
// a boolean, an integer or null is a string of its tag and its text. The error is a [*Malformed] or an
// [*Unsupported].
func (YAML) Decode(text []byte) (any, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return nil, err
	}
	nodes := maxNodes
	return plainYAML(root, maxYAMLDepth, &nodes)
}

func (e YAML) set(text []byte, at Place, entry Object) (changed []byte, err error) {
	holder, err := yamlHolderOf(text, at)
	if err != nil {
		return nil, err
	}
	newline := Newline(text)
	lines := func(block string) string { return strings.ReplaceAll(block, "\n", newline) }
	switch {
	case holder.key == nil:
		// The block has no final line end if the text has none.
		block := lines(e.Render(at, entry))
		if body := bytes.TrimPrefix(text, []byte(BOM)); len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")) {
			block = newline + strings.TrimSuffix(block, newline)
		}
		changed = append(bytes.Clone(text), block...)
	case holder.isEmpty():
		changed, err = holder.withFirstEntry(lines(yamlEntry(at, entry, holder.childIndent())), newline)
	default:
		start, end, wrong := holder.linesOf(at)
		if wrong != nil {
			return nil, wrong
		}
		block := lines(yamlEntry(at, entry, holder.childIndent()))
		if start < 0 {
			start = holder.start(holder.key.Line + 1)
			end = start
		} else if !bytes.HasSuffix(text[start:end], []byte("\n")) {
			block = strings.TrimSuffix(block, newline)
		}
		changed = Apply(text, Splice{Start: start, End: end, Text: block})
	}
	return changed, err
}

func (YAML) remove(text []byte, at Place) ([]byte, error) {
	holder, err := yamlHolderOf(text, at)
	if err != nil {
		return nil, err
	}
	start, end, err := holder.linesOf(at)
	if err != nil {
		return nil, err
	}
	var insertions []Splice
	if len(holder.value.Content) == holder.step() {
		colon, err := holder.afterColon()
		if err != nil {
			return nil, err
		}
		brackets := " {}"
		if at.List {
			brackets = " []"
		}
		insertions = append(insertions, Splice{Start: colon, End: colon, Text: brackets})
	}
	if end == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
		start -= lineEnd(text[:start])
	}
	return Apply(text, append(insertions, Splice{Start: start, End: end})...), nil
}

func (YAML) unsupported(at Place, _ extent) error { return flowStyleError(at) }

func flowStyleError(at Place) error {
	return &Unsupported{Reason: at.Path[0] + " is written in a form that cannot be edited, such as one in brackets"}
}

// yamlHolder is the collection that contains the entries. key is nil if it does not exist.
type yamlHolder struct {
	text       []byte
	starts     []int // the offsets at which the lines of text begin
	key, value *yaml.Node
	list       bool
}

// yamlHolderOf finds the collection of a place, whose path must have one key. It is an error if the value
// is not a collection of the right kind, or has a form that cannot be edited.
func yamlHolderOf(text []byte, at Place) (*yamlHolder, error) {
	holder := &yamlHolder{text: text, starts: []int{0}, list: at.List}
	for i, c := range text {
		if c == '\n' && i+1 < len(text) {
			holder.starts = append(holder.starts, i+1)
		}
	}
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return holder, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Malformed{
			Line:   root.Line,
			Column: root.Column,
			Reason: "a mapping is needed here, for " + at.Path[0],
		}
	}
	if root.Style&yaml.FlowStyle != 0 {
		return nil, &Unsupported{Reason: "the file is written in braces"}
	}
	if len(root.Content) > 0 && root.Content[0].Column != 1 {
		return nil, &Unsupported{Reason: "all of the file is indented"}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != at.Path[0] || root.Content[i].Kind != yaml.ScalarNode {
			continue
		}
		holder.key = root.Content[i]
		holder.value = root.Content[i+1]
		break
	}
	kind := yaml.MappingNode
	name := "mapping"
	if holder.list {
		kind = yaml.SequenceNode
		name = "list"
	}
	switch {
	case holder.key == nil:
	case holder.value.Kind == yaml.AliasNode:
		return nil, flowStyleError(at)
	case holder.isEmpty() && (holder.value.Kind == kind || holder.value.Kind == yaml.ScalarNode):
	case holder.value.Kind != kind:
		return nil, &Malformed{
			Line:   holder.value.Line,
			Column: holder.value.Column,
			Reason: fmt.Sprintf("a %s is needed here, for %s", name, at.Path[0]),
		}
	case holder.value.Style&yaml.FlowStyle != 0 || holder.value.Content[0].Line <= holder.key.Line:
		return nil, flowStyleError(at)
	}
	return holder, nil
}

func (holder *yamlHolder) isEmpty() bool {
	return len(holder.value.Content) == 0 && (holder.value.Kind != yaml.ScalarNode || holder.value.ShortTag() == "!!null")
}

// step returns the number of nodes of an entry in the collection.
func (holder *yamlHolder) step() int {
	if holder.list {
		return 1
	}
	return 2
}

// childIndent returns the blanks before an entry.
func (holder *yamlHolder) childIndent() string {
	switch {
	case holder.isEmpty():
		return "  "
	case holder.list:
		return strings.Repeat(" ", holder.value.Column-1)
	}
	return strings.Repeat(" ", holder.value.Content[0].Column-1)
}

// afterColon returns the offset after the colon of the key.
func (holder *yamlHolder) afterColon() (int, error) {
	// The column of the key counts characters, from 1.
	line := holder.content(holder.key.Line)
	at := holder.start(holder.key.Line)
	column := holder.key.Column
	if holder.key.Line == 1 && bytes.HasPrefix(holder.text, []byte(BOM)) {
		at += len(BOM)
	}
	key := len(line)
	for i := range line {
		if column--; column == 0 {
			key = i
			break
		}
	}
	raw := holder.key.Value
	switch holder.key.Style &^ yaml.TaggedStyle {
	case yaml.SingleQuotedStyle:
		raw = "'" + raw + "'"
	case yaml.DoubleQuotedStyle:
		raw = `"` + raw + `"`
	}
	if rest, ok := bytes.CutPrefix(holder.text[at+key:], []byte(raw+":")); ok {
		return len(holder.text) - len(rest), nil
	}
	return 0, &Unsupported{Reason: "the key " + holder.key.Value + " is written in a form that cannot be edited"}
}

// withFirstEntry returns the text with a first entry in an empty collection. It replaces the old value, such as [].
func (holder *yamlHolder) withFirstEntry(block, newline string) ([]byte, error) {
	colon, err := holder.afterColon()
	if err != nil {
		return nil, err
	}
	line := string(holder.text[colon:holder.start(holder.key.Line+1)])
	content := strings.TrimRight(line, "\r\n")
	rest := strings.TrimLeft(content, " \t")
	for _, token := range []string{"{}", "[]", "{ }", "[ ]", "~", "null", "Null", "NULL"} {
		after, ok := strings.CutPrefix(rest, token)
		isWhole := after == "" || after[0] == ' ' || after[0] == '\t'
		if ok && isWhole {
			rest = after
			break
		}
	}
	if rest = strings.TrimRight(rest, " \t"); rest != "" {
		comment := strings.TrimLeft(rest, " \t")
		if comment[0] != '#' {
			return nil, &Unsupported{
				Reason: "the value of " + holder.key.Value + " is written in a form that cannot be edited",
			}
		}
		rest = " " + comment
	}
	text := rest + newline + block
	if len(line) == len(content) { // the last line has no line end
		text = strings.TrimSuffix(text, newline)
	}
	return Apply(holder.text, Splice{Start: colon, End: colon + len(line), Text: text}), nil
}

// linesOf returns the offsets of the lines of an entry, without the comments after it; -1 if it is missing.
func (holder *yamlHolder) linesOf(at Place) (start, end int, err error) {
	for i := 0; i < len(holder.value.Content); i += holder.step() {
		n := holder.value.Content[i]
		name := n.Value
		if holder.list {
			name = ""
			for i := 0; n.Kind == yaml.MappingNode && name == "" && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == "name" {
					name = n.Content[i+1].Value
				}
			}
		}
		if name != at.Name {
			continue
		}
		indent := holder.childIndent()
		text := holder.content(n.Line)
		if after, ok := strings.CutPrefix(text, indent); !ok || strings.HasPrefix(after, " ") ||
			holder.list != strings.HasPrefix(after, "- ") {
			return 0, 0, flowStyleError(at)
		}
		last := n.Line
		for line := n.Line + 1; line <= len(holder.starts); line++ {
			text := holder.content(line)
			trimmed := strings.TrimLeft(text, " \t")
			if trimmed == "" || trimmed[0] == '#' {
				continue
			}
			// A list may be indented as much as its key, and still belongs to the entry.
			if depth := len(text) - len(trimmed); depth < len(indent) ||
				depth == len(indent) && (holder.list || !strings.HasPrefix(trimmed, "- ")) {
				break
			}
			last = line
		}
		return holder.start(n.Line), holder.start(last + 1), nil
	}
	return -1, -1, nil
}

// Render returns an entry below the key of its collection.
func (YAML) Render(at Place, entry Object) string {
	return at.Path[0] + ":\n" + yamlEntry(at, entry, "  ")
}

// withNameField returns the entry with the field "name" if it is an element of a list.
func withNameField(at Place, entry Object) Object {
	if !at.List || slices.ContainsFunc(entry, func(m Member) bool { return m.Key == "name" }) {
		return entry
	}
	return append(Object{{Key: "name", Value: at.Name}}, entry...)
}

func yamlEntry(at Place, entry Object, indent string) string {
	if !at.List {
		return indent + yamlString(at.Name) + ":\n" + yamlMembers(entry, indent+"  ")
	}
	return indent + "- " + strings.TrimPrefix(yamlMembers(withNameField(at, entry), indent+"  "), indent+"  ")
}

// yamlMembers returns the lines of the members of an object.
func yamlMembers(object Object, indent string) string {
	var lines strings.Builder
	for _, m := range object {
		lines.WriteString(indent + yamlString(m.Key) + ":")
		switch v := m.Value.(type) {
		case string:
			lines.WriteString(" " + yamlString(v) + "\n")
		case bool, int:
			fmt.Fprintf(&lines, " %v\n", v)
		case []string:
			if len(v) == 0 {
				lines.WriteString(" []")
			}
			lines.WriteString("\n")
			for _, item := range v {
				lines.WriteString(indent + "  - " + yamlString(item) + "\n")
			}
		case Object:
			if len(v) == 0 {
				lines.WriteString(" {}")
			}
			lines.WriteString("\n" + yamlMembers(v, indent+"  "))
		default:
			lines.WriteString(" null\n")
		}
	}
	return lines.String()
}

var plainScalar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_/.-]*$`) })

// reservedWords are words that some YAML parsers do not treat as strings.
var reservedWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// yamlString returns a string as a plain scalar if that is safe, otherwise in double quotes.
func yamlString(text string) string {
	if plainScalar().MatchString(text) && !slices.Contains(reservedWords, strings.ToLower(text)) {
		return text
	}
	return jsonStyle{}.quote(text)
}

const (
	maxYAML      = 4 << 20 // bytes; the parser needs seconds for more
	maxYAMLDepth = 200     // maximum nesting of values
	maxNodes     = 200_000 // including the nodes of expanded aliases
)

// parseYAML returns the root of the only document of a text, nil if it is empty.
func parseYAML(text []byte) (*yaml.Node, error) {
	if len(text) > maxYAML {
		return nil, &Unsupported{fmt.Sprintf("the file is larger than %d MiB", maxYAML>>20)}
	}
	if err := CheckText(text); err != nil {
		return nil, err
	}
	body := bytes.TrimPrefix(text, []byte(BOM))
	hasContent := false // other than white space and comments
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			hasContent = true
			break
		}
	}
	if !hasContent {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Load(body, &document); err != nil {
		var loadErrs *yaml.LoadErrors
		if errors.As(err, &loadErrs) && len(loadErrs.Errors) > 0 {
			err = loadErrs.Errors[0]
		}
		var loadErr *yaml.LoadError
		if errors.As(err, &loadErr) {
			return nil, &Malformed{Line: max(loadErr.Mark.Line, 1), Column: max(loadErr.Mark.Column, 1), Reason: loadErr.Message}
		}
		return nil, &Malformed{Line: 1, Column: 1, Reason: err.Error()}
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Value == "" {
		return nil, nil
	}
	return root, nil
}

// plainYAML returns the value of a node, see [YAML.Decode]. depth and nodes limit the nesting and the number of nodes.
func plainYAML(n *yaml.Node, depth int, nodes *int) (any, error) {
	*nodes--
	if depth == 0 || *nodes < 0 {
		return nil, &Malformed{Line: n.Line, Column: n.Column, Reason: "too many nested values or aliases"}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return plainYAML(n.Alias, depth-1, nodes)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := plainYAML(item, depth-1, nodes)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.MappingNode:
		mapping := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, err := plainYAML(n.Content[i], depth-1, nodes)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				name = fmt.Sprintf("%T %v", key, key)
			}
			if _, twice := mapping[name]; twice && name != "!!merge <<" {
				return nil, &Malformed{
					Line:   n.Content[i].Line,
					Column: n.Content[i].Column,
					Reason: fmt.Sprintf("%q is given twice", name),
				}
			}
			if mapping[name], err = plainYAML(n.Content[i+1], depth-1, nodes); err != nil {
				return nil, err
			}
		}
		return mapping, nil
	}
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return n.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	default:
		if number, err := strconv.Atoi(n.Value); err == nil && tag == "!!int" {
			return float64(number), nil
		}
		return tag + " " + n.Value, nil
	}
}

// start returns the offset of a line, counted from 1. For lines after the last one it is the end of the text.
func (holder *yamlHolder) start(line int) int {
	if line > len(holder.starts) {
		return len(holder.text)
	}
	return holder.starts[line-1]
}

// content returns a line without its line end and without a byte order mark.
func (holder *yamlHolder) content(line int) string {
	text := strings.TrimRight(string(holder.text[holder.start(line):holder.start(line+1)]), "\r\n")
	if line == 1 {
		text = strings.TrimPrefix(text, BOM)
	}
	return text
}
