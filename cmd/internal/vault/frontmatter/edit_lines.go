package frontmatter

import (
	"bytes"
	"sort"
	"strings"

	"go.yaml.in/yaml/v4"

	"vaultwicket/cmd/internal/vault/markdown"
)

// entry is where a property stands in its block: whole lines.
type entry struct {
	markdown.Span
	twice bool // two keys are one as text, such as 1 and "1"
}

// entries finds the lines of every property of a block. Comments and blank
// lines behind a value belong to none.
func entries(block []byte, properties Properties) ([]entry, error) {
	if len(properties) == 0 {
		return nil, nil
	}
	document, err := load(shield(block))
	if err != nil {
		return nil, malformed(err)
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, &Refusal{root.Line, "the properties are in braces, not on lines of their own"}
	}
	lines := lineStarts(block)
	all := make([]entry, 0, len(properties))
	names := builder{nodes: maxNodes}
	at := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, err := names.key(root.Content[i], map[scalarKey]bool{})
		if err != nil {
			return nil, err
		}
		span := markdown.Span{Start: lines[root.Content[i].Line-1], End: len(block)}
		if i+2 < len(root.Content) {
			span.End = lines[root.Content[i+2].Line-1]
		}
		if place, ok := at[name]; ok {
			all[place].twice = true
			continue
		}
		at[name] = len(all)
		all = append(all, entry{Span: span})
	}
	return all, nil
}

// lineStarts returns where each line of a block begins. A carriage return alone
// ends a line of YAML, too. Behind the last line one more begins.
func lineStarts(block []byte) []int {
	starts := []int{0}
	for n, b := range block {
		if b == '\n' || b == '\r' && (n+1 == len(block) || block[n+1] != '\n') {
			starts = append(starts, n+1)
		}
	}
	return starts
}

// trimmed returns the span of the entry at place without the comments and blank
// lines behind it: those that can be taken away and change nothing.
func (b *note) trimmed(place int) markdown.Span {
	block, at := b.block(), b.entries[place].Span
	ends := []int{at.End} // of the entry, if idle lines are taken from its end
	starts := lineStarts(block[at.Start:at.End])
	for n := len(starts) - 1; n > 0; n-- {
		start := at.Start + starts[n]
		if start == at.End {
			continue
		}
		if !isIdle(block[start:ends[len(ends)-1]]) {
			break
		}
		ends = append(ends, start)
	}
	kept := sort.Search(len(ends), func(n int) bool {
		return n > 0 && !b.reads(splice(block, markdown.Span{Start: ends[n], End: at.End}, ""))
	})
	return markdown.Span{Start: at.Start, End: ends[kept-1]}
}

// isIdle reports whether a line may be no part of the value above it: a blank
// one, a comment that is not indented, or the end of the document.
func isIdle(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	return len(line) == 0 || line[0] == '#' || string(line) == "..."
}

// reads reports whether another block has the same properties.
func (b *note) reads(block []byte) bool {
	got, err := Parse(block)
	return err == nil && same(got, b.properties)
}

// firstLine returns the first line of the entry at place, its break included.
func (b *note) firstLine(place int) markdown.Span {
	at := b.entries[place].Span
	starts := lineStarts(b.block()[at.Start:at.End])
	return markdown.Span{Start: at.Start, End: at.Start + starts[min(1, len(starts)-1)]}
}

// around returns what stays when the value of the property at place changes:
// what stands up to the colon of its key, and the comment at the end of that
// line with the blanks in front of it.
func (b *note) around(place int, first markdown.Span) (key, comment string) {
	line := b.block()[first.Start:first.End]
	colon, ok := behindKey(line)
	if !ok {
		return b.indent() + writtenKey(b.properties[place].Key) + ":", ""
	}
	return string(line[:colon]), b.comment(first, colon)
}

// behindKey returns where on its line a key ends, colon included. Keys that are
// more than a text are not read.
func behindKey(line []byte) (at int, ok bool) {
	at = len(line) - len(bytes.TrimLeft(line, " "))
	if at == len(line) || bytes.IndexByte([]byte("?&*!{["), line[at]) >= 0 {
		return 0, false
	}
	if mark := line[at]; mark == '"' || mark == '\'' {
		size := quotedSize(line[at:])
		if size == 0 {
			return 0, false
		}
		at += size
	}
	for ; at+1 < len(line); at++ {
		if line[at] == ':' && bytes.IndexByte([]byte(" \t\r\n"), line[at+1]) >= 0 {
			return at + 1, true
		}
	}
	return 0, false
}

// quotedSize returns the length of the text in quotes at the start of text, 0 if
// it does not end.
func quotedSize(text []byte) int {
	mark := text[0]
	for n := 1; n < len(text); n++ {
		switch {
		case text[n] == '\\' && mark == '"':
			n++
		case text[n] == mark && mark == '\'' && n+1 < len(text) && text[n+1] == mark:
			n++
		case text[n] == mark:
			return n + 1
		}
	}
	return 0
}

// maxMarks bounds how many marks on one line are tried for a comment: each
// takes a look at the whole block.
const maxMarks = 16

// comment returns the comment on a line of the block behind from, with the
// blanks in front of it. It is one if the block is the same without it.
func (b *note) comment(line markdown.Span, from int) string {
	block := b.block()
	text := bytes.TrimRight(block[line.Start:line.End], "\r\n")
	tried := 0
	for n := from; n < len(text) && tried < maxMarks; n++ {
		if text[n] != '#' || !isBlank(text[n-1]) {
			continue
		}
		tried++
		start := from + len(bytes.TrimRight(text[from:n], " \t"))
		span := markdown.Span{Start: line.Start + start, End: line.Start + len(text)}
		if b.reads(splice(block, span, "")) {
			return string(text[start:])
		}
	}
	return ""
}

// lineBreak returns the break of the line at at, or of the last line before it.
func lineBreak(text []byte, at int) string {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return breakBefore(text, at+n+1)
	}
	return "\n"
}

// breakBefore returns the line break that ends at at.
func breakBefore(text []byte, at int) string {
	if bytes.HasSuffix(text[:at], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func withBreaks(lines, end string) string { return strings.ReplaceAll(lines, "\n", end) }
