package gateway

import "strings"

// rowAt is the row at an offset of a text.
type rowAt struct {
	end, next int  // where the row ends, and where the next one begins
	count     int  // 1 if it counts as a row; 0 for a heading, empty lines at the end, and a line that began before the offset
	ok        bool // false if there is no row, or if something other than a row follows in JSON
}

// row returns the row at an offset.
func (f pageForm) row(s string, at int) rowAt {
	switch f {
	case formJSON:
		end, next, ok := element(s, at)
		return rowAt{end, next, 1, ok}
	case formCSV:
		end, count := record(s, at)
		return rowAt{end, end, count, true}
	}
	row := rowAt{end: len(s), count: 1, ok: true}
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		row.end = at + i + 1
	}
	row.next = row.end
	isHeading := false
	if f.hasHeadings() {
		line := strings.TrimRight(s[at:row.end], "\r\n")
		number, _, hasColon := strings.Cut(line, ":")
		switch f {
		case formHeaded:
			isHeading = strings.HasPrefix(line, "==> ") && strings.HasSuffix(line, " <==")
		case formNumbered:
			isNumber := number != "" && strings.Trim(number, "0123456789") == ""
			isHeading = !hasColon || !isNumber
		}
	}
	if at > 0 && s[at-1] != '\n' || isHeading {
		row.count = 0
	}
	return row
}

func (f pageForm) hasHeadings() bool { return f == formHeaded || f == formNumbered }

// compactedRows describes the rows of a text, so that the text is read only once. The zero value means that nothing
// is known yet.
type compactedRows struct {
	known           bool
	isJSON, isArray bool // only for the form JSON
	count           int
}

// Counted returns the text with its rows counted, and their number, see [countedPage.Rows].
func (w wholeAnswer) Counted() (counted wholeAnswer, count int) {
	if !w.Rows.known && w.Form == formJSON {
		w.Rows = surveyJSON(w.Text)
	}
	if !w.Rows.known || w.Form == formJSON && !w.Rows.isArray {
		w.Rows.known = true
		w.Rows.count = countedPage{}.Rows(w.Text, w.Form, len(w.Text))
	}
	return w, w.Rows.count
}

// countedPage is how many rows begin before a page of a text, so that rows are counted only once for all pages. The
// zero value is that of the first page.
type countedPage struct{ at, rows int }

// countBefore returns the countedPage for a page at a position, given the number of rows that begin before it. ok is
// false if the page begins within a row.
func countBefore(whole string, form pageForm, at pagePosition, rows int) (c countedPage, ok bool) {
	isWithin := 0 < at.At && at.At <= len(whole)
	if at.Until != 0 || !isWithin {
		return countedPage{}, false
	}
	if form.HasLines() && whole[at.At-1] != '\n' {
		return countedPage{}, false
	}
	return countedPage{at.At, rows}, true
}

// Rows counts the rows that begin before the offset until, starting from what is known. until is the length of the
// text or the start of a page. JSON that is not an array is one row.
func (c countedPage) Rows(whole string, form pageForm, until int) (count int) {
	until = min(until, len(whole))
	if c.at > until {
		c = countedPage{}
	}
	at := c.at
	count = c.rows
	switch {
	case form == formText:
		part := whole[at:until]
		if count += strings.Count(part, "\n"); part != "" && !strings.HasSuffix(part, "\n") {
			count++
		}
		return count
	case form == formJSON && at == 0:
		first, isArray := firstRow(whole)
		if !isArray {
			return min(until, 1)
		}
		at = first
	}
	for at < until && !(form == formJSON && whole[at] == ']') {
		row := form.row(whole, at)
		if !row.ok {
			break
		}
		at = row.next
		count += row.count
	}
	return count
}

