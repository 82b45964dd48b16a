package ranking

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// occurrence is a word of a section that matches a term.
type occurrence struct {
	term, word int // word is its number in the section, from 1
	weight     float64
	mark       Mark
}

// section returns the range in bytes and the heading of a section. Section 0 is the part before the first heading.
func (c Content) section(i int) (from, to int, heading string) {
	from = c.Body
	to = len(c.Text)
	if i > 0 {
		from = c.Headings[i-1].At
		heading = c.Headings[i-1].Text
	}
	if i < len(c.Headings) {
		to = c.Headings[i].At
	}
	return from, max(from, to), heading
}

// Sections returns the texts of all sections, that before the first heading included.
func (c Content) Sections() (texts []string) {
	for i := range len(c.Headings) + 1 {
		from, to, _ := c.section(i)
		texts = append(texts, c.Text[from:to])
	}
	return texts
}

// bestSection returns the weight of the best section and describes the section in r. If no section has a matching
// word, it takes the preferred one.
func (q *ranking) bestSection(c Content, preferred int, r *Result) (best float64) {
	best = -1
	start := c.Body
	end := c.Body
	var occurrences []occurrence
	for i := range len(c.Headings) + 1 {
		from, to, heading := c.section(i)
		if from == to {
			continue
		}
		text := c.Text[from:to]
		occurrences = occurrences[:0]
		words := eachWritten(text, &q.shapes, func(written string, start, word int) {
			for _, m := range q.matchesOf(written) {
				occurrences = append(occurrences, occurrence{m.term, word, m.weight, Mark{start, start + len(written)}})
			}
		})
		score := 0.0
		if len(occurrences) > 0 {
			score = q.scoreSection(occurrences, words, heading)
		}
		isBetter := score > best && (len(occurrences) > 0 || best < 0)
		isPreferred := score == 0 && best == 0 && i == preferred
		if isBetter || isPreferred {
			best = score
			start = from
			end = to
			r.Heading = heading
			r.Marks = nil
			for _, o := range occurrences {
				if n := len(r.Marks); n == 0 || r.Marks[n-1] != o.mark {
					r.Marks = append(r.Marks, o.mark)
				}
			}
		}
	}
	if end-start > MaxSection {
		start, end = r.cut(c.Text, start, end)
	}
	r.Section = strings.Clone(c.Text[start:end])
	r.Line = 1 + strings.Count(c.Text[:start], "\n")
	r.Heading = strings.Clone(r.Heading)
	return max(best, 0)
}

// cut cuts a section, which is at a range of bytes of text, to MaxSection bytes from the line of its first mark, and
// adjusts the marks.
func (r *Result) cut(text string, start, end int) (from, to int) {
	if len(r.Marks) > 0 {
		begin := strings.LastIndexByte(text[start:start+r.Marks[0].Start], '\n') + 1
		if r.Marks[0].Start-begin > maxLine { // the line itself is very long
			begin = runeStart(text[start:end], r.Marks[0].Start-maxLine)
		}
		for i := range r.Marks {
			r.Marks[i] = Mark{r.Marks[i].Start - begin, r.Marks[i].End - begin}
		}
		start += begin
	}
	end = start + runeStart(text[start:end], min(end-start, MaxSection))
	r.Marks = slices.DeleteFunc(r.Marks, func(m Mark) bool { return m.End > end-start })
	return start, end
}

// scoreSection returns the weight of a section: BM25 over its words, and a bonus for the shortest run of words with
// all the terms that the section has.
func (q *ranking) scoreSection(occurrences []occurrence, words int, heading string) (score float64) {
	tf := make([]float64, len(q.terms))
	strength := make([]float64, len(q.terms))
	for _, o := range occurrences {
		tf[o.term] += o.weight
		strength[o.term] = max(strength[o.term], o.weight)
	}
	eachWritten(heading, &q.shapes, func(written string, _, _ int) {
		for _, m := range q.matchesOf(written) {
			tf[m.term] += 2 * m.weight
		}
	})
	distinct := 0
	weight := 0.0
	for i, t := range q.terms {
		if tf[i] > 0 {
			score += t.idf * tf[i] * (k1 + 1) / (tf[i] + k1*(1-b+b*float64(words)/150))
			distinct++
			weight += t.idf * strength[i]
		}
	}
	if distinct < 2 {
		return score
	}
	shortest := math.MaxInt
	last := make([]int, len(q.terms)) // number of the latest word for each term, 0 if there is none
	for _, o := range occurrences {
		last[o.term] = o.word
		first := math.MaxInt
		seen := 0
		for _, w := range last {
			if w > 0 {
				first = min(first, w)
				seen++
			}
		}
		if seen == distinct {
			shortest = min(shortest, o.word-first+1)
		}
	}
	if shortest == math.MaxInt { // some terms are only in the heading
		return score
	}
	return score + nearness*weight*float64(distinct)/float64(max(distinct, shortest))
}

// maxLine is the maximum length in bytes of the line with the matching words in a snippet.
const maxLine = 240

// Snippet returns the line of a result with the most different matching words, and context lines before and after it,
// which are shortened to width bytes. Matching words are between double asterisks. line is the number of that line,
// or 0 if the result has no line number.
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
	best := 0
	mostWords := 0
	for best < len(starts)-1 && strings.TrimSpace(r.Section[starts[best]:starts[best+1]]) == "" {
		best++ // by default the first line that is not empty
	}
	distinct := map[string]bool{}
	for i := 0; i < len(r.Marks); {
		at := lineOf(r.Marks[i].Start)
		clear(distinct)
		for ; i < len(r.Marks) && lineOf(r.Marks[i].Start) == at; i++ {
			distinct[strings.ToLower(r.Section[r.Marks[i].Start:r.Marks[i].End])] = true
		}
		if len(distinct) > mostWords {
			best = at
			mostWords = len(distinct)
		}
	}
	first := max(0, best-context)
	last := min(len(starts)-1, best+context)
	var out []string
	for i := first; i <= last; i++ {
		from := starts[i]
		to := len(r.Section)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		limit := width
		if i == best {
			limit = maxLine
		}
		out = append(out, r.markedLine(from, to, limit))
	}
	text = strings.Trim(strings.Join(out, "\n"), "\n")
	if r.Line == 0 {
		return text, 0
	}
	return text, r.Line + best
}

// markedLine returns a line of the section with its marks, shortened to limit bytes around the first mark.
func (r Result) markedLine(from, to, limit int) string {
	for to > from && (r.Section[to-1] == '\n' || r.Section[to-1] == '\r') {
		to--
	}
	i, _ := slices.BinarySearchFunc(r.Marks, from, func(m Mark, at int) int { return m.Start - at })
	begin := from
	end := to
	if to-from > limit {
		if i < len(r.Marks) && r.Marks[i].Start < to {
			begin = max(from, r.Marks[i].Start-limit/3)
		}
		end = min(to, begin+limit)
		begin = runeStart(r.Section, begin)
		end = runeStart(r.Section, end)
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

// runeStart returns the offset of the character that an offset is in.
func runeStart(s string, at int) int {
	for at < len(s) && at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
