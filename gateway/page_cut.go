package gateway

// Long answers are returned a page at a time. [cutForJSON] cuts a page from a text, [selectFields] removes fields
// that were not requested, and a [pageStore] keeps the text until the rest is fetched with a cursor.
//
// A page ends after a row: a line, a CSV record or an element of an array. If that is not possible it ends between
// two grapheme clusters. Nothing is parsed and written again: pages have the original bytes, so numbers, escapes and
// the order of keys stay as they were.
//
// The pages of an answer are stored in the gateway alone. The program that answered keeps nothing: the app and a
// process for one call cannot, and a worker may end between two pages, or see notes that have changed since, while a
// page must belong to the answer of its cursor. So a worker sends a listing whole. What is saved for the first page
// is not the transfer but the processing: the gateway searches and counts only as much of the answer as that page
// needs.
//
// This code does not know what a text means, and does not decide who may see it. Time and memory for a page depend
// on the page, not on the whole text: only the first page of a JSON text reads all of it, to find out whether it has
// rows.

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
)

// pageForm tells what the rows of a text are.
type pageForm uint8

const (
	// formText is the zero value: rows are lines. It fits every text: lists of paths, Markdown, trees, YAML, TSV.
	formText pageForm = iota
	// formJSON has the elements of an array as rows. Other JSON, and text that is not JSON, is one row.
	formJSON
	// formCSV has records as rows, without a heading. A record may contain line breaks within quotation marks.
	formCSV
	// formHeaded has lines as rows, in groups: a line "==> … <==" is the heading of the rows that follow, and not a
	// row.
	formHeaded
	// formNumbered has lines as rows that begin with a number and a colon. Every other line is the heading of the
	// rows that follow.
	formNumbered
	formCount
)

// minPageBytes is the minimum size of a page in bytes. A character and a pair of brackets fit into it.
const minPageBytes = 8

// pageLimit is the maximum size of a page; 0 means no limit.
type pageLimit struct {
	Bytes int // at least minPageBytes
	Rows  int
}

// pagePosition is where a page begins in a text. The zero position is the start; any other one comes from
// [pagePart.Next], possibly through a cursor.
type pagePosition struct {
	At int // offset in bytes
	// Until is the end of the row that contains At if that row is larger than a page. It is 0 at the start of a row,
	// and in a text whose rows are lines.
	Until int
}

// pagePart is one page of a text.
type pagePart struct {
	Text string
	// Next is where the next page begins, zero on the last page.
	Next pagePosition
	// Rows counts the rows that begin on this page. Each row of the text is counted on exactly one page.
	Rows int
	// Partial means that the page begins or ends within a row, so that a program cannot parse it on its own. A page
	// of JSON that is not Partial is valid JSON.
	Partial bool
}

// Last reports whether no page follows.
func (p pagePart) Last() bool { return p.Next == pagePosition{} }

// wholeAnswer is a text with what is known about its rows.
type wholeAnswer struct {
	Text string
	Form pageForm
	Rows compactedRows
}

// cutForJSON cuts a page that stays small when it is encoded as a JSON string, as in MCP: there a quotation mark, a
// line break and a tab take two characters each, and clients discard results that are much too long.
func cutForJSON(whole wholeAnswer, at pagePosition, limit pageLimit) (pagePart, error) {
	if whole.Form == formJSON && at == (pagePosition{}) && !whole.Rows.known {
		whole.Rows = surveyJSON(whole.Text) // once, for both cuts below
	}
	page, err := whole.cut(at, limit)
	if err != nil || limit.Bytes == 0 {
		return page, err
	}
	budget := limit.Bytes + limit.Bytes/8 // bytes of the encoded string
	for i := range len(page.Text) {
		switch b := page.Text[i]; {
		case b == '"', b == '\\', b == '\n', b == '\r', b == '\t':
			budget -= 2
		case b < ' ':
			budget -= len(`\u0000`)
		default:
			budget--
		}
		if budget < 0 {
			limit.Bytes = max(i, minPageBytes)
			return whole.cut(at, limit)
		}
	}
	return page, nil
}