// RowEnd returns the end of the row in which at least atLeast bytes after the offset from are reached. from is the
// start of the text or the end of a row. If no further row follows, it returns the length of the text.
func (f pageForm) RowEnd(s string, from, atLeast int) int {
	at := from
	switch {
	case f == formJSON && from == 0:
		first, isArray := firstRow(s)
		if !isArray {
			return len(s)
		}
		at = first
	case f == formJSON:
		at, _ = follow(s, from)
	case f == formText && atLeast < len(s)-from: // skip the lines before it
		at = from + strings.LastIndexByte(s[from:from+max(atLeast, 1)-1], '\n') + 1
	}
	for at < len(s) {
		row := f.row(s, at)
		if !row.ok || row.next >= len(s) {
			break
		}
		if row.end-from >= atLeast {
			return row.end
		}
		at = row.next
	}
	return len(s)
}

// brackets are the opening and closing bracket of an array, with the space next to them.
type brackets struct{ open, shut string }

// maxSpace is the maximum length of brackets with their space that are repeated on every page. More than an
// indentation is not worth its bytes.
const maxSpace = 16

// bracketsOf returns the brackets of an array as they are written there.
func bracketsOf(whole string) brackets {
	own := brackets{"[", "]"}
	if first, ok := firstRow(whole[:min(len(whole), maxSpace+1)]); ok && first <= maxSpace {
		own.open = whole[:first]
	}
	tail := whole[max(0, len(whole)-maxSpace-1):]
	if rest, ok := strings.CutSuffix(strings.TrimRight(tail, space), "]"); ok {
		if shut := tail[len(strings.TrimRight(rest, space)):]; len(shut) <= maxSpace {
			own.shut = shut
		}
	}
	return own
}

// firstRow returns where the first row of an array begins, or would begin. ok is false if the text is not an array.
func firstRow(s string) (at int, ok bool) {
	at = skipSpace(s, 0)
	if at == len(s) || s[at] != '[' {
		return 0, false
	}
	return skipSpace(s, at+1), true
}

// element returns the end of the array element at an offset and where the next one begins, which is the length of s
// after the last one. ok is false if there is no element, or if something else follows it.
func element(s string, at int) (end, next int, ok bool) {
	end = valueEnd(s, at)
	if end == at {
		return at, at, false
	}
	next, ok = follow(s, end)
	return end, next, ok
}

// follow returns where the element after the end of another one begins. ok is false if something else follows.
func follow(s string, end int) (next int, ok bool) {
	at := skipSpace(s, end)
	switch {
	case at == len(s):
		return at, false
	case s[at] == ',':
		next = skipSpace(s, at+1)
		return next, next < len(s)
	case s[at] == ']':
		next = skipSpace(s, at+1)
		return next, next == len(s)
	}
	return at, false
}

// record returns the end of the CSV record at an offset, including empty lines before it, and the number of rows: 1,
// or 0 for empty lines at the end. Misplaced quotation marks are read as by encoding/csv with LazyQuotes: a field
// that begins with a mark is quoted up to a mark before a comma or the end of a line.
func record(s string, at int) (end, rows int) {
	for at < len(s) {
		next := lineBreak(s, at)
		if next == at {
			break
		}
		at = next
	}
	if at == len(s) {
		return at, 0
	}
	for at < len(s) {
		if s[at] == '"' {
			for at++; at < len(s); at++ { // to the closing mark; doubled marks are skipped
				i := strings.IndexByte(s[at:], '"')
				if i < 0 {
					at = len(s)
					break
				}
				if at += i + 1; at == len(s) || s[at] == ',' || lineBreak(s, at) > at {
					break
				}
			}
		} else if i := strings.IndexAny(s[at:], ",\n"); i >= 0 {
			at += i
		} else {
			return len(s), 1
		}
		if end := lineBreak(s, at); end > at || at == len(s) {
			return end, 1
		}
		at++ // the comma
	}
	return at, 1
}

// lineBreak returns the offset after the line break at an offset, or the offset itself if there is none. A carriage
// return at the very end is a line break, as in encoding/csv.
func lineBreak(s string, at int) int {
	switch rest := s[at:]; {
	case rest == "\r", strings.HasPrefix(rest, "\n"):
		return at + 1
	case strings.HasPrefix(rest, "\r\n"):
		return at + 2
	}
	return at
}
