package clean

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s on one line, for messages, terminals and logs. What is not
// plainly printable stands there as in a Go string: \n, \x1b, \u200d, and \xff
// for a byte that is no UTF-8. That is stricter than [Text]: of spaces there is
// only the ordinary one, and joiners and selectors are escapes also where they
// belong, because a log is searched and compared. Letters of all scripts stay
// legible, so unlike %+q the result need not be ASCII; quotes and backslashes
// stay as they are, and Line leaves its own result alone.
func Line(s string) string {
	if isLine(s) {
		return s
	}
	var out strings.Builder
	from, marks := 0, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next := i + size
		if escaped := escapeInLine(r, s[i:next], &marks); escaped != "" {
			out.WriteString(s[from:i])
			out.WriteString(escaped)
			from = next
		}
		i = next
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// escapeInLine returns what stands for r, encoded as coded, "" for r itself.
func escapeInLine(r rune, coded string, marks *int) string {
	if r == utf8.RuneError && len(coded) == 1 {
		*marks = 0
		return fmt.Sprintf(`\x%02x`, coded[0])
	}
	if printable(r, marks) {
		return ""
	}
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// isLine reports whether s is printable ASCII, as messages mostly are.
func isLine(s string) bool {
	return asciiRun(s) == len(s) && !strings.ContainsAny(s, "\n\t")
}

const blankBraille = '\u2800' // printable by its category, and blank

// printable reports whether r is shown in a line; marks counts those in a row.
func printable(r rune, marks *int) bool {
	switch kindOf(r) {
	case mark:
		*marks++
		return *marks <= maxMarks && unicode.IsPrint(r)
	case plain, flag:
		*marks = 0
		return unicode.IsPrint(r) && r != blankBraille
	}
	*marks = 0
	return false
}
