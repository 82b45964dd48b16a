package pages

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// cutLines cuts a text whose rows are lines.
func cutLines(whole string, at int, limit Limit) Page {
	rest := whole[at:]
	end := len(rest)
	if end > limit.Bytes {
		end = cutBefore(rest, limit.Bytes)
	}
	if limit.Rows > 0 {
		end = lineEnd(rest[:end], limit.Rows)
	}
	page := Page{Text: rest[:end], Rows: countLines(rest[:end])}
	if at > 0 && whole[at-1] != '\n' { // the first line began on a page before
		page.Rows--
		page.Partial = true
	}
	if end < len(rest) {
		page.Next.At = at + end
		page.Partial = page.Partial || rest[end-1] != '\n'
	}
	return page
}

// lineEnd returns the offset behind the given number of lines, the length of s
// if there are fewer.
func lineEnd(s string, lines int) int {
	end := 0
	for ; lines > 0; lines-- {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return len(s)
		}
		end += i + 1
	}
	return end
}

// countLines counts the lines of s, of which the last one needs no newline.
func countLines(s string) int {
	count := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		count++
	}
	return count
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
