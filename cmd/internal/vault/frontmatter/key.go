package frontmatter

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// keyWriter writes a list or a map as a key, as the app does: on one line.
type keyWriter struct {
	b   *builder
	out strings.Builder
}

func (w *keyWriter) node(n *yaml.Node, depth int) error {
	w.b.nodes--
	if w.b.nodes < 0 || depth == 0 {
		return &Malformed{n.Line, "a key contains too much"}
	}
	switch n.Kind {
	case yaml.AliasNode:
		w.out.WriteString("*" + n.Value)
	case yaml.SequenceNode:
		return w.list(n, depth)
	case yaml.MappingNode:
		return w.fields(n, depth)
	default:
		w.scalar(n)
	}
	return nil
}

func (w *keyWriter) scalar(n *yaml.Node) {
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0:
		w.out.WriteString("'" + strings.ReplaceAll(n.Value, "'", "''") + "'")
	case n.Style&yaml.DoubleQuotedStyle != 0:
		w.out.Write(AppendQuoted(nil, n.Value))
	default:
		w.out.WriteString(n.Value)
	}
}

func (w *keyWriter) list(n *yaml.Node, depth int) error {
	if len(n.Content) == 0 {
		w.out.WriteString("[]")
		return nil
	}
	for i, node := range n.Content {
		w.out.WriteString(separator(i, "[ "))
		if err := w.node(node, depth-1); err != nil {
			return err
		}
	}
	w.out.WriteString(" ]")
	return nil
}

func (w *keyWriter) fields(n *yaml.Node, depth int) error {
	if len(n.Content) == 0 {
		w.out.WriteString("{}")
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		w.out.WriteString(separator(i, "{ "))
		if key.Kind == yaml.MappingNode || key.Kind == yaml.SequenceNode {
			w.out.WriteString("? ")
		}
		if err := w.node(key, depth-1); err != nil {
			return err
		}
		if value.Kind == yaml.ScalarNode && value.Value == "" && value.Style == 0 {
			continue
		}
		w.out.WriteString(": ")
		if err := w.node(value, depth-1); err != nil {
			return err
		}
	}
	w.out.WriteString(" }")
	return nil
}

// separator returns what stands before an element: opening before the first.
func separator(i int, opening string) string {
	if i == 0 {
		return opening
	}
	return ", "
}
