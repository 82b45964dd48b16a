// Package frontmatter reads and edits the properties of a note: the YAML block at its
// start.
//
// A library parses the YAML, except for simple blocks. The type of a plain scalar is decided
// here, by the core schema of YAML 1.2, because the app uses it and Go's libraries do not.
// Aliases are expanded only within limits.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

const (
	maxSize  = 1 << 20 // bytes; a usual block fits on a screen
	maxNodes = 100_000 // values, including expanded aliases: a few lines of aliases can expand exponentially
)

// MaxDepth is the maximum nesting of values; each level is a recursive call.
const MaxDepth = 100

// Malformed says why the properties of a block cannot be read. For the app, such a note has none.
type Malformed struct {
	Line   int // within the block, counted from 1; 0 if it concerns the whole block
	Reason string
}

func (m *Malformed) Error() string {
	if m.Line == 0 {
		return m.Reason
	}
	return fmt.Sprintf("line %d: %s", m.Line, m.Reason)
}

// Parse reads the block between the fences. A block that is empty or has only comments is valid
// and has no properties. The error is a *[Malformed].
func Parse(block []byte) (Properties, error) { return new(Parser).Parse(block) }

// Parser reads one block after another and reuses its memory. The zero Parser is ready for use, by
// one goroutine at a time.
type Parser struct{ properties Properties }

// Parse is like the function [Parse], but the properties are only valid until the next call.
func (p *Parser) Parse(block []byte) (Properties, error) {
	if len(block) > maxSize {
		return nil, &Malformed{Reason: fmt.Sprintf("longer than %d bytes", maxSize)}
	}
	if properties, ok := p.simple(block); ok {
		return properties, nil
	}
	value, line, err := readBlock(block, builder{nodes: maxNodes})
	if err != nil {
		return nil, err
	}
	switch value.kind {
	case Null:
		return nil, nil
	case Map:
		return value.Fields(), nil
	}
	return nil, &Malformed{line, "no list of keys and values"}
}

// ParseDocument reads a whole YAML file of any kind by the same rules, and records the line
// of each value. The value of an empty file is null. The error is a *[Malformed].
func ParseDocument(text []byte) (Value, error) {
	if len(text) > maxSize {
		return Value{}, &Malformed{Reason: fmt.Sprintf("longer than %d bytes", maxSize)}
	}
	value, _, err := readBlock(text, builder{nodes: maxNodes, lines: true})
	if m, ok := errors.AsType[*Malformed](err); ok {
		// If a document ends too early, the library reports the line after the last one. In a note
		// that is the line of the closing fence, but a file has no such line.
		last := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) - bytes.Count(text, []byte("\r\n"))
		if end := text[len(text)-1]; end != '\n' && end != '\r' {
			last++
		}
		return Value{}, &Malformed{min(m.Line, last), m.Reason}
	}
	return value, err
}

// readBlock returns the value of a text, made by b, and its first line. The value is null, and the line 0, if the text
// has only blank lines and comments.
func readBlock(text []byte, b builder) (v Value, line int, err error) {
	hasContent := false // other than blank lines and comments
	for line := range bytes.Lines(text) {
		line = bytes.TrimLeft(line, " \t\r\n")
		if len(line) > 0 && line[0] != '#' {
			hasContent = true
			break
		}
	}
	if !hasContent {
		return Value{}, 0, nil
	}
	document, err := load(shield(text))
	if err != nil {
		return Value{}, 0, malformed(err)
	}
	root := document.Content[0]
	v, err = b.value(root, MaxDepth)
	return v, root.Line, err
}

// load parses the YAML as the app does. If the library refuses a text, load tries again with plain letters in the
// names of anchors, and then with escaped surrogate pairs, as JSON has them, replaced by the characters.
func load(block []byte) (document yaml.Node, err error) {
	document, err = loadPlain(block)
	if err == nil {
		if refusal := refusedByApp(block, &document); refusal != nil {
			return document, refusal
		}
		return document, nil
	}
	if plain, count := withPlainAnchors(string(block)); count > 0 {
		// A quoted text may contain something that looks like an anchor, so the number of real anchors must match.
		other, failed := loadPlain([]byte(plain))
		if failed == nil && len(oddAnchors().FindAllString(plain, -1)) == countAnchors(&other) {
			return other, nil
		}
	}
	if joined, ok := joinSurrogates(string(block)); ok {
		document, err = loadPlain([]byte(joined))
	}
	return document, err
}

