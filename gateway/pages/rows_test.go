package pages

import (
	"regexp"
	"strings"
)

var numberedLine = regexp.MustCompile(`^[0-9]+:`)

// rowsOf counts the rows of a whole, as a second statement of what the pages of it
// must have together: lines, records, or the elements of an array of JSON. Other JSON, and
// text that is not JSON, is one row. An empty text has none.
func rowsOf(whole string, form Form) int {
	switch {
	case whole == "":
		return 0
	case form == JSON:
		if rows := surveyed(whole); rows.isArray {
			return rows.count
		}
		return 1
	case form == CSV:
		count := 0
		for at := 0; at < len(whole); {
			next, rows := record(whole, at)
			at, count = next, count+rows
		}
		return count
	}
	rows := 0
	for line := range strings.Lines(whole) {
		line = strings.TrimRight(line, "\r\n")
		isArrow := strings.HasPrefix(line, "==> ") && strings.HasSuffix(line, " <==")
		if !(form == Headed && isArrow || form == Numbered && !numberedLine.MatchString(line)) {
			rows++
		}
	}
	return rows
}
