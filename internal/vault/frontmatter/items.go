package frontmatter

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// itemPatches returns the patches to the note that change the list at place to value and do not touch the items that
// stay. It reports false if more is necessary than removing items and adding some at the end, or if the items
// cannot be changed one by one.
func (b *note) itemPatches(place int, value Value) (patches []Patch, ok bool) {
	old := b.properties[place].Value.List()
	node := b.entries[place].value
	areLists := value.kind == List && node.Kind == yaml.SequenceNode
	if !areLists || len(old) == 0 || len(value.List()) == 0 {
		return nil, false
	}
	stays := make([]bool, len(old))
	from := 0
	added := value.List()
	for len(added) > 0 {
		next := from
		for next < len(old) && !old[next].Equal(added[0]) {
			next++
		}
		if next == len(old) {
			break
		}
		stays[next] = true
		from = next + 1
		added = added[1:]
	}
	list := newItemList(b, place, node)
	if len(list.items) != len(old) {
		return nil, false
	}
	return list.changed(stays, added)
}

// itemList is a list in the block of a note.
type itemList struct {
	block  []byte
	start  int             // offset of the block in the note
	items  []markdown.Span // in the block
	indent string          // the blanks before each dash
	end    string          // the line break of the note; "" for a list in brackets
}

// newItemList finds the items of a list. It has none if they cannot be separated.
func newItemList(b *note, place int, node *yaml.Node) itemList {
	list := itemList{block: b.block(), start: b.span.Start}
	r := rewriter{block: b.block(), lines: lineStarts(b.block())}
	if node.Style&yaml.FlowStyle != 0 {
		list.items = flowItems(b.block(), r.valueStart(node))
		return list
	}
	entry := b.trimmed(place)
	dash := node.Column - 1
	var starts []int
	for _, start := range r.lines[node.Line-1:] {
		if start >= entry.End {
			break
		}
		line := b.block()[start:entry.End]
		indented := len(line) > dash && len(bytes.TrimLeft(line[:dash], " ")) == 0
		if indented && line[dash] == '-' &&
			(len(line) == dash+1 || bytes.IndexByte([]byte(" \t\r\n"), line[dash+1]) >= 0) {
			starts = append(starts, start)
		}
	}
	for i, start := range starts {
		end := entry.End
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		list.items = append(list.items, markdown.Span{Start: start, End: end - idleEnd(list.block[start:end])})
	}
	if len(starts) > 0 {
		list.indent = string(list.block[starts[0] : starts[0]+dash])
		first := b.firstLine(place)
		list.end = breakBefore(b.text, b.span.Start+first.End)
	}
	return list
}

// idleEnd returns the length of the blank lines and comments at the end of an item, not counting its first line.
func idleEnd(item []byte) (size int) {
	starts := lineStarts(item)
	end := len(item)
	for n := len(starts) - 1; n > 0; n-- {
		line := bytes.TrimSpace(item[starts[n]:end])
		if len(line) > 0 && line[0] != '#' {
			break
		}
		end = starts[n]
	}
	return len(item) - end
}

// changed returns the patches that remove the items for which stays is false and add others at the end. It reports
// false if no item stays.
func (l itemList) changed(stays []bool, added []Value) (patches []Patch, ok bool) {
	last := -1 // index of the last item that stays
	for i, stay := range stays {
		if stay {
			last = i
		}
	}
	if last < 0 {
		return nil, false
	}
	isFlow := l.end == ""
	for i, stay := range stays {
		if stay {
			if i == last && len(added) > 0 {
				at := l.items[i].End
				patches = append(patches, l.patch(at, at, l.written(added, at)))
			}
			continue
		}
		span := l.items[i]
		switch {
		case isFlow && i < last:
			span.End = l.items[i+1].Start
		case isFlow:
			span.Start = l.items[i-1].End
		}
		patches = append(patches, l.patch(span.Start, span.End, ""))
	}
	return patches, true
}

func (l itemList) patch(start, end int, text string) Patch {
	return Patch{markdown.Span{Start: l.start + start, End: l.start + end}, text}
}

// written returns the text of new items that are inserted after the item that ends at the offset at.
func (l itemList) written(added []Value, at int) string {
	var out strings.Builder
	for _, item := range added {
		text := formatValue(item, "")
		if item.kind == Number && item.text != "" {
			text = item.text
		}
		if item.kind == String && strings.ContainsRune(text, '\n') {
			text = doubleQuote(item.text)
		}
		if l.end == "" {
			if item.kind == String && text == item.text && strings.ContainsAny(text, ",[]{}") {
				text = quote(text)
			}
			out.WriteString(", " + text)
			continue
		}
		if out.Len() == 0 && !bytes.HasSuffix(l.block[:at], []byte("\n")) {
			out.WriteString(l.end)
		}
		out.WriteString(l.indent + "- " + text + l.end)
	}
	return out.String()
}

// flowItems returns the items of the list in brackets that begins at start, without the blanks and comments around
// them; nil if it cannot be read.
func flowItems(block []byte, start int) (items []markdown.Span) {
	var item markdown.Span
	depth := 0
	for at := start; at < len(block); {
		c := block[at]
		size := 1
		begins := at > 0 && bytes.IndexByte([]byte(" \t\r\n,[{:"), block[at-1]) >= 0
		isBlank := bytes.IndexByte([]byte(" \t\r\n"), c) >= 0
		switch {
		case c == '#' && begins:
			size = bytes.IndexByte(block[at:], '\n')
			if size < 0 {
				return nil
			}
			isBlank = true
		case (c == '"' || c == '\'') && begins:
			if size = quotedSize(block[at:]); size == 0 {
				return nil
			}
		case c == '[' || c == '{':
			if depth++; depth == 1 {
				at++
				continue
			}
		case c == ']' || c == '}':
			depth--
		}
		ends := depth == 0 || depth == 1 && c == ','
		if ends {
			if item != (markdown.Span{}) {
				items = append(items, item)
			}
			item = markdown.Span{}
		}
		if depth == 0 {
			return items
		}
		if !ends && !isBlank {
			if item == (markdown.Span{}) {
				item.Start = at
			}
			item.End = at + size
		}
		at += size
	}
	return nil
}
