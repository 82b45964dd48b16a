package guard

import (
	"bytes"
	"unicode/utf8"
)

// In HTML, XML, JSON and YAML, the name of a value may be the heading of its column, an attribute or another member:
// a table with the heading "password", <input name="password" value="…">, {"name": "DB_PASSWORD", "value": "…"}. Such
// a value is a secret like that of a property.

var (
	// htmlRow matches the start of a table row.
	htmlRow = lazily(`(?i)<tr\b[^<>]*>`)
	// htmlCell matches the start of a table cell.
	htmlCell = lazily(`(?i)<t[hd]\b[^<>]*>`)
	// endOfRow, endOfTable and endOfCell match the tags that end a row, table or cell, closed or not.
	endOfRow   = lazily(`(?i)</?(?:tr|thead|tbody|tfoot|table)\b`)
	endOfTable = lazily(`(?i)</?table\b`)
	endOfCell  = lazily(`(?i)</?(?:td|th|tr|thead|tbody|tfoot|table)\b`)
	dataCell   = lazily(`(?i)<td\b`)
	tagPattern = lazily(`<[^<>]*>`)
)

// longestHeadings is the maximum length of a row of headings in bytes.
const longestHeadings = 2 * longestValue

// htmlColumn calls each with the cells below the HTML table heading that contains the keyword at s.text[at:end]. It
// returns false if there is no such heading. A row of headings has no data cells.
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
	earliest := max(0, at-longestHeadings)
	rows := htmlRow().FindAllIndex(s.text[earliest:at], -1)
	s.charge(at - earliest)
	if len(rows) == 0 {
		return false
	}
	start := earliest + rows[len(rows)-1][1]
	rest := s.text[start:min(len(s.text), start+2*longestHeadings)]
	s.charge(len(rest))
	if rowEnd := endOfRow().FindIndex(rest); rowEnd != nil {
		rest = rest[:rowEnd[0]]
	}
	isHeadings := start+len(rest) >= end && !dataCell().Match(rest)
	if !isHeadings {
		return false
	}
	column := tableColumn{separator: '<', number: -1, kind: kind}
	for i, cell := range s.htmlCells(start, start+len(rest)) {
		name := tagPattern().ReplaceAll(s.text[cell[0]:cell[1]], nil)
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

// cellsBelow calls each with the texts in the cells of a column, from at to the end of the table.
func (s *scan) cellsBelow(column tableColumn, at int, each func(from, to int, value []byte)) {
	to := len(s.text)
	if over := endOfTable().FindIndex(s.text[at:]); over != nil {
		to = at + over[0]
	}
	s.charge(to - at)
	for at < to && s.err == nil {
		row := htmlRow().FindIndex(s.text[at:to])
		if row == nil {
			break
		}
		start := at + row[1]
		at = to
		if over := endOfRow().FindIndex(s.text[start:to]); over != nil {
			at = start + over[0]
		}
		cells := s.htmlCells(start, at)
		if column.number < len(cells) {
			s.textsIn(cells[column.number], each)
		}
	}
	s.markSearched(column, to)
}

// htmlCells returns the start and end of each cell of a row.
func (s *scan) htmlCells(start, end int) (cells [][2]int) {
	for _, cell := range htmlCell().FindAllIndex(s.text[start:end], -1) {
		from := start + cell[1]
		to := end
		if cellEnd := endOfCell().FindIndex(s.text[from:end]); cellEnd != nil {
			to = from + cellEnd[0]
		}
		cells = append(cells, [2]int{from, to})
	}
	return cells
}

// textsIn calls each with the texts between the tags of a cell.
func (s *scan) textsIn(cell [2]int, each func(from, to int, value []byte)) {
	within := s.text[cell[0]:cell[1]]
	from := 0
	for _, tag := range append(tagPattern().FindAllIndex(within, -1), []int{len(within), len(within)}) {
		value := bytes.TrimSpace(within[from:tag[0]])
		if len(value) > 0 && len(value) <= longestPassword {
			start := cell[0] + from + bytes.Index(within[from:], value)
			each(start, start+len(value), value)
		}
		from = tag[1]
	}
}

var (
	// nameLabel matches what precedes a name that is itself a value, as in {"name": "password"}, and its beginning.
	nameLabel = lazily(`(?i)(?:^|[\s{,<])["']?(?:name|key|id|type|label|field|title)["']?[ \t]*[:=][ \t]*["']?[\w.-]*$`)
	// valueAfter matches from such a name, over other members or attributes, to its value, which is one of the groups.
	valueAfter = lazily(`(?i)^[\w.-]{0,40}["']?` +
		`(?:[\s,>]+(?:"[\w-]+"\s*:\s*"[^"\r\n]*"|[\w-]+=(?:"[^"<>\r\n]*"|'[^'<>\r\n]*'|[^\s"'<>=]+)))*?` +
		`[\s,>]+["']?value["']?[ \t]*[:=][ \t]*(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'\[{|>,<][^\r\n,}<>]*))`)
	// textAfter matches from such an attribute to the text of its element, which is group 1.
	textAfter = lazily(`^[\w.-]{0,40}["'][^<>\r\n]*>([^<>\r\n]+)</`)
)

// pair calls each with the value that belongs to a name that is itself a value, and contains the keyword at
// s.text[at:end]. It returns false if there is none.
func (s *scan) pair(at, end int, each func(from, to int, value []byte)) bool {
	earliest := max(0, at-longestName)
	before := s.text[earliest:at]
	if !mayNameValue(before) {
		return false
	}
	s.charge(len(before))
	piece := s.text[end:min(len(s.text), end+longestValue)]
	continues := len(piece) > 0 && isWord(piece[0])
	isRemark := continues && remarkKey().Match(piece)
	if !nameLabel().Match(before) || isRemark {
		return false
	}
	s.charge(2 * len(piece))
	m := valueAfter().FindSubmatchIndex(piece)
	if m == nil && (bytes.LastIndexByte(before, '<') > bytes.LastIndexByte(before, '>')) {
		m = textAfter().FindSubmatchIndex(piece)
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

// mayNameValue is a fast check before nameLabel: it returns false only if that cannot match.
func mayNameValue(before []byte) bool {
	at := len(before)
	for at > 0 && (isWordByte[before[at-1]] || before[at-1] == '-' || before[at-1] == '.') {
		at--
	}
	// Case folding makes some non-ASCII letters equal to "s" and "k".
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

// longestName is the maximum length in bytes of a name and what precedes it.
const longestName = 64

// fieldRest matches the rest of the name of an inline field, and its value (group 1).
var fieldRest = lazily(`^[\w-]{0,40}(?: [\w-]{1,20})?[*_]{0,3}::[ \t]+([^\r\n]*[^\s])`)

// inlineField calls each with the value of an inline field such as "password:: …", "[password:: …]". It returns false if
// there is none. piece is the rest of the line after the keyword.
func (s *scan) inlineField(at, end int, piece []byte, each func(from, to int, value []byte)) bool {
	if !bytes.Contains(piece, []byte("::")) {
		return false
	}
	s.charge(len(piece))
	m := fieldRest().FindSubmatchIndex(piece)
	if m == nil || remarkKey().Match(piece) {
		return false
	}
	start := max(s.lineStart(at), at-longestName)
	open := bytes.LastIndexAny(s.text[start:at], "[(")
	closing := -1
	value := piece[m[2]:m[3]]
	switch {
	case open < 0:
	case s.text[start+open] == '[':
		closing = bytes.IndexByte(value, ']')
	default:
		closing = bytes.IndexByte(value, ')')
	}
	switch {
	case closing >= 0:
		value = bytes.TrimRight(value[:closing], " \t")
	case !s.isAlone(at):
		return false
	}
	if len(value) == 0 || len(value) > longestPassword {
		return false
	}
	each(end+m[2], end+m[2]+len(value), value)
	return true
}
