package pages

import "strings"

// cutJSON cuts an array between two rows, and other JSON as text.
func cutJSON(whole string, rows Rows, at Position, limit Limit) Page {
	switch {
	case at == Position{}:
		return cutJSONStart(whole, rows, limit)
	case at.Until > 0:
		return rowPiece(whole, at, limit)
	}
	return cutArray(whole, at.At, limit)
}

// cutJSONStart cuts the first page. It is the only one for which the whole is read: once
// this is known to be an array, its rows are found without looking back.
func cutJSONStart(whole string, rows Rows, limit Limit) Page {
	if !rows.known {
		rows = surveyed(whole)
	}
	count := rows.count
	if !rows.isArray {
		count = min(len(whole), 1)
	}
	fits := len(whole) <= limit.Bytes && (limit.Rows == 0 || count <= limit.Rows)
	switch {
	case fits:
		return Page{Text: whole, Rows: count, Partial: !rows.isJSON}
	case !rows.isArray:
		page := rowPiece(whole, Position{0, len(whole)}, limit)
		page.Rows = count
		return page
	case count == 0:
		return Page{Text: "[]"} // there was nothing but space in it
	}
	first, _ := firstRow(whole)
	return cutArray(whole, first, limit)
}

// cutArray cuts a page of the rows from an offset.
func cutArray(whole string, at int, limit Limit) Page {
	for _, around := range []brackets{bracketsOf(whole), {"[", "]"}} {
		page := around.fill(whole, at, limit)
		if page.Rows == 0 {
			continue
		}
		if !valid(page.Text) { // the position was made up
			return rowPiece(whole, Position{at, len(whole)}, limit)
		}
		return page
	}
	end, _, ok := row(whole, at)
	if !ok {
		end = len(whole)
	}
	page := rowPiece(whole, Position{at, end}, limit)
	page.Rows = 1
	return page
}

// rowPiece cuts a row that is larger than a page, or what cannot be cut into rows.
func rowPiece(whole string, at Position, limit Limit) Page {
	page := cutPiece(whole, at, limit)
	if page.Next.Until > 0 {
		return page
	}
	next, ok := follow(whole, at.Until)
	switch {
	case at.Until == len(whole), ok && next == len(whole):
		page.Next = Position{}
	case ok:
		page.Next.At = next
	default: // the position was made up
		page.Next.Until = len(whole)
	}
	return page
}

// brackets are what stands around the rows of an array, with the space there.
type brackets struct{ open, shut string }

// maxSpace is the length of brackets with their space that are shown on every
// page. More than an indentation is not worth its bytes.
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

// fill takes as many rows from an offset as fit between the brackets.
func (b brackets) fill(whole string, at int, limit Limit) (page Page) {
	space := limit.Bytes - len(b.open) - len(b.shut)
	end, next := at, at
	for next < len(whole) && (limit.Rows == 0 || page.Rows < limit.Rows) {
		rowEnd, after, ok := row(whole, next)
		if !ok || rowEnd-at > space {
			break
		}
		end, next = rowEnd, after
		page.Rows++
	}
	page.Text = b.open + whole[at:end] + b.shut
	if next < len(whole) {
		page.Next.At = next
	}
	return page
}