// joinSurrogates replaces escaped surrogate pairs by the characters that they stand for. ok is false if there are none.
func joinSurrogates(text string) (joined string, ok bool) {
	const pairSize = len(`d83d\ude00`) // after the first \u
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, `\u`)
		out.WriteString(before)
		if !found {
			return out.String(), ok
		}
		text = rest
		if len(rest) >= pairSize && rest[4:6] == `\u` {
			high, errHigh := strconv.ParseUint(rest[:4], 16, 16)
			low, errLow := strconv.ParseUint(rest[6:pairSize], 16, 16)
			r := utf16.DecodeRune(rune(high), rune(low))
			if errHigh == nil && errLow == nil && r != utf8.RuneError {
				out.WriteRune(r)
				text = rest[pairSize:]
				ok = true
				continue
			}
		}
		out.WriteString(`\u`)
	}
}

func loadPlain(block []byte) (document yaml.Node, err error) {
	err = yaml.Load(block, &document)
	return document, err
}

// malformed converts an error of the library to a *[Malformed].
func malformed(err error) error {
	if refusal, ok := errors.AsType[*Malformed](err); ok {
		return refusal
	}
	if loadErrs, ok := errors.AsType[*yaml.LoadErrors](err); ok && len(loadErrs.Errors) > 0 {
		err = loadErrs.Errors[0]
	}
	if loadErr, ok := errors.AsType[*yaml.LoadError](err); ok {
		return &Malformed{loadErr.Mark.Line, unshield(loadErr.Message)}
	}
	return &Malformed{Reason: unshield(err.Error())}
}

// builder turns nodes into values.
type builder struct {
	nodes int  // how many more values may be made
	lines bool // whether to record the line of each value
}

func (b *builder) value(n *yaml.Node, depth int) (v Value, err error) {
	b.nodes--
	switch {
	case b.nodes < 0:
		err = &Malformed{n.Line, "too many values"}
	case depth == 0:
		err = &Malformed{n.Line, "values are nested too deep"}
	case n.Kind == yaml.AliasNode:
		// An alias within its own anchor is nested without end, until depth is 0.
		v, err = b.value(n.Alias, depth-1)
	case n.Kind == yaml.SequenceNode:
		list := make([]Value, 0, len(n.Content))
		for _, node := range n.Content {
			element, err := b.value(node, depth-1)
			if err != nil {
				return Value{}, err
			}
			list = append(list, element)
		}
		v = Value{kind: List, more: list}
	case n.Kind == yaml.MappingNode:
		fields := make(Properties, 0, len(n.Content)/2)
		seen := map[scalarKey]bool{}
		at := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, err := b.key(n.Content[i], seen)
			if err != nil {
				return Value{}, err
			}
			field, err := b.value(n.Content[i+1], depth-1)
			if err != nil {
				return Value{}, err
			}
			// Keys that differ only in type, such as 1 and "1", are the same as text.
			if place, ok := at[name]; ok {
				fields[place].Value = field
				continue
			}
			at[name] = len(fields)
			fields = append(fields, Property{name, field, n.Content[i].Line})
		}
		v = Value{kind: Map, more: fields}
	default:
		v = scalar(n)
	}
	if b.lines {
		v.line = int32(n.Line)
	}
	return v, err
}

// scalarKey identifies a key of a map.
type scalarKey struct {
	kind Kind
	text string
}

