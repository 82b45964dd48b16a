package ranking

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// occurrence is a word of a section that answers a term.
type occurrence struct {
	term, word int // word: its number in the section
	weight     float64
	mark       Mark
}

// section returns where a section is, from 0 for the part before the first heading.
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

// Sections returns the texts of the sections.
func (c Content) Sections() (texts []string) {
	for i := range len(c.Headings) + 1 {
		from, to, _ := c.section(i)
		texts = append(texts, c.Text[from:to])
	}
	return texts
}

// bestSection returns the weight of the section that answers best, and describes it in r. Where none has a word
// that answers, it is a preferred one.
func (q *ranking) bestSection(c Content, preferred int, r *Result) (best float64) {
	best = -1
	start := c.Body
	end := c.Body
	var all []occurrence
	for i := range len(c.Headings) + 1 {
		from, to, heading := c.section(i)
		if from == to {
			continue
		}
		text := c.Text[from:to]
		all = all[:0]
		words := eachWritten(text, &q.shapes, func(written string, start, word int) {
			for _, m := range q.matchesOf(written) {
				all = append(all, occurrence{m.term, word, m.weight, Mark{start, start + len(written)}})
			}
		})
		score := 0.0
		if len(all) > 0 {
			score = q.section(all, words, heading)
		}
		isBetter := score > best && (len(all) > 0 || best < 0)
		isPreferred := score == 0 && best == 0 && i == preferred
		if isBetter || isPreferred {
			best = score
			start = from
			end = to
			r.Heading = heading
			r.Marks = nil
			for _, o := range all {
				if n := len(r.Marks); n == 0 || r.Marks[n-1] != o.mark {
					r.Marks = append(r.Marks, o.mark)
				}
			}
		}
	}
	if end-start > MaxSection { // it begins with the line of its first mark
		if len(r.Marks) > 0 {
			begin := strings.LastIndexByte(c.Text[start:start+r.Marks[0].Start], '\n') + 1
			if r.Marks[0].Start-begin > maxLine { // a line as long as a book
				begin = runeStart(c.Text[start:end], r.Marks[0].Start-maxLine)
			}
			for i := range r.Marks {
				r.Marks[i] = Mark{r.Marks[i].Start - begin, r.Marks[i].End - begin}
			}
			start += begin
		}
		end = start + runeStart(c.Text[start:end], min(end-start, MaxSection))
		r.Marks = slices.DeleteFunc(r.Marks, func(m Mark) bool { return m.End > end-start })
	}
	r.Section = strings.Clone(c.Text[start:end])
	r.Line = 1 + strings.Count(c.Text[:start], "\n")
	r.Heading = strings.Clone(r.Heading)
	return max(best, 0)
}

// section returns the weight of a section: BM25 over its words, and a bonus for the shortest run
// of words that has most terms.
func (q *ranking) section(all []occurrence, words int, heading string) (score float64) {
	tf := make([]float64, len(q.terms))
	strength := make([]float64, len(q.terms))
	for _, o := range all {
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
	last := make([]int, len(q.terms)) // word of the latest occurrence of each term, 0 for none
	for _, o := range all {
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
	if shortest == math.MaxInt { // some are in the heading alone
		return score
	}
	return score + nearness*weight*float64(distinct)/float64(max(distinct, shortest))
}

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
	best := 0
	most := 0
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
			best = at
			most = len(distinct)
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
	begin := from
	end := to
	if to-from > most {
		if i < len(r.Marks) && r.Marks[i].Start < to {
			begin = max(from, r.Marks[i].Start-most/3)
		}
		end = min(to, begin+most)
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

func runeStart(s string, at int) int {
	for at < len(s) && at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
