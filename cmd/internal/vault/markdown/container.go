package markdown

// maxDepth bounds the nesting of quotes and list items: marks further in are text. Every
// line of a note looks at every open container.
const maxDepth = 32

// codeIndent is the indent that makes a line code where no list is open.
const codeIndent = 4

// container is an open quote, or a list item with the width of its mark.
type container struct{ item int }

// isQuote is true for the zero container.
func (c container) isQuote() bool { return c.item == 0 }

// cursor walks over the marks at the start of a line, counting columns, because a tab may
// be partly indent of one container and partly of its content.
type cursor struct {
	text    []byte
	at, end int
	column  int
	owed    int // columns of the tab before at that are not used up
}

// indent returns the columns of white space at the cursor and where it ends.
func (c *cursor) indent() (width, at int) {
	width = c.owed
	for at = c.at; at < c.end; at++ {
		switch c.text[at] {
		case ' ':
			width++
		case '\t':
			width += tabWidth(c.column + width - c.owed)
		default:
			return width, at
		}
	}
	return width, at
}

func tabWidth(column int) int { return 4 - column%4 }

// skip moves the cursor over columns of white space, as far as there are any.
func (c *cursor) skip(columns int) {
	for columns > 0 {
		if c.owed > 0 {
			n := min(c.owed, columns)
			c.owed -= n
			columns -= n
			continue
		}
		if c.at == c.end || !isBlank(c.text[c.at]) {
			return
		}
		width := 1
		if c.text[c.at] == '\t' {
			width = tabWidth(c.column)
		}
		c.at++
		c.column += width
		c.owed = width
	}
}

// jump moves the cursor over the white space and a mark that ends at at.
func (c *cursor) jump(width, mark, at int) {
	c.column += width - c.owed + mark
	c.at, c.owed = at, 0
}

func (c *cursor) blank() bool {
	_, at := c.indent()
	return at == c.end
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// match moves the cursor over the marks of the containers that the line
// continues and returns how many these are.
func (s *scanner) match(c *cursor) int {
	for n := range s.depth {
		width, at := c.indent()
		s.looked += at - c.at
		switch {
		case s.stack[n].isQuote():
			if at == c.end || c.text[at] != '>' || width >= codeIndent && !s.inItem(n) {
				return n
			}
			c.jump(width, 1, at+1)
			c.skip(1)
		case at < c.end:
			if width < s.stack[n].item {
				return n
			}
			c.skip(s.stack[n].item)
		}
	}
	return s.depth
}

// inItem reports whether one of the first n containers is a list item.
func (s *scanner) inItem(n int) bool {
	for _, c := range s.stack[:n] {
		if !c.isQuote() {
			return true
		}
	}
	return false
}

// open opens the container whose mark is at at, after width columns of white space, and
// moves the cursor after it; it reports false if there is none. A task takes the rest of
// its line.
func (s *scanner) open(c *cursor, width, at, matched int) bool {
	if matched == maxDepth {
		return false
	}
	if c.text[at] == '>' {
		s.enter(matched)
		s.push(container{}, at, c.end)
		c.jump(width, 1, at+1)
		c.skip(1)
		s.skipBlank(c)
		return true
	}
	mark := markerSize(c.text[at:c.end])
	if mark == 0 {
		return false
	}
	s.enter(matched)
	c.jump(width, mark, at+mark)
	inner, text := c.indent()
	pad := inner
	if inner > codeIndent || text == c.end {
		pad = 1
	}
	s.push(container{width + mark + pad}, at, c.end)
	c.skip(pad)
	if !s.task(at, text, c.end) {
		s.item = at
		s.skipBlank(c)
		return true
	}
	c.at = c.end
	return true
}

// skipBlank moves the cursor to the end of a line that has only blanks left.
func (s *scanner) skipBlank(c *cursor) {
	if c.blank() {
		c.at = c.end
	}
}

func (s *scanner) push(c container, at, end int) {
	s.stack[s.depth] = c
	s.depth++
	s.touch(paragraph, at, end)
}

// markerSize returns the length of the list mark at the start of line, or 0: a dash, star
// or plus, or up to nine digits with a dot or bracket, followed by white space or nothing.
func markerSize(line []byte) int {
	n := 0
	for n < len(line) && n < 9 && isDigit(line[n]) {
		n++
	}
	if n == len(line) {
		return 0
	}
	switch b := line[n]; {
	case n == 0 && (b == '-' || b == '*' || b == '+'):
	case n > 0 && (b == '.' || b == ')'):
	default:
		return 0
	}
	n++
	if n < len(line) && !isBlank(line[n]) {
		return 0
	}
	return n
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
