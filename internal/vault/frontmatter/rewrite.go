package frontmatter

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// RewriteLinks returns the block with other links in its properties. change is called for
// each link that [Links] finds, with its text and its line in the block; it returns the
// replacement, or "" to keep the link. The text keeps its quotes, and nothing else changes.
//
// changed is the number of rewritten links. left are the links that could not be changed, with
// their lines in the block: all of them if the edited block would have other properties.
func RewriteLinks(
	block []byte,
	change func(text string, link markdown.Link) string,
) (edited []byte, changed int, left []markdown.Link) {
	mayHaveLinks := bytes.Contains(block, []byte("](")) || bytes.Contains(block, []byte("[["))
	hasEscapes := bytes.ContainsRune(block, '\\')
	if !mayHaveLinks && !hasEscapes {
		return block, 0, nil
	}
	edited, changed, places := rewriteTexts(
		block,
		func(string) bool { return true },
		func(text string, line int) string {
			link, ok := markdown.ParseLink(text)
			if !ok {
				return ""
			}
			link.Line = line
			return change(text, link)
		},
	)
	for _, at := range places {
		link, _ := markdown.ParseLink(at.text)
		link.Line = at.line
		left = append(left, link)
	}
	return edited, changed, left
}

// rewriteTexts returns the block with other strings as the values, or in the lists, of the
// properties for whose keys concerned returns true. change is called for each string; it
// returns the replacement, or "" to keep it. changed and left are as in [RewriteLinks].
func rewriteTexts(
	block []byte,
	concerned func(key string) bool,
	change func(text string, line int) string,
) (edited []byte, changed int, left []textAt) {
	properties, err := Parse(block)
	if err != nil || len(properties) == 0 {
		return block, 0, nil
	}
	document, err := load(shield(block))
	if err != nil {
		return block, 0, nil
	}
	r := rewriter{
		block:  block,
		lines:  lineStarts(block),
		seen:   map[*yaml.Node]bool{},
		texts:  map[string]string{},
		change: change,
	}
	root := document.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if concerned(root.Content[i].Value) {
			r.value(root.Content[i+1])
		}
	}
	// The edits are in the order of the block, except for those of aliases.
	at := 0
	for _, p := range r.edits {
		if p.Start < at {
			return block, 0, append(r.left, r.done...) // two values overlap, which should not happen
		}
		edited = append(append(edited, block[at:p.Start]...), p.Text...)
		at = p.End
	}
	edited = append(edited, block[at:]...)
	want := slices.Clone(properties)
	for i := range want {
		if !concerned(want[i].Key) {
			continue
		}
		value := &want[i].Value
		*value = r.rewritten(*value)
		if value.kind == List {
			elements := slices.Clone(value.List())
			for n := range elements {
				elements[n] = r.rewritten(elements[n])
			}
			value.more = elements
		}
	}
	if got, err := Parse(edited); err == nil && sameProperties(got, want) {
		return edited, len(r.edits), r.left
	}
	return block, 0, append(r.left, r.done...)
}

// rewriter changes strings in one block.
type rewriter struct {
	block  []byte
	lines  []int
	seen   map[*yaml.Node]bool // nodes that were visited: one with aliases is changed once
	texts  map[string]string   // replacements by old string
	change func(text string, line int) string

	edits []Patch
	done  []textAt
	left  []textAt

	last place // of the previous node
}

// place is a position in the block: line and column as the library counts them, and the byte offset.
type place struct{ line, column, offset int }

// textAt is a string with its line in the block.
type textAt struct {
	text string
	line int
}

func (r *rewriter) value(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.seen[n] {
		return
	}
	r.seen[n] = true
	switch n.Kind {
	case yaml.ScalarNode:
		value := scalar(n)
		if value.kind != String {
			return
		}
		text := r.change(value.text, n.Line)
		if text == "" {
			return
		}
		original := textAt{value.text, n.Line}
		at, written, ok := r.place(n, value.text, text)
		if !ok {
			r.left = append(r.left, original)
			return
		}
		r.texts[value.text] = text
		r.edits = append(r.edits, Patch{at, written})
		r.done = append(r.done, original)
	case yaml.SequenceNode:
		for _, element := range n.Content {
			isAlias := element.Kind == yaml.AliasNode
			if element.Kind == yaml.ScalarNode || isAlias && element.Alias.Kind == yaml.ScalarNode {
				r.value(element)
			}
		}
	}
}

// offset returns the offset of a node in the block. For successive nodes of a line it continues from the previous one.
func (r *rewriter) offset(n *yaml.Node) int {
	at := place{line: n.Line, column: 1, offset: r.lines[n.Line-1]}
	if r.last.line == n.Line && r.last.column <= n.Column {
		at = r.last
	}
	for ; at.column < n.Column && at.offset < len(r.block); at.column++ {
		_, size := utf8.DecodeRune(r.block[at.offset:])
		at.offset += size
	}
	r.last = at
	return at.offset
}

