package pages

import "strings"

// cutRecords cuts CSV between two records.
func cutRecords(whole string, form Form, at Position, limit Limit) Page {
	if at.Until > 0 {
		return recordPiece(whole, at, limit)
	}
	page, end := Page{}, at.At
	for end < len(whole) && (limit.Rows == 0 || page.Rows < limit.Rows) {
		next, rows := record(whole, form, end)
		if next-at.At > limit.Bytes {
			if end > at.At {
				break
			}
			page = recordPiece(whole, Position{end, next}, limit)
			page.Rows = rows
			return page
		}
		page.Rows += rows
		end = next
	}
	page.Text = whole[at.At:end]
	if end < len(whole) {
		page.Next.At = end
	}
	return page
}

// recordPiece cuts a record that is larger than a page.
func recordPiece(whole string, at Position, limit Limit) Page {
	page := cutPiece(whole, at, limit)
	if page.Next.At == len(whole) {
		page.Next = Position{}
	}
	return page
}

// record returns the end of the record at an offset, with the empty lines before
// it, and how many rows that is: the heading counts as none, and so do empty
// lines at the end.
func record(s string, form Form, at int) (end, rows int) {
	start := skipBlank(s, at)
	switch {
	case start == len(s):
		return start, 0
	case form == CSV && at == 0:
		return recordEnd(s, start), 0
	}
	return recordEnd(s, start), 1
}

// skipBlank returns the offset behind the empty lines at an offset.
func skipBlank(s string, at int) int {
	for at < len(s) {
		end := lineBreak(s, at)
		if end == at {
			break
		}
		at = end
	}
	return at
}

// lineBreak returns the offset behind the end of a line at an offset, the offset
// itself if there is none. A return at the very end is one, as in encoding/csv.
func lineBreak(s string, at int) int {
	switch rest := s[at:]; {
	case rest == "\r":
		return at + 1
	case strings.HasPrefix(rest, "\n"):
		return at + 1
	case strings.HasPrefix(rest, "\r\n"):
		return at + 2
	}
	return at
}

// recordEnd returns the offset behind the record at an offset. Where quotation
// marks are not as they should be, it takes them as encoding/csv does with
// LazyQuotes: a field is quoted if it begins so, until a mark before a comma or
// the end of a line.
func recordEnd(s string, at int) int {
	for at < len(s) {
		if s[at] == '"' {
			at = quotedEnd(s, at+1)
		} else if i := strings.IndexAny(s[at:], ",\n"); i >= 0 {
			at += i
		} else {
			return len(s)
		}
		if end := lineBreak(s, at); end > at || at == len(s) {
			return end
		}
		at++ // the comma
	}
	return at
}

// quotedEnd returns the offset behind the closing mark of a quoted field, given
// that behind its opening mark.
func quotedEnd(s string, at int) int {
	for {
		i := strings.IndexByte(s[at:], '"')
		if i < 0 {
			return len(s)
		}
		at += i + 1
		switch {
		case at == len(s), s[at] == ',', lineBreak(s, at) > at:
			return at
		case s[at] == '"':
			at++
		}
	}
}
