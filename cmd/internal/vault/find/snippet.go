package find

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLine is how much of the line with the words a snippet shows, in bytes, around them.
const maxLine = 240

// Snippet returns the line of a result with most of the words that were found, each of these between two
// asterisks, and the lines around it, each of these shortened to a width in bytes. line is the number of
// that line, 0 where the result has none.
func (r Result) Snippet(context, width int) (text string, line int) {
	starts := []int{0}
	for i := range len(r.Section) {
		if r.Section[i] == '\n' && i+1 < len(r.Section) {
			starts = append(starts, i+1)
		}
	}
	lineOf := func(at int) int {
		i, found := slices.BinarySearch(starts, at)
		if !found {
			i--
		}
		return i
	}
	best, most := 0, 0
	for best < len(starts)-1 && strings.TrimSpace(r.Section[starts[best]:starts[best+1]]) == "" {
		best++ // without a mark the first line that is not empty
	}
	distinct := map[string]bool{}
	for i := 0; i < len(r.Marks); {
		at := lineOf(r.Marks[i].Start)
		clear(distinct)
		for ; i < len(r.Marks) && lineOf(r.Marks[i].Start) == at; i++ {
			distinct[strings.ToLower(r.Section[r.Marks[i].Start:r.Marks[i].End])] = true
		}
		if len(distinct) > most {
			best, most = at, len(distinct)
		}
	}
	first := max(0, best-context)
	last := min(len(starts)-1, best+context)
	var out []string
	for i := first; i <= last; i++ {
		from, to := starts[i], len(r.Section)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		most := width
		if i == best {
			most = maxLine
		}
		out = append(out, r.marked(from, to, most))
	}
	text = strings.Trim(strings.Join(out, "\n"), "\n")
	if r.Line == 0 {
		return text, 0
	}
	return text, r.Line + best
}

// marked returns a line of the section with its marks, shortened around the first of them.
func (r Result) marked(from, to, most int) string {
	for to > from && (r.Section[to-1] == '\n' || r.Section[to-1] == '\r') {
		to--
	}
	i, _ := slices.BinarySearchFunc(r.Marks, from, func(m Mark, at int) int { return m.Start - at })
	begin, end := from, to
	if to-from > most {
		if i < len(r.Marks) && r.Marks[i].Start < to {
			begin = max(from, r.Marks[i].Start-most/3)
		}
		end = min(to, begin+most)
		begin, end = runeStart(r.Section, begin), runeStart(r.Section, end)
	}
	var out strings.Builder
	if begin > from {
		out.WriteString("…")
	}
	at := begin
	for ; i < len(r.Marks) && r.Marks[i].End <= end; i++ {
		if r.Marks[i].Start < at {
			continue
		}
		out.WriteString(r.Section[at:r.Marks[i].Start] + "**" + r.Section[r.Marks[i].Start:r.Marks[i].End] + "**")
		at = r.Marks[i].End
	}
	out.WriteString(r.Section[at:end])
	if end < to {
		out.WriteString("…")
	}
	return out.String()
}

func runeStart(s string, at int) int {
	for at < len(s) && at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