// valueStart returns the offset of the value of a node, after an anchor and a tag.
func (r *rewriter) valueStart(n *yaml.Node) int {
	start := r.offset(n)
	for start < len(r.block) && (r.block[start] == '&' || r.block[start] == '!') {
		for start < len(r.block) && bytes.IndexByte([]byte(" \t\r\n"), r.block[start]) < 0 {
			start++
		}
		for start < len(r.block) && isBlank(r.block[start]) {
			start++
		}
	}
	return start
}

// place returns the span of the string old in the block, and how text is written in its place. ok is false if the
// string cannot be replaced there.
func (r *rewriter) place(n *yaml.Node, old, text string) (at markdown.Span, written string, ok bool) {
	start := r.valueStart(n)
	if start >= len(r.block) {
		return at, "", false
	}
	switch r.block[start] {
	case '"':
		written = doubleQuote(text)
	case '\'':
		written = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case '|', '>':
		at, ok = r.firstTextLine(start, old)
		return at, text, ok
	default:
		at = markdown.Span{Start: start, End: start + len(old)}
		return at, formatText(text, ""), bytes.HasPrefix(r.block[start:], []byte(old))
	}
	size := quotedSize(r.block[start:])
	return markdown.Span{Start: start, End: start + size}, written, size > 0
}

// firstTextLine returns the span of the first line that is not blank in the literal or folded text that begins at start.
// ok is false unless this line is the whole text old.
func (r *rewriter) firstTextLine(start int, old string) (at markdown.Span, ok bool) {
	from := start
	for {
		n := bytes.IndexByte(r.block[from:], '\n')
		if n < 0 {
			return at, false
		}
		from += n + 1
		line, _, _ := bytes.Cut(r.block[from:], []byte("\n"))
		inner := bytes.TrimSpace(line)
		if len(inner) == 0 {
			continue
		}
		begin := from + bytes.Index(line, inner)
		return markdown.Span{Start: begin, End: begin + len(inner)}, string(inner) == old
	}
}

// rewritten returns the value that v should have in the rewritten block.
func (r *rewriter) rewritten(v Value) Value {
	if other, ok := r.texts[v.text]; ok && v.kind == String {
		v.text = other
	}
	return v
}

// RewriteTags returns the note text with other tags in its properties. change is called for
// each tag that [Tags] finds, without its "#", and returns its replacement, or "" to keep it.
// A tag keeps its quotes and its "#", and nothing else changes. Only if a change creates a
// duplicate, ignoring case, the list is rewritten without it.
//
// changed is the number of rewritten tags. The error is a *[Refusal] if a tag cannot be
// changed. A block that cannot be read has no tags.
func RewriteTags(text []byte, change func(name string) string) (edited []byte, changed int, err error) {
	found := markdown.Scan(text)
	block := text[found.Frontmatter.Start:found.Frontmatter.End]
	rewritten, changed, left := rewriteTexts(
		block,
		func(key string) bool { return strings.EqualFold(key, "tags") },
		func(text string, _ int) string {
			bare := strings.TrimSpace(text)
			name, ok := markdown.TagName(bare)
			if !ok {
				return ""
			}
			to := change(name)
			if to == "" || to == name {
				return ""
			}
			if strings.HasPrefix(bare, "#") {
				to = "#" + to
			}
			lead := strings.Index(text, bare)
			return text[:lead] + to + text[lead+len(bare):]
		},
	)
	switch {
	case len(left) > 0:
		return nil, 0, &Refusal{left[0].line, "tag " + left[0].text + " cannot be changed where it is"}
	case changed == 0:
		return text, 0, nil
	}
	edited = splice(text, found.Frontmatter, string(rewritten))
	before := tagList(text)
	now := tagList(edited)
	once := unique(now)
	if len(once) == len(now) || len(unique(before)) < len(before) {
		return edited, changed, nil
	}
	list := Value{kind: List, more: []Value{}}
	for _, tag := range once {
		list.more = append(list.List(), Value{kind: String, text: tag})
	}
	edited, err = Set(edited, "tags", list)
	return edited, changed, err
}

// tagList returns the elements of the property tags, nil if it is not a list of strings.
func tagList(text []byte) (elements []string) {
	for _, value := range Get(text, "tags").List() {
		if value.Kind() != String {
			return nil
		}
		elements = append(elements, value.Text())
	}
	return elements
}

// unique returns tags without duplicates, ignoring case.
func unique(tags []string) (once []string) {
	there := map[string]bool{}
	for _, tag := range tags {
		name := markdown.FoldCase(strings.TrimPrefix(strings.TrimSpace(tag), "#"))
		if !there[name] {
			once = append(once, tag)
		}
		there[name] = true
	}
	return once
}
