package document

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

const (
	maxYAMLDepth = 200     // of nested values
	maxNodes     = 200_000 // aliases counted as what they stand for
)

// YAML edits YAML files: a key of a mapping, or an element of a list that has a field "name". An
// entry is put before the first one, in block style. A non-empty collection in flow style is not
// edited.
type YAML struct{}

// Decode returns the text as a parser would, nil for an empty one. Integers are
// float64; a scalar of another type is its tag and its text. The error is an
// [*Malformed] or an [*Unsupported].
func (YAML) Decode(text []byte) (any, error) {
	root, err := parseYAML(text)
	if err != nil || root == nil {
		return nil, err
	}
	nodes := maxNodes
	return plainYAML(root, maxYAMLDepth, &nodes)
}

// parseYAML returns the root of the one document of a text, nil for none.
func parseYAML(text []byte) (*yaml.Node, error) {
	if err := CheckText(text); err != nil {
		return nil, err
	}
	body := bytes.TrimPrefix(text, []byte(BOM))
	if isBlankYAML(body) {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Load(body, &document); err != nil {
		return nil, yamlError(err)
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

// isBlankYAML reports whether a text has nothing but white space and comments.
func isBlankYAML(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func yamlError(err error) error {
	if all, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		return &Malformed{Line: max(one.Mark.Line, 1), Column: max(one.Mark.Column, 1), Reason: one.Message}
	}
	return &Malformed{Line: 1, Column: 1, Reason: err.Error()}
}

func plainYAML(n *yaml.Node, depth int, nodes *int) (any, error) {
	if *nodes--; depth == 0 || *nodes < 0 {
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
		return plainYAMLMapping(n, depth, nodes)
	}
	return yamlScalar(n), nil
}

func plainYAMLMapping(n *yaml.Node, depth int, nodes *int) (any, error) {
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
			return nil, &Malformed{Line: n.Content[i].Line, Column: n.Content[i].Column, Reason: fmt.Sprintf("%q is given twice", name)}
		}
		if mapping[name], err = plainYAML(n.Content[i+1], depth-1, nodes); err != nil {
			return nil, err
		}
	}
	return mapping, nil
}

func yamlScalar(n *yaml.Node) any {
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return n.Value
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int":
		if number, err := strconv.Atoi(n.Value); err == nil {
			return float64(number)
		}
		return tag + " " + n.Value
	default:
		return tag + " " + n.Value
	}
}

// yamlLines is a text with the offsets at which its lines begin.
type yamlLines struct {
	text   []byte
	starts []int
}

func yamlLinesOf(text []byte) yamlLines {
	l := yamlLines{text: text, starts: []int{0}}
	for i, c := range text {
		if c == '\n' && i+1 < len(text) {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// start returns the offset of a line, counted from 1; the end of the text for a line after the
// last one.
func (l yamlLines) start(line int) int {
	if line > len(l.starts) {
		return len(l.text)
	}
	return l.starts[line-1]
}

// content returns a line without its line end and without a byte order mark.
func (l yamlLines) content(line int) string {
	text := strings.TrimRight(string(l.text[l.start(line):l.start(line+1)]), "\r\n")
	if line == 1 {
		text = strings.TrimPrefix(text, BOM)
	}
	return text
}

// offset returns the offset of a column of a line, both counted from 1, columns in
// characters.
func (l yamlLines) offset(line, column int) int {
	text := l.content(line)
	at := l.start(line+1) - len(l.text[l.start(line):l.start(line+1)])
	if line == 1 && bytes.HasPrefix(l.text, []byte(BOM)) {
		at += len(BOM)
	}
	for i := range text {
		if column--; column == 0 {
			return at + i
		}
	}
	return at + len(text)
}
