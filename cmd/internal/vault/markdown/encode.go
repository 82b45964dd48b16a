package markdown

import (
	"encoding/binary"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/knowledge/cache/wire"
)

// How a link is written: bits of one number, with its style above them.
const (
	linkEmbeds = 1 << iota
	// linkSplits says that target is path and subpath, one behind the other,
	// as it is in all links but those of canvases.
	linkSplits
	linkStyle = iota // how far the style is shifted
)

// The fewest bytes that one of them is written in.
const (
	leastHeading = 4
	leastLink    = 7
	leastTag     = 3
	leastTask    = 5
	leastBlock   = 4
)

// last is what lies where in the element before. Places are written as the
// distance from there, which is short: lists are in the order of the text.
type last struct{ line, at int }

// AppendBinary writes n behind b, for [ReadNote].
func (n *Note) AppendBinary(b []byte) []byte {
	b = appendSpan(b, n.Frontmatter, 0)
	b = wire.AppendInt(b, n.Body)
	b = wire.AppendInt(b, n.BodyLine)
	b = wire.AppendInt(b, n.Size)
	b = wire.AppendSized(b, func(b []byte) []byte { return appendHeadings(b, n.Headings) })
	b = wire.AppendSized(b, func(b []byte) []byte { return appendLinks(b, n.Links) })
	b = wire.AppendSized(b, func(b []byte) []byte { return appendTags(b, n.Tags) })
	b = wire.AppendSized(b, func(b []byte) []byte { return appendTasks(b, n.Tasks) })
	return wire.AppendSized(b, func(b []byte) []byte { return appendBlocks(b, n.Blocks) })
}

// The lists of a note in the order in which they are written.
const (
	headingList = iota
	linkList
	tagList
	taskList
)

// Packed is what AppendBinary wrote. Each list can be read without the others.
type Packed string

// list returns the reader of one list.
func (p Packed) list(n int) *wire.Reader {
	r := wire.NewReader(string(p))
	for range numbers {
		r.Int()
	}
	for range n {
		r.Text()
	}
	return r.Sized()
}

// numbers is how many numbers stand in front of the lists.
const numbers = 5

// Headings returns the headings of the note, none if p is no packed note.
func (p Packed) Headings() []Heading { return readHeadings(p.list(headingList)) }

// Links returns the links of the note, none if p is no packed note.
func (p Packed) Links() []Link { return readLinks(p.list(linkList)) }

// EachLink visits the links of the note, none if p is no packed note. The link that visit
// is given changes after it.
func (p Packed) EachLink(visit func(*Link)) { eachLink(p.list(linkList), visit) }

// Tags returns the tags in the same way.
func (p Packed) Tags() []Tag { return readTags(p.list(tagList)) }

// AppendTagTexts writes the texts of the tags behind others.
func (p Packed) AppendTagTexts(texts []string) []string {
	r, l := p.list(tagList), last{}
	count := wire.Count(r, leastTag)
	texts = slices.Grow(texts, count)
	for range count {
		texts = append(texts, r.Text())
		l.read(r)
	}
	return texts
}

// Tasks returns the tasks in the same way.
func (p Packed) Tasks() []Task { return readTasks(p.list(taskList)) }

// ReadNote reads what AppendBinary wrote. The note is worthless if r fails.
func ReadNote(r *wire.Reader) Note {
	n := Note{Frontmatter: readSpan(r, 0), Body: r.Int(), BodyLine: r.Int(), Size: r.Int()}
	n.Headings = readList(r, readHeadings)
	n.Links = readList(r, readLinks)
	n.Tags = readList(r, readTags)
	n.Tasks = readList(r, readTasks)
	n.Blocks = readList(r, readBlocks)
	return n
}

func readList[T any](r *wire.Reader, read func(*wire.Reader) []T) []T {
	part := r.Sized()
	list := read(part)
	r.Check(part)
	return list
}

func appendSpan(b []byte, span Span, from int) []byte {
	b = wire.AppendInt(b, span.Start-from)
	return wire.AppendInt(b, span.End-span.Start)
}

func readSpan(r *wire.Reader, from int) Span {
	start := from + r.Int()
	return Span{start, start + r.Int()}
}

// append writes a place behind b, and remembers it.
func (l *last) append(b []byte, line, at int) []byte {
	b = wire.AppendInt(b, line-l.line)
	b = wire.AppendInt(b, at-l.at)
	*l = last{line, at}
	return b
}

// read reads a place, and remembers it.
func (l *last) read(r *wire.Reader) (line, at int) {
	*l = last{l.line + r.Int(), l.at + r.Int()}
	return l.line, l.at
}

func appendHeadings(b []byte, headings []Heading) []byte {
	b = wire.AppendCount(b, headings)
	l := last{}
	for _, h := range headings {
		b = wire.AppendInt(b, h.Level)
		b = wire.AppendText(b, h.Text)
		b = l.append(b, h.Line, h.At)
	}
	return b
}