// cut returns the page of a text that begins at a position. The text must be valid UTF-8, and the same for all its
// pages.
//
// The joined pages of a text and of CSV are the whole text, byte for byte. So are those of JSON that is not an
// array. The pages of an array are arrays with the rows in order, each with its own bytes and separators; together
// they contain the whole array.
//
// A page is within the limit. A row that is larger than a page is cut like text, and its pages are Partial. A
// grapheme cluster is cut only if it is larger than a page.
//
// The error is a [*failure.RequestError] about the limit or the position. A forged position is refused only if it is
// within a character or outside of the text.
func (w wholeAnswer) cut(at pagePosition, limit pageLimit) (pagePart, error) {
	switch {
	case limit.Bytes < 0, limit.Bytes > 0 && limit.Bytes < minPageBytes:
		return pagePart{}, failure.New(
			failure.CodeBadValue,
			"give a larger one, or none",
			"size of a page is %d bytes, which is below %d",
			limit.Bytes,
			minPageBytes,
		)
	case limit.Rows < 0:
		return pagePart{}, failure.New(
			failure.CodeBadValue,
			"give a number from 1, or none",
			"number of rows is %d, which is below zero",
			limit.Rows,
		)
	case limit.Bytes == 0:
		limit.Bytes = max(len(w.Text), minPageBytes)
	}
	if at == (pagePosition{}) && w.Form == formJSON {
		// Only for the first page the whole text is read. The rows of an array are then found without looking back.
		rows := w.Rows
		if !rows.known {
			rows = surveyJSON(w.Text)
		}
		count := rows.count
		if !rows.isArray {
			count = min(len(w.Text), 1)
		}
		switch {
		case len(w.Text) <= limit.Bytes && (limit.Rows == 0 || count <= limit.Rows):
			return pagePart{Text: w.Text, Rows: count, Partial: !rows.isJSON}, nil
		case !rows.isArray:
			page := formJSON.piece(w.Text, pagePosition{0, len(w.Text)}, limit)
			page.Rows = count
			return page, nil
		case count == 0:
			return pagePart{Text: "[]"}, nil // the array had only space in it
		}
		first, _ := firstRow(w.Text)
		return formJSON.cut(w.Text, first, limit), nil
	}
	if at == (pagePosition{}) {
		return w.Form.cut(w.Text, 0, limit), nil
	}
	isInRow := at.Until != 0
	reason := ""
	switch {
	case at.At < 0, at.At >= len(w.Text), isInRow && (at.Until <= at.At || at.Until > len(w.Text)):
		reason = "is outside of the answer"
	case isInRow && w.Form.HasLines():
		reason = "is of an answer of another form"
	case !isBorder(w.Text, at.At), isInRow && !isBorder(w.Text, at.Until):
		reason = "is within a character"
	case isInRow:
		return w.Form.piece(w.Text, at, limit), nil
	default:
		page := w.Form.cut(w.Text, at.At, limit)
		if w.Form == formJSON && !page.Partial && !json.Valid([]byte(page.Text)) { // the position is forged
			page = formJSON.piece(w.Text, pagePosition{at.At, len(w.Text)}, limit)
		}
		return page, nil
	}
	return pagePart{}, failure.New(failure.CodeBadValue, hintSendUnchanged, "position %s", reason)
}

// HasLines reports whether the rows are lines.
func (f pageForm) HasLines() bool { return f != formJSON && f != formCSV }

// cut cuts a page of whole rows, or of lines, from an offset on.
func (f pageForm) cut(whole string, at int, limit pageLimit) pagePart {
	if f.HasLines() {
		page, _ := f.fill(whole, at, f.row(f.window(whole, at, limit.Bytes), at), brackets{}, limit)
		return page
	}
	first := f.row(whole, at)
	around := []brackets{{}}
	if f == formJSON {
		around = []brackets{bracketsOf(whole), {"[", "]"}}
	}
	for _, b := range around {
		if page, ok := f.fill(whole, at, first, b, limit); ok {
			return page
		}
	}
	if !first.ok {
		first.end = len(whole)
	}
	page := f.piece(whole, pagePosition{at, first.end}, limit)
	page.Rows = first.count
	return page
}

// window returns the part of a text in which the rows of a page are searched. A line that is longer than the page is
// not read to its end.
func (f pageForm) window(whole string, at, size int) string {
	if f.HasLines() {
		return whole[:min(len(whole), at+size+1)]
	}
	return whole
}

