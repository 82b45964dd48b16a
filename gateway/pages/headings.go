package pages

import "strings"

// isHeading reports whether a line, with its end, is no row of the form.
func (f Form) isHeading(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	switch f {
	case Headed:
		return strings.HasPrefix(line, "==> ") && strings.HasSuffix(line, " <==")
	case Numbered:
		number, _, colon := strings.Cut(line, ":")
		return !colon || number == "" || strings.Trim(number, "0123456789") != ""
	}
	return false
}

func (f Form) hasHeadings() bool { return f == Headed || f == Numbered }

// rowsEnd returns the offset behind the given number of rows, the length of s if there
// are fewer.
func (f Form) rowsEnd(s string, rows int) int {
	end := 0
	for rows > 0 && end < len(s) {
		next := end + lineEnd(s[end:])
		if !f.isHeading(s[end:next]) {
			rows--
		}
		end = next
	}
	return end
}

// countRows counts the rows that begin in a part of a text, which begins at a line.
func (f Form) countRows(whole string, from, until int) int {
	part := whole[from:until]
	if !f.hasHeadings() {
		count := strings.Count(part, "\n")
		if part != "" && !strings.HasSuffix(part, "\n") {
			count++
		}
		return count
	}
	count := 0
	for from < until {
		next := from + lineEnd(whole[from:])
		if !f.isHeading(whole[from:next]) {
			count++
		}
		from = next
	}
	return count
}

// beforeHeadings returns where a page ends that would end at the end of s: before the
// headings there, whose rows are on the next page. A page of headings alone keeps them.
func (f Form) beforeHeadings(s string, end int) int {
	if !f.hasHeadings() || !strings.HasSuffix(s, "\n") {
		return end
	}
	for at := len(s); at > 0; {
		start := strings.LastIndexByte(s[:at-1], '\n') + 1
		if !f.isHeading(s[start:at]) {
			return end - (len(s) - at)
		}
		at = start
	}
	return end
}

// lineEnd returns the offset behind the first line of s.
func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}
