package settings

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// lines says on which line of a file a key stands, for messages. The table
// number n of an array of tables has the key "n".
type lines map[string]int

// of returns the line of a key, or of what it stands in.
func (l lines) of(path []string) int {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if line, ok := l[keyOf(path)]; ok {
			return line
		}
	}
	return 1
}

func keyOf(path []string) string { return strings.Join(path, "\x00") }

// linesOf looks for the keys of content, which is known to be right TOML.
func linesOf(content []byte) lines {
	w := lineWalk{found: lines{}, tables: map[string]int{}, line: 1}
	w.parser.Reset(content)
	var table []string
	for w.parser.NextExpression() {
		switch node := w.parser.Expression(); node.Kind {
		case unstable.Table:
			table = w.header(node, false)
		case unstable.ArrayTable:
			table = w.header(node, true)
		case unstable.KeyValue:
			w.pair(node, table)
		}
	}
	return w.found
}

// lineWalk goes through a document from its beginning to its end.
type lineWalk struct {
	parser unstable.Parser
	found  lines
	tables map[string]int // how many of an array of tables there were
	offset int            // up to which the lines are counted
	line   int
}

// header notes the key of [a.b] or [[a.b]] and returns the path of the table
// that follows.
func (w *lineWalk) header(node *unstable.Node, array bool) []string {
	var path []string
	line := 0
	for keys := node.Key(); keys.Next(); {
		line = w.at(keys.Node())
		path = append(path, string(keys.Node().Data))
		last := keys.IsLast()
		if n, isArray := w.tables[keyOf(path)]; isArray && !last {
			path = append(path, strconv.Itoa(n-1))
		}
		if array && last {
			key := keyOf(path)
			path = append(path, strconv.Itoa(w.tables[key]))
			w.tables[key]++
		}
		w.note(path, line)
	}
	return path
}

// pair notes the key of a value, and the keys within it.
func (w *lineWalk) pair(node *unstable.Node, table []string) {
	path := append([]string{}, table...)
	for keys := node.Key(); keys.Next(); {
		line := w.at(keys.Node())
		path = append(path, string(keys.Node().Data))
		w.note(path, line)
	}
	w.value(node.Value(), path)
}

func (w *lineWalk) value(node *unstable.Node, path []string) {
	n := 0
	for children := node.Children(); children.Next(); {
		switch child := children.Node(); child.Kind {
		case unstable.KeyValue: // of an inline table
			w.pair(child, path)
		case unstable.InlineTable: // of an array
			w.value(child, append(append([]string{}, path...), strconv.Itoa(n)))
			n++
		default:
			n++
		}
	}
}

func (w *lineWalk) note(path []string, line int) {
	if _, known := w.found[keyOf(path)]; !known {
		w.found[keyOf(path)] = line
	}
}

// at returns the line of a node that does not stand before the last one.
func (w *lineWalk) at(node *unstable.Node) int {
	if next := int(node.Raw.Offset); next > w.offset {
		w.line += bytes.Count(w.parser.Data()[w.offset:next], []byte("\n"))
		w.offset = next
	}
	return w.line
}