// fill puts as many rows from an offset on as the limit permits between brackets. row is the first of them. ok is
// false if that row is too long, unless rows are lines: then it is cut.
func (f pageForm) fill(whole string, at int, row rowAt, around brackets, limit pageLimit) (page pagePart, ok bool) {
	space := limit.Bytes - len(around.open) - len(around.shut)
	window := f.window(whole, at, space)
	end := at
	next := at    // the end of the rows, with the headings after them
	lastRow := at // the end of the last row
	page.Partial = f.HasLines() && at > 0 && whole[at-1] != '\n'
	hasMore := func() bool { return next < len(whole) && (limit.Rows == 0 || page.Rows < limit.Rows) }
	for hasMore() && row.ok && row.end-at <= space {
		end = row.end
		next = row.next
		page.Rows += row.count
		if row.count > 0 {
			lastRow = end
		}
		if next < len(whole) {
			row = f.row(window, next)
		}
	}
	if f.HasLines() && hasMore() { // the next line is too long
		if cut := at + cutBefore(whole[at:], space); cut > end {
			if f.hasHeadings() { // a heading can only be recognised by its end
				row = f.row(whole, next)
			}
			end = cut
			page.Partial = true
			page.Rows += row.count
		} else if page.Rows > 0 && f.hasHeadings() {
			end = lastRow // put headings on the page of their rows
		}
		next = end
	}
	page.Text = around.open + whole[at:end] + around.shut
	if next < len(whole) {
		page.Next.At = next
	}
	return page, end > at
}

// piece cuts a page from a row that is larger than a page, or from a text that has no rows, up to at.Until.
func (f pageForm) piece(whole string, at pagePosition, limit pageLimit) pagePart {
	rest := whole[at.At:at.Until]
	if len(rest) > limit.Bytes {
		cut := cutBefore(rest, limit.Bytes)
		return pagePart{Text: rest[:cut], Next: pagePosition{at.At + cut, at.Until}, Partial: true}
	}
	page := pagePart{Text: rest, Partial: true}
	next := at.Until
	ok := true
	if f == formJSON && at.Until < len(whole) {
		next, ok = follow(whole, at.Until)
	}
	switch {
	case !ok: // the position is forged
		page.Next = pagePosition{at.Until, len(whole)}
	case next < len(whole):
		page.Next.At = next
	}
	return page
}

// cutBefore returns where to cut a text that is longer than the limit: after a line if that wastes no more than an
// eighth, otherwise at the last grapheme cluster boundary. A cluster that is larger than the limit is cut between
// two characters.
func cutBefore(s string, limit int) int {
	if i := strings.LastIndexByte(s[:limit], '\n'); i >= limit-limit/8 {
		return i + 1
	}
	end := limit
	for !isBorder(s, end) {
		end--
	}
	// Whether end is a boundary depends on the next character only, and there is a boundary between any two ASCII
	// characters, so a long text need not be scanned from its start.
	_, size := utf8.DecodeRuneInString(s[end:])
	from := end - 1
	for from > 0 && !isBetweenASCII(s, from) {
		from--
	}
	best := max(from, 0)
	from = best
	clusters := graphemes.FromString(s[from : end+size])
	for clusters.Next() && from+clusters.End() <= end {
		best = from + clusters.End()
	}
	if best == 0 {
		return end
	}
	return best
}

// isBetweenASCII reports whether an offset greater than 0 is a boundary between two ASCII characters.
func isBetweenASCII(s string, at int) bool {
	areASCII := s[at-1] < utf8.RuneSelf && s[at] < utf8.RuneSelf
	return areASCII && isBorder(s, at)
}

// isBorder reports whether s can be cut at an offset from 0 to its length: neither within a character nor between a
// carriage return and a line feed.
func isBorder(s string, at int) bool {
	for start := at - 1; start >= max(0, at-utf8.UTFMax+1); start-- {
		if utf8.RuneStart(s[start]) {
			_, size := utf8.DecodeRuneInString(s[start:])
			return start+size <= at && !strings.HasPrefix(s[at-1:], "\r\n")
		}
	}
	return true
}