func readHeadings(r *wire.Reader) []Heading {
	headings := wire.List[Heading](r, leastHeading)
	l := last{}
	for i := range headings {
		h := &headings[i]
		h.Level, h.Text = r.Int(), r.Text()
		h.Line, h.At = l.read(r)
	}
	return headings
}

func appendLinks(b []byte, links []Link) []byte {
	b = wire.AppendCount(b, links)
	l := last{}
	for i := range links {
		b = links[i].appendBinary(b)
		b = l.append(b, links[i].Line, links[i].Span.Start)
		b = wire.AppendInt(b, links[i].Span.End-links[i].Span.Start)
	}
	return b
}

func (l *Link) appendBinary(b []byte) []byte {
	form := uint64(l.Style) << linkStyle
	if l.Embed {
		form |= linkEmbeds
	}
	splits := len(l.Path)+len(l.Subpath) == len(l.Target) &&
		strings.HasPrefix(l.Target, l.Path) && strings.HasSuffix(l.Target, l.Subpath)
	if splits {
		form |= linkSplits
	}
	b = binary.AppendUvarint(b, form)
	b = wire.AppendText(b, l.Target)
	if splits {
		b = binary.AppendUvarint(b, uint64(len(l.Path)))
	} else {
		b = wire.AppendText(b, l.Path)
		b = wire.AppendText(b, l.Subpath)
	}
	return wire.AppendText(b, l.Display)
}

func readLinks(r *wire.Reader) []Link {
	links := wire.List[Link](r, leastLink)
	l := last{}
	for i := range links {
		links[i].readPlaced(r, &l)
	}
	return links
}

func eachLink(r *wire.Reader, visit func(*Link)) {
	l := last{}
	var link Link // one for all: each takes memory of its own otherwise
	for range wire.Count(r, leastLink) {
		link = Link{}
		link.readPlaced(r, &l)
		visit(&link)
	}
}

func (l *Link) readPlaced(r *wire.Reader, at *last) {
	l.read(r)
	l.Line, l.Span.Start = at.read(r)
	l.Span.End = l.Span.Start + r.Int()
}

func (l *Link) read(r *wire.Reader) {
	form := r.Uint()
	l.Style, l.Embed = LinkStyle(form>>linkStyle), form&linkEmbeds != 0
	l.Target = r.Text()
	if form&linkSplits == 0 {
		l.Path, l.Subpath = r.Text(), r.Text()
	} else if size := r.Uint(); size <= uint64(len(l.Target)) {
		l.Path, l.Subpath = l.Target[:size], l.Target[size:]
	} else {
		r.Fail()
	}
	l.Display = r.Text()
}

func appendTags(b []byte, tags []Tag) []byte {
	b = wire.AppendCount(b, tags)
	l := last{}
	for _, tag := range tags {
		b = wire.AppendText(b, tag.Text)
		b = l.append(b, tag.Line, tag.At)
	}
	return b
}

func readTags(r *wire.Reader) []Tag {
	tags := wire.List[Tag](r, leastTag)
	l := last{}
	for i := range tags {
		tags[i].Text = r.Text()
		tags[i].Line, tags[i].At = l.read(r)
	}
	return tags
}

func appendTasks(b []byte, tasks []Task) []byte {
	b = wire.AppendCount(b, tasks)
	l := last{}
	for _, task := range tasks {
		b = wire.AppendInt(b, int(task.Mark))
		b = wire.AppendText(b, task.Text)
		b = l.append(b, task.Line, task.MarkAt.Start)
		b = wire.AppendInt(b, task.MarkAt.End-task.MarkAt.Start)
	}
	return b
}

func readTasks(r *wire.Reader) []Task {
	tasks := wire.List[Task](r, leastTask)
	l := last{}
	for i := range tasks {
		task := &tasks[i]
		task.Mark, task.Text = rune(r.Int()), r.Text()
		task.Line, task.MarkAt.Start = l.read(r)
		task.MarkAt.End = task.MarkAt.Start + r.Int()
	}
	return tasks
}

func appendBlocks(b []byte, blocks []Block) []byte {
	b = wire.AppendCount(b, blocks)
	l := last{}
	for _, block := range blocks {
		b = wire.AppendText(b, block.ID)
		b = l.append(b, block.Line, block.Span.Start)
		b = wire.AppendInt(b, block.Span.End-block.Span.Start)
	}
	return b
}

func readBlocks(r *wire.Reader) []Block {
	blocks := wire.List[Block](r, leastBlock)
	l := last{}
	for i := range blocks {
		block := &blocks[i]
		block.ID = r.Text()
		block.Line, block.Span.Start = l.read(r)
		block.Span.End = block.Span.Start + r.Int()
	}
	return blocks
}
