package guard

import (
	"bytes"
	"unicode/utf8"
)

// In HTML, XML, JSON and YAML a value can be named by its column, by an attribute or by another member: a table with the
// heading "password", <input name="password" value="…">, {"name": "DB_PASSWORD", "value": "…"}. Such a value is
// a secret as that of a property is.

var (
	// rowOfHTML begins a row of a table.
	rowOfHTML = lazily(`(?i)<tr\b[^<>]*>`)
	// cellOfHTML begins a cell of a table.
	cellOfHTML = lazily(`(?i)<t[hd]\b[^<>]*>`)
	// endOfRow ends a row or its table, and endOfTable a table.
	endOfRow   = lazily(`(?i)</?(?:tr|thead|tbody|tfoot|table)\b`)
	endOfTable = lazily(`(?i)</?table\b`)
	endOfCell  = lazily(`(?i)</?(?:td|th|tr|thead|tbody|tfoot|table)\b`)
	dataCell   = lazily(`(?i)<td\b`)
	aTag       = lazily(`<[^<>]*>`)
)

// mostOfRow is how many bytes a row of headings has at most.
const mostOfRow = 2 * longestValue

// htmlColumn calls each with the cells below the heading of a table in HTML that has a keyword from at to end. It is
// false if there is no such heading: a row of headings has nothing but headings.
func (s *scan) htmlColumn(at, end int, kind string, each func(from, to int, value []byte)) bool {
	if !s.isAfterTag(at) {
		return false
	}
	before := at
	for before > 0 && at-before < 40 && isCellByte[s.text[before-1]] {
		before--
	}
	if before == 0 || s.text[before-1] != '>' {
		return false
	}
	first := max(0, at-mostOfRow)
	rows := rowOfHTML().FindAllIndex(s.text[first:at], -1)
	s.charge(at - first)
	if len(rows) == 0 {
		return false
	}
	start := first + rows[len(rows)-1][1]
	rest := s.text[start:min(len(s.text), start+2*mostOfRow)]
	s.charge(len(rest))
	if over := endOfRow().FindIndex(rest); over != nil {
		rest = rest[:over[0]]
	}
	isHeadings := start+len(rest) >= end && !dataCell().Match(rest)
	if !isHeadings {
		return false
	}
	column := tableColumn{separator: '<', number: -1, kind: kind}
	for i, cell := range s.cellsOfHTML(start, start+len(rest)) {
		name := aTag().ReplaceAll(s.text[cell[0]:cell[1]], nil)
		if cell[0] <= at && end <= cell[1] && headingCell().Match(bytes.ReplaceAll(name, []byte("&nbsp;"), nil)) {
			column.number = i
		}
	}
	if column.number < 0 {
		return false
	}
	if !s.wasSearched(column, at) {
		s.cellsBelow(column, start+len(rest), each)
	}
	return true
}

// cellsBelow calls each with the texts in the cells of a column, from a place up to the end of the table.
func (s *scan) cellsBelow(column tableColumn, at int, each func(from, to int, value []byte)) {
	to := len(s.text)
	if over := endOfTable().FindIndex(s.text[at:]); over != nil {
		to = at + over[0]
	}
	s.charge(to - at)
	for at < to && s.err == nil {
		row := rowOfHTML().FindIndex(s.text[at:to])
		if row == nil {
			break
		}
		start := at + row[1]
		at = to
		if over := endOfRow().FindIndex(s.text[start:to]); over != nil {
			at = start + over[0]
		}
		cells := s.cellsOfHTML(start, at)
		if column.number < len(cells) {
			s.textsIn(cells[column.number], each)
		}
	}
	s.markSearched(column, to)
}

// cellsOfHTML returns where the cells of a row begin and end.
func (s *scan) cellsOfHTML(start, end int) (cells [][2]int) {
	for _, cell := range cellOfHTML().FindAllIndex(s.text[start:end], -1) {
		from := start + cell[1]
		to := end
		if over := endOfCell().FindIndex(s.text[from:end]); over != nil {
			to = from + over[0]
		}
		cells = append(cells, [2]int{from, to})
	}
	return cells
}

// textsIn calls each with the texts between the tags of a cell.
func (s *scan) textsIn(cell [2]int, each func(from, to int, value []byte)) {
	within := s.text[cell[0]:cell[1]]
	from := 0
	for _, tag := range append(aTag().FindAllIndex(within, -1), []int{len(within), len(within)}) {
		value := bytes.TrimSpace(within[from:tag[0]])
		if len(value) > 0 && len(value) <= longestPassword {
			start := cell[0] + from + bytes.Index(within[from:], value)
			each(start, start+len(value), value)
		}
		from = tag[1]
	}
}

