package pages

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// cutLines cuts a text whose rows are lines.
func cutLines(whole string, form Form, at int, limit Limit) Page {
	rest := whole[at:]
	end := len(rest)
	if end > limit.Bytes {
		end = cutBefore(rest, limit.Bytes)
	}
	begun := 0 // the end of the line that began on the page before
	if at > 0 && whole[at-1] != '\n' {
		begun = lineEnd(rest)
	}
	if limit.Rows > 0 && begun < end {
		end = begun + form.rowsEnd(rest[begun:end], limit.Rows)
	}
	if end < len(rest) {
		end = begun + form.beforeHeadings(rest[min(begun, end):end], end-begun)
	}
	page := Page{Text: rest[:end], Partial: begun > 0}
	if begun < end {
		page.Rows = form.countRows(whole, at+begun, at+end)
	}
	if end < len(rest) {
		page.Next.At = at + end
		page.Partial = page.Partial || rest[end-1] != '\n'
	}
	return page
}

// cutBefore returns where to cut a text that is longer than the limit: behind a
// line where that costs no more than an eighth, else between two clusters of
// characters.
func cutBefore(s string, limit int) int {
	if i := strings.LastIndexByte(s[:limit], '\n'); i >= limit-limit/8 {
		return i + 1
	}
	return clusterBefore(s, limit)
}

// clusterBefore returns the last border of a grapheme cluster up to the limit.
// A cluster that is larger than the limit is cut between two characters.
func clusterBefore(s string, limit int) int {
	end := limit
	for !isBorder(s, end) {
		end--
	}
	// Whether end is a border depends on the character behind it, and on no other.
	_, size := utf8.DecodeRuneInString(s[end:])
	from := certainBorder(s[:end])
	best := from
	clusters := graphemes.FromString(s[from : end+size])
	for clusters.Next() && from+clusters.End() <= end {
		best = from + clusters.End()
	}
	if best == 0 {
		return end
	}
	return best
}

// certainBorder returns the last place in s that is a border whatever stands
// around it, so that a long text need not be walked through from its start.
func certainBorder(s string) int {
	for i := len(s) - 1; i > 0; i-- {
		if s[i-1] < utf8.RuneSelf && s[i] < utf8.RuneSelf && isBorder(s, i) {
			return i
		}
	}
	return 0
}

// cutPiece cuts what does not fit on a page, up to at.Until. On its last page
// Next is at.Until, and the caller says what follows there.
func cutPiece(whole string, at Position, limit Limit) Page {
	rest := whole[at.At:at.Until]
	if len(rest) <= limit.Bytes {
		return Page{Text: rest, Next: Position{At: at.Until}, Partial: true}
	}
	cut := cutBefore(rest, limit.Bytes)
	return Page{Text: rest[:cut], Next: Position{at.At + cut, at.Until}, Partial: true}
}
