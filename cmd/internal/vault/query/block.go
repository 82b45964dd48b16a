package query

import "bytes"

// splitBlocks divides a text into the blocks of its Markdown: paragraphs, list
// items, headings, quotes, tables, and whole fences of code, math and comments.
// What stands before body is one block.
func splitBlocks(text []byte, body int) []span {
	b := blockSplitter{text: text}
	if body = min(body, len(text)); body > 0 {
		b.done = append(b.done, span{0, body})
	}
	for at := body; at < len(text); {
		end := at + lineLength(text[at:])
		b.line(span{at, end})
		at = end + 1
	}
	b.finish()
	return b.done
}

// blockSplitter takes a text line by line.
type blockSplitter struct {
	text    []byte
	done    []span
	current span
	open    bool // current is a block that may go on

	depth   int    // of the quote that current is in
	heading bool   // current is a heading
	until   []byte // what ends the fence that current is; empty if it is none
}

func (b *blockSplitter) line(at span) {
	if len(b.until) > 0 {
		rest, depth := unquote(b.text[at.start:at.end], b.depth)
		if depth == b.depth {
			b.current.end = at.end
			if closes(rest, b.until) {
				b.finish()
			}
			return
		}
		b.finish()
	}
	rest, depth := unquote(b.text[at.start:at.end], maxDepth)
	if len(rest) == 0 && depth == 0 {
		b.finish()
		return
	}
	until, heading := opens(rest), isHeading(rest)
	if len(until) > 0 || heading || b.heading || depth != b.depth || isItem(rest) {
		b.finish()
	}
	b.extend(at)
	b.depth, b.until, b.heading = depth, until, heading
}

func (b *blockSplitter) extend(line span) {
	if !b.open {
		b.current.start, b.open = line.start, true
	}
	b.current.end = line.end
}

func (b *blockSplitter) finish() {
	if b.open {
		b.done = append(b.done, b.current)
	}
	b.open, b.until, b.heading, b.depth = false, nil, false, 0
}

// unquote removes the marks of quotes, at most so many, and blanks around.
func unquote(line []byte, most int) (rest []byte, depth int) {
	rest = bytes.TrimSpace(line)
	for depth < most && len(rest) > 0 && rest[0] == '>' {
		rest = bytes.TrimSpace(rest[1:])
		depth++
	}
	return rest, depth
}

// opens returns what will close the fence that a line opens.
func opens(line []byte) []byte {
	for _, mark := range []string{"```", "~~~"} {
		if fence := bytes.TrimLeft(line, mark[:1]); len(line)-len(fence) >= len(mark) && !bytes.Contains(fence, []byte("`")) {
			return line[:len(line)-len(fence)]
		}
	}
	for _, marks := range [][2]string{{"$$", "$$"}, {"%%", "%%"}, {"<!--", "-->"}} {
		if rest, ok := bytes.CutPrefix(line, []byte(marks[0])); ok && !bytes.Contains(rest, []byte(marks[1])) {
			return []byte(marks[1])
		}
	}
	return nil
}

func closes(line, until []byte) bool {
	if until[0] != '`' && until[0] != '~' {
		return bytes.Contains(line, until)
	}
	return len(line) >= len(until) && len(bytes.Trim(line, string(until[:1]))) == 0
}

func isHeading(line []byte) bool {
	rest := bytes.TrimLeft(line, "#")
	level := len(line) - len(rest)
	return 1 <= level && level <= 6 && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
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