var (
	// nameOf is what is in front of a name that is a value itself.
	nameOf = lazily(`(?i)(?:^|[\s{,<])["']?(?:name|key|id|type|label|field|title)["']?[ \t]*[:=][ \t]*["']?[\w.-]*$`)
	// valueOf is what is between such a name and its value: other members, other attributes; and the value.
	valueOf = lazily(`(?i)^[\w.-]{0,40}["']?` +
		`(?:[\s,>]+(?:"[\w-]+"\s*:\s*"[^"\r\n]*"|[\w-]+=(?:"[^"<>\r\n]*"|'[^'<>\r\n]*'|[^\s"'<>=]+)))*?` +
		`[\s,>]+["']?value["']?[ \t]*[:=][ \t]*(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'\[{|>,<][^\r\n,}<>]*))`)
	// textOf is what is between such an attribute and the text of its element.
	textOf = lazily(`^[\w.-]{0,40}["'][^<>\r\n]*>([^<>\r\n]+)</`)
)

// pair calls each with the value that belongs to a name which is a value itself, and has a keyword from at to end. It
// is false if there is none.
func (s *scan) pair(at, end int, each func(from, to int, value []byte)) bool {
	first := max(0, at-longestName)
	before := s.text[first:at]
	if !mayNameValue(before) {
		return false
	}
	s.charge(len(before))
	piece := s.text[end:min(len(s.text), end+longestValue)]
	isLonger := len(piece) > 0 && isWord(piece[0])
	isAbout := isLonger && keyAbout().Match(piece)
	if !nameOf().Match(before) || isAbout {
		return false
	}
	s.charge(2 * len(piece))
	m := valueOf().FindSubmatchIndex(piece)
	if m == nil && (bytes.LastIndexByte(before, '<') > bytes.LastIndexByte(before, '>')) {
		m = textOf().FindSubmatchIndex(piece)
	}
	if m == nil {
		return false
	}
	from, to := longest(m[2:])
	value := bytes.TrimRight(piece[from:to], " \t")
	if len(value) > longestPassword {
		return false
	}
	each(end+from, end+from+len(value), value)
	return true
}

// mayNameValue is a fast test for nameOf: it is false only where that cannot match.
func mayNameValue(before []byte) bool {
	at := len(before)
	for at > 0 && (isWordByte[before[at-1]] || before[at-1] == '-' || before[at-1] == '.') {
		at--
	}
	// Without regard to case, some letters that are no ASCII are like "s" and "k".
	if at > 0 && before[at-1] >= utf8.RuneSelf {
		return true
	}
	if at > 0 && (before[at-1] == '"' || before[at-1] == '\'') {
		at--
	}
	for at > 0 && (before[at-1] == ' ' || before[at-1] == '\t') {
		at--
	}
	return at > 0 && (before[at-1] == ':' || before[at-1] == '=')
}

// longestName is how many bytes a name and what is in front of it have at most.
const longestName = 64

// fieldRest is the rest of the name of an inline field, and its value.
var fieldRest = lazily(`^[\w-]{0,40}(?: [\w-]{1,20})?[*_]{0,3}::[ \t]+([^\r\n]*[^\s])`)

// inlineField calls each with the value of an inline field such as "password:: …", "[password:: …]". It is false if
// there is none. The piece is the rest of the line.
func (s *scan) inlineField(at, end int, piece []byte, each func(from, to int, value []byte)) bool {
	if !bytes.Contains(piece, []byte("::")) {
		return false
	}
	s.charge(len(piece))
	m := fieldRest().FindSubmatchIndex(piece)
	if m == nil || keyAbout().Match(piece) {
		return false
	}
	start := max(s.lineStart(at), at-longestName)
	open := bytes.LastIndexAny(s.text[start:at], "[(")
	closing := byte(0)
	if open >= 0 && s.text[start+open] == '[' {
		closing = ']'
	} else if open >= 0 {
		closing = ')'
	}
	value := piece[m[2]:m[3]]
	if n := bytes.IndexByte(value, closing); closing > 0 && n >= 0 {
		value = bytes.TrimRight(value[:n], " \t")
	} else if !s.isAlone(at) {
		return false
	}
	if len(value) == 0 || len(value) > longestPassword {
		return false
	}
	each(end+m[2], end+m[2]+len(value), value)
	return true
}
