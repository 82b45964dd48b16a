package query

import (
	"bytes"
	"slices"

	"vaultwicket/cmd/internal/vault/query/trigram"
)

// kind is a way to divide a text.
type kind uint8

const (
	lines kind = iota
	blocks
	sections
	deepSections // with the sections of sub-headings
	tasks
	openTasks
	doneTasks
	kinds // how many there are
)

// part holds its term against every line, block, section or task alone.
type part struct {
	operator
	kind kind
}

func (p *part) match(s *search, in scope) bool {
	text, offset := s.in(in)
	if !s.spend(len(text)) || !p.term.possible(text) {
		return false
	}
	found := false
	s.divide(p.kind, span{offset, offset + len(text)}, func(piece span) bool {
		found = p.term.match(s, scope{span: piece}) || found
		return s.collects || !found
	})
	return found
}

// foresee is never sure of a match: there may be nothing to divide.
func (p *part) foresee(s *search, text trigram.Filter) Outlook {
	return min(Perhaps, p.term.foresee(s, text))
}

func (p *part) possible(text []byte) bool { return p.term.possible(text) }
func (p *part) cost() cost                { return max(splitsText, p.term.cost()) }
func (p *part) needsText() bool           { return true }

// divide calls do for every piece of a range until it says false. A piece that
// reaches beyond the range is cut.
func (s *search) divide(k kind, within span, do func(span) bool) {
	if k == lines {
		s.divideLines(within, do)
		return
	}
	pieces := s.piecesOf(k)
	first, _ := slices.BinarySearchFunc(pieces, within.start, func(piece span, start int) int {
		if piece.start >= start || k != deepSections && piece.end > start {
			return 1
		}
		return -1
	})
	for _, piece := range pieces[first:] {
		if piece.start >= within.end && piece.start > within.start {
			return
		}
		if !do(span{max(piece.start, within.start), min(piece.end, within.end)}) {
			return
		}
	}
}

func (s *search) divideLines(within span, do func(span) bool) {
	text := s.textOf()
	for start := within.start; start < within.end; {
		next := start + lineLength(text[start:within.end])
		line := bytes.TrimSuffix(text[start:next], []byte("\r"))
		if !do(span{start, start + len(line)}) {
			return
		}
		start = next + 1
	}
}

// piecesOf returns the pieces of the whole text, in their order.
func (s *search) piecesOf(k kind) []span {
	if s.hasParts[k] {
		return s.parts[k]
	}
	s.hasParts[k] = true
	switch k {
	case blocks:
		s.parts[k] = splitBlocks(s.textOf(), s.scanOf().Body)
	case sections:
		s.parts[k] = s.splitSections(func(int, int) bool { return true })
	case deepSections:
		s.parts[k] = s.splitSections(func(level, next int) bool { return next <= level })
	case tasks:
		s.parts[k] = s.splitTasks(func(rune) bool { return true })
	case openTasks:
		s.parts[k] = s.splitTasks(func(mark rune) bool { return mark == ' ' })
	case doneTasks:
		s.parts[k] = s.splitTasks(func(mark rune) bool { return mark != ' ' })
	}
	return s.parts[k]
}

// splitSections returns what stands before the first heading, and from each
// heading on what stands before the next one that ends its section.
func (s *search) splitSections(ends func(level, next int) bool) []span {
	text, headings := s.textOf(), s.scanOf().Headings
	starts := make([]int, 0, len(headings))
	line, at := 1, 0
	for _, h := range headings {
		for ; line < h.Line && at < len(text); line++ {
			at = min(at+lineLength(text[at:])+1, len(text))
		}
		starts = append(starts, at)
	}
	if len(starts) == 0 || starts[0] > 0 {
		first := append(slices.Clone(starts), len(text))[0]
		return append([]span{{0, first}}, sectionSpans(starts, len(text), func(i, j int) bool { return ends(headings[i].Level, headings[j].Level) })...)
	}
	return sectionSpans(starts, len(text), func(i, j int) bool { return ends(headings[i].Level, headings[j].Level) })
}

// sectionSpans returns the section of each heading. The open ones are kept on a
// stack, so that deep headings do not cost the square of their number.
func sectionSpans(starts []int, size int, ends func(i, j int) bool) []span {
	spans := make([]span, len(starts))
	var open []int
	for j, start := range starts {
		spans[j] = span{start, size}
		for len(open) > 0 && ends(open[len(open)-1], j) {
			spans[open[len(open)-1]].end = start
			open = open[:len(open)-1]
		}
		open = append(open, j)
	}
	return spans
}

// splitTasks returns the text of each task whose mark is wanted: from behind
// the box to the end of its block, so without the items below it.
func (s *search) splitTasks(wanted func(mark rune) bool) []span {
	blocks, size := s.piecesOf(blocks), len(s.textOf())
	var spans []span
	for _, t := range s.scanOf().Tasks {
		if !wanted(t.Mark) {
			continue
		}
		start := min(t.MarkAt.End+len("]"), size)
		end := start + lineLength(s.textOf()[start:])
		if i, _ := slices.BinarySearchFunc(blocks, start, func(b span, at int) int { return b.end - at }); i < len(blocks) && blocks[i].start <= start {
			end = max(end, blocks[i].end)
		}
		spans = append(spans, span{start, end})
	}
	return spans
}
