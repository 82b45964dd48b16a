package search

import (
	"bytes"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// kind is a kind of pieces into which a text is divided.
type kind uint8

const (
	lines kind = iota
	blocks
	sections
	deepSections // with their subsections
	tasks
	openTasks
	doneTasks
	kindCount
)

// part matches if its term matches within one line, block, section or task.
type part struct {
	operator
	kind kind
}

func (p *part) match(s *search, in scope) bool {
	text, offset := s.textIn(in)
	if !s.spend(len(text)) || !p.possible(text) {
		return false
	}
	found := false
	try := func(start, end int) (more bool) {
		found = p.node.match(s, scope{span: span{start, end}}) || found
		return s.collects || !found
	}
	if p.kind == lines {
		for start := 0; start < len(text); {
			next := start + lineLength(text[start:])
			line := bytes.TrimSuffix(text[start:next], []byte("\r"))
			if !try(offset+start, offset+start+len(line)) {
				break
			}
			start = next + 1
		}
		return found
	}
	within := span{offset, offset + len(text)}
	pieces := s.piecesOf(p.kind)
	first, _ := slices.BinarySearchFunc(pieces, within.start, func(piece span, start int) int {
		if piece.start >= start || p.kind != deepSections && piece.end > start {
			return 1
		}
		return -1
	})
	for _, piece := range pieces[first:] {
		isBehind := piece.start >= within.end && piece.start > within.start
		if isBehind {
			break
		}
		if !try(max(piece.start, within.start), min(piece.end, within.end)) {
			break
		}
	}
	return found
}

// foresee returns at most Perhaps: the note may have no such piece.
func (p *part) foresee(s *search, text index.Trigrams) Outlook {
	return min(Perhaps, p.node.foresee(s, text))
}

func (p *part) cost() cost { return max(splitsText, p.node.cost()) }

// piecesOf returns the pieces of a kind of the whole text, in order.
func (s *search) piecesOf(k kind) []span {
	if s.hasParts[k] {
		return s.parts[k]
	}
	s.hasParts[k] = true
	switch k {
	case blocks:
		s.parts[k] = splitBlocks(s.textOf(), s.scanOf().Body)
	case sections, deepSections:
		s.parts[k] = s.splitSections(k)
	default:
		s.parts[k] = s.splitTasks(k)
	}
	return s.parts[k]
}

// splitSections returns the text before the first heading, and for each heading the text up to the
// heading that ends its section: the next one of any level or, for deepSections, of no lower level.
func (s *search) splitSections(k kind) []span {
	text := s.textOf()
	headings := s.scanOf().Headings
	starts := make([]int, 0, len(headings))
	line := 1
	at := 0
	for _, h := range headings {
		for ; line < h.Line && at < len(text); line++ {
			at = min(at+lineLength(text[at:])+1, len(text))
		}
		starts = append(starts, at)
	}
	// Open sections are kept on a stack, so that deeply nested headings do not take quadratic time.
	spans := make([]span, len(starts))
	var open []int
	for j, start := range starts {
		spans[j] = span{start, len(text)}
		for len(open) > 0 {
			last := open[len(open)-1]
			isSubsection := headings[j].Level > headings[last].Level
			if k == deepSections && isSubsection {
				break
			}
			spans[last].end = start
			open = open[:len(open)-1]
		}
		open = append(open, j)
	}
	switch {
	case len(starts) == 0:
		return []span{{0, len(text)}}
	case starts[0] > 0:
		return slices.Insert(spans, 0, span{0, starts[0]})
	}
	return spans
}

// splitTasks returns the text of each task of a kind: from its box to the end of its block, without
// nested items.
func (s *search) splitTasks(k kind) []span {
	blocks := s.piecesOf(blocks)
	size := len(s.textOf())
	var spans []span
	for _, t := range s.scanOf().Tasks {
		isOpen := t.Mark == ' '
		isOther := k == openTasks && !isOpen || k == doneTasks && isOpen
		if isOther {
			continue
		}
		start := min(t.MarkAt.End+len("]"), size)
		end := start + lineLength(s.textOf()[start:])
		i, _ := slices.BinarySearchFunc(blocks, start, func(b span, at int) int { return b.end - at })
		if i < len(blocks) && blocks[i].start <= start {
			end = max(end, blocks[i].end)
		}
		spans = append(spans, span{start, end})
	}
	return spans
}

// splitBlocks divides a text into its Markdown blocks: paragraphs, list items, headings, quotes,
// tables, and whole fences of code, math and comments. The text before the offset body is a block.
func splitBlocks(text []byte, body int) []span {
	var b blockSplitter
	body = min(body, len(text))
	if body > 0 {
		b.done = append(b.done, span{0, body})
	}
	for at := body; at < len(text); {
		end := at + lineLength(text[at:])
		b.addLine(text[at:end], span{at, end})
		at = end + 1
	}
	b.finish()
	return b.done
}

// blockSplitter divides a text into blocks, line by line.
type blockSplitter struct {
	done      []span
	current   span
	isOpen    bool   // current may go on
	isHeading bool   // current is a heading
	quotes    int    // number of quote marks before the lines of current
	fence     []byte // text that ends current, if current is a fence
}

// finish ends the current block, if there is one.
func (b *blockSplitter) finish() {
	if b.isOpen {
		b.done = append(b.done, b.current)
	}
	*b = blockSplitter{done: b.done}
}

// addLine adds a line, which is at a span of the text.
func (b *blockSplitter) addLine(line []byte, at span) {
	if len(b.fence) > 0 {
		rest, quotes := unquote(line, b.quotes)
		if quotes == b.quotes {
			b.current.end = at.end
			if b.closesFence(rest) {
				b.finish()
			}
			return
		}
		b.finish()
	}
	rest, quotes := unquote(line, maxDepth)
	if len(rest) == 0 && quotes == 0 {
		b.finish()
		return
	}
	isHeading := isHeading(rest)
	fence := closingFence(rest)
	beginsBlock := isHeading || len(fence) > 0 || isItem(rest) || quotes != b.quotes
	if beginsBlock || b.isHeading {
		b.finish()
	}
	if !b.isOpen {
		b.isOpen = true
		b.current.start = at.start
	}
	b.current.end = at.end
	b.quotes = quotes
	b.fence = fence
	b.isHeading = isHeading
}

// closesFence reports whether a line ends the current fence.
func (b *blockSplitter) closesFence(line []byte) bool {
	mark := b.fence[0]
	if mark == '`' || mark == '~' {
		isOnlyMarks := len(bytes.Trim(line, string(mark))) == 0
		return isOnlyMarks && len(line) >= len(b.fence)
	}
	return bytes.Contains(line, b.fence)
}

// isHeading reports whether a line without quote marks is a heading.
func isHeading(line []byte) bool {
	marks := len(line) - len(bytes.TrimLeft(line, "#"))
	isApart := marks == len(line) || line[marks] == ' ' || line[marks] == '\t'
	return 1 <= marks && marks <= 6 && isApart
}

// unquote removes up to maxMarks quote marks and surrounding blanks from a line, and returns how many
// marks it removed.
func unquote(line []byte, maxMarks int) (rest []byte, depth int) {
	rest = bytes.TrimSpace(line)
	for depth < maxMarks && len(rest) > 0 && rest[0] == '>' {
		rest = bytes.TrimSpace(rest[1:])
		depth++
	}
	return rest, depth
}

// closingFence returns the text that ends the fence that a line opens, or nil if it opens none.
func closingFence(line []byte) []byte {
	for _, mark := range []string{"```", "~~~"} {
		rest := bytes.TrimLeft(line, mark[:1])
		length := len(line) - len(rest)
		if length >= len(mark) && !bytes.Contains(rest, []byte("`")) {
			return line[:length]
		}
	}
	for _, marks := range [][2]string{{"$$", "$$"}, {"%%", "%%"}, {"<!--", "-->"}} {
		rest, isOpened := bytes.CutPrefix(line, []byte(marks[0]))
		if isOpened && !bytes.Contains(rest, []byte(marks[1])) {
			return []byte(marks[1])
		}
	}
	return nil
}

// isItem reports whether a line begins a list item.
func isItem(line []byte) bool {
	rest := bytes.TrimLeft(line, "0123456789")
	marks := "-*+"
	if len(rest) < len(line) {
		marks = ".)"
	}
	if len(rest) == 0 || bytes.IndexByte([]byte(marks), rest[0]) < 0 {
		return false
	}
	return len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t'
}

// span is the range of bytes from start up to but not including end.
type span struct{ start, end int }

// lineLength returns the length of the first line of text without its line break.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}