// key returns the text of a key and adds it to seen. A list or map as a key is legal:
// "{{date}}" in a template is one.
func (b *builder) key(n *yaml.Node, seen map[scalarKey]bool) (string, error) {
	if n.Kind == yaml.AliasNode && n.Alias.Kind == yaml.ScalarNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		w := keyWriter{b: b}
		err := w.node(n, MaxDepth, "")
		return unshield(w.out.String()), err
	}
	value := scalar(n)
	key := scalarKey{value.kind, value.String()}
	if seen[key] {
		return "", &Malformed{n.Line, fmt.Sprintf("key %q appears twice", key.text)}
	}
	seen[key] = true
	return key.text, nil
}

// scalar returns the value of a scalar node. A plain one has the type of its text, one in quotes or in a block
// is a string. If the node has a tag of another type, the value is a string, too.
func scalar(n *yaml.Node) Value {
	text := unshield(n.Value)
	v := Value{kind: String, text: text}
	if n.Tag != "!" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		v = resolve(text)
	}
	if n.Style&yaml.TaggedStyle == 0 {
		return v
	}
	tag := n.ShortTag()
	fits := true
	switch v.kind {
	case Null:
		fits = tag == "!!null"
	case Bool:
		fits = tag == "!!bool"
	case Number:
		want := "!!int"
		if strings.ContainsAny(v.text, ".eE") && !strings.HasPrefix(v.text, "0x") {
			want = "!!float"
		}
		fits = tag == want
	}
	if !fits {
		return Value{kind: String, text: text}
	}
	return v
}

// keyWriter writes a list or a map that is a key, as the app does: on one line, unless a key in it is a list or a map.
type keyWriter struct {
	b   *builder
	out strings.Builder
}

func (w *keyWriter) node(n *yaml.Node, depth int, indent string) error {
	w.b.nodes--
	if w.b.nodes < 0 || depth == 0 {
		return &Malformed{n.Line, "a key contains too much"}
	}
	if n.Anchor != "" && depth < MaxDepth {
		w.out.WriteString("&" + n.Anchor + " ")
	}
	switch {
	case n.Kind == yaml.AliasNode:
		w.out.WriteString("*" + n.Value)
	case n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode:
		return w.collection(n, depth, indent)
	case n.Style&yaml.SingleQuotedStyle != 0:
		w.out.WriteString("'" + strings.ReplaceAll(n.Value, "'", "''") + "'")
	case n.Style&yaml.DoubleQuotedStyle != 0:
		w.out.Write(AppendQuoted(nil, n.Value))
	default:
		w.out.WriteString(n.Value)
	}
	return nil
}

func (w *keyWriter) collection(n *yaml.Node, depth int, indent string) error {
	brackets := "[]"
	step := 1
	if n.Kind == yaml.MappingNode {
		brackets = "{}"
		step = 2
	}
	if len(n.Content) == 0 {
		w.out.WriteString(brackets)
		return nil
	}
	inner := indent + "  "
	var items []string
	for i := 0; i < len(n.Content); i += step {
		itemWriter := keyWriter{b: w.b}
		if err := itemWriter.item(n.Content[i:i+step], depth-1, inner); err != nil {
			return err
		}
		items = append(items, itemWriter.out.String())
	}
	if joined := strings.Join(items, ", "); !strings.Contains(joined, "\n") {
		w.out.WriteString(brackets[:1] + " " + joined + " " + brackets[1:])
		return nil
	}
	w.out.WriteString(brackets[:1] + "\n" + inner + strings.Join(items, ",\n"+inner) + "\n" + indent + brackets[1:])
	return nil
}

// item writes an element of a list, or a key and its value.
func (w *keyWriter) item(nodes []*yaml.Node, depth int, indent string) error {
	key := nodes[0]
	isPair := len(nodes) > 1
	isComplex := isPair && (key.Kind == yaml.MappingNode || key.Kind == yaml.SequenceNode)
	if isComplex {
		w.out.WriteString("? ")
	}
	if err := w.node(key, depth, indent); err != nil || !isPair {
		return err
	}
	if value := nodes[1]; value.Kind == yaml.ScalarNode && value.Value == "" && value.Style == 0 {
		return nil
	}
	if isComplex {
		w.out.WriteString("\n" + indent)
	}
	w.out.WriteString(": ")
	return w.node(nodes[1], depth, indent)
}
