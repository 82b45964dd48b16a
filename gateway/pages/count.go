package pages

import "strings"

// Rows is what was seen of the rows of a text, so that it is not read again for them. The
// zero Rows is nothing.
type Rows struct {
	known           bool
	isJSON, isArray bool // of a text of form JSON
	count           int
}

// surveyed reads a text of form JSON.
func surveyed(text string) Rows {
	w := walk{s: text}
	return w.survey()
}

// survey reads the text.
func (w *walk) survey() Rows {
	isJSON := w.run()
	_, isArray := firstRow(w.s)
	if !isJSON || !isArray {
		return Rows{known: true, isJSON: isJSON}
	}
	return Rows{known: true, isJSON: true, isArray: true, count: w.rows}
}

// Whole is a text with what is known of it.
type Whole struct {
	Text string
	Form Form
	Rows Rows
}

// Counted returns the text with the number of its rows, see [CountRows].
func (w Whole) Counted() (counted Whole, count int) {
	if !w.Rows.known && w.Form == JSON {
		w.Rows = surveyed(w.Text)
	}
	if !w.Rows.known || w.Form == JSON && !w.Rows.isArray {
		w.Rows.known, w.Rows.count = true, CountRows(w.Text, w.Form, len(w.Text))
	}
	return w, w.Rows.count
}

// CountRows counts the rows that begin in the first bytes of a text: lines, records, or
// the elements of an array. until is the length of the text for all of them, or
// where a page begins. Other JSON is one row.
func CountRows(whole string, form Form, until int) (count int) {
	return Counted{}.Rows(whole, form, until)
}

// Counted is how many rows begin before a page of a text, so that they are not counted again
// for every page behind it. The zero Counted is that of the first page.
type Counted struct{ at, rows int }

// Before returns what is known of the page at a position before which so many rows begin, and
// false where it begins within a row.
func Before(whole string, form Form, at Position, rows int) (c Counted, ok bool) {
	ok = at.Until == 0 && 0 < at.At && at.At <= len(whole) && (!form.HasLines() || whole[at.At-1] == '\n')
	if !ok {
		return Counted{}, false
	}
	return Counted{at.At, rows}, true
}

// Rows is [CountRows] that goes on from what is known. What lies behind until is not known.
func (c Counted) Rows(whole string, form Form, until int) (count int) {
	until = min(until, len(whole))
	if c.at > until {
		c = Counted{}
	}
	count = c.rows
	switch form {
	case JSON:
		return count + countElements(whole, c.at, until)
	case CSV, BareCSV:
		for at := c.at; at < until; {
			end, rows := record(whole, form, at)
			at, count = end, count+rows
		}
		return count
	}
	return count + form.countRows(whole, c.at, until)
}

// countElements counts the elements of an array that begin behind an offset, which is 0 or that
// of one.
func countElements(whole string, at, until int) (count int) {
	if at == 0 {
		var ok bool
		if at, ok = firstRow(whole); !ok {
			return min(until, 1)
		}
	}
	for at < until && !strings.HasPrefix(whole[at:], "]") {
		_, next, ok := row(whole, at)
		if !ok {
			return count
		}
		at, count = next, count+1
	}
	return count
}
