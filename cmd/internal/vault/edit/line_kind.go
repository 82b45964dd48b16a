package edit

import (
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// lineKind is what a line looks like by its first characters.
type lineKind uint8

const (
	blank lineKind = iota
	plainText
	tableRow
	quoted
	listItem
	indented
	marked // a heading, a fence, a rule: it ends whatever stands above
)

func kindOf(line string) lineKind {
	text := strings.TrimLeft(line, " \t")
	switch {
	case strings.TrimRight(text, " \t\r") == "":
		return blank
	case isListItem(text):
		return listItem
	case text[0] == '>':
		return quoted
	case text[0] == '|':
		return tableRow
	case len(text) < len(line):
		return indented
	case text[0] == '#' && strings.IndexByte(" \t#", (text + " ")[1]) >= 0, strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		return marked
	}
	return plainText
}

// isListItem reports whether text begins with the mark of a list item.
func isListItem(text string) bool {
	mark, _, _ := strings.Cut(text+" ", " ")
	mark, _, _ = strings.Cut(mark, "\t")
	number := strings.TrimRight(mark, ".)")
	switch {
	case mark == "-" || mark == "*" || mark == "+":
		return true
	case len(number) == 0 || len(number) > 9 || len(mark) != len(number)+1:
		return false
	}
	return strings.Trim(number, "0123456789") == ""
}

// parted reports whether two lines need a blank line between them, because the
// second would be taken for a part of what the first belongs to.
func parted(above, below string) bool {
	switch kindOf(above) {
	case tableRow, quoted, listItem, indented:
		return kindOf(below) == plainText
	}
	return false
}

// fits reports whether content can stand between two lines of a kind.
func fits(content string, kind lineKind) bool {
	for i, line := range linesOf(content) {
		k := kindOf(line)
		switch {
		case kind == listItem && i > 0:
			if k == plainText {
				return false
			}
		case kind == listItem && k == indented:
		case k != kind:
			return false
		}
	}
	return true
}

// within returns of what kind a table, quote or list is that reaches over at,
// where a line begins; blank if there is none.
func (d *doc) within(at int) lineKind {
	above, start, ok := d.lineBefore(at)
	if !ok || at == len(d.text) {
		return blank
	}
	kind, next := kindOf(above), kindOf(d.lineAt(at))
	for kind == indented && (next == listItem || next == indented) && ok {
		above, start, ok = d.lineBefore(start)
		kind = kindOf(above)
	}
	same := kind == next || kind == listItem && next == indented
	if !same || kind != tableRow && kind != quoted && kind != listItem || d.isRaw(at) {
		return blank
	}
	return kind
}

// around names the lines in front of which or behind which something can stand
// beside a table, quote or list: the first and the last of it.
func (d *doc) around(at int, kind lineKind) []Candidate {
	belongs := func(line string) bool {
		k := kindOf(line)
		return k == kind || kind == listItem && k == indented
	}
	first, last := at, at
	for {
		line, start, ok := d.lineBefore(first)
		if !ok || !belongs(line) {
			break
		}
		first = start
	}
	for next := d.next(last); next < len(d.text) && belongs(d.lineAt(next)); next = d.next(last) {
		last = next
	}
	return []Candidate{{d.line(first), d.lineAt(first)}, {d.line(last), d.lineAt(last)}}
}

// isRaw reports whether a line that begins at at stands in code, a comment or a
// formula: whether a heading there would be none.
func (d *doc) isRaw(at int) bool {
	text := append([]byte(nil), d.text[:at]...)
	if at > 0 && text[at-1] != '\n' {
		text = append(text, '\n')
	}
	start := len(text)
	found := markdown.Scan(append(text, "# x"...))
	n := len(found.Headings)
	return n == 0 || found.Headings[n-1].At != start
}
