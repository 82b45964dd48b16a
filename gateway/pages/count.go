package pages

import "strings"

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
