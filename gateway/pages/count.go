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
	until = min(until, len(whole))
	switch form {
	case JSON:
		return countElements(whole, until)
	case CSV, BareCSV:
		for at := 0; at < until; {
			end, rows := record(whole, form, at)
			at, count = end, count+rows
		}
		return count
	}
	return form.countRows(whole, 0, until)
}

func countElements(whole string, until int) (count int) {
	at, ok := firstRow(whole)
	if !ok {
		return min(until, 1)
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
