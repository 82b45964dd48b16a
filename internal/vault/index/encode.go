package index

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// The facts about a note (its properties, links, headings …) are encoded as a sequence of numbers and texts, without
// types or names of fields: they are read in the order in which they are written. Everything that is read shares the
// memory of one string. The bytes are untrusted: lengths that exceed the remaining bytes are rejected, and nothing
// panics. Reading continues after an error and returns zero values, see [reader.done].

// Flags of an encoded link. They are the lowest bits of a number that has the style above them.
const (
	linkEmbeds = 1 << iota
	// linkSplits means that target is path followed by subpath, as in all links except those of
	// canvases.
	linkSplits
	linkStyleShift = iota // how many bits the style is shifted
)

// The first byte of an encoded value: its kind in the lowest bits, and flags for what else it has above them.
const (
	kindMask  = 0b111
	hasTruth  = 1 << 3
	hasNumber = 1 << 4
	hasText   = 1 << 5
	hasList   = 1 << 6
	hasFields = 1 << 7
)

// The minimum length in bytes of an encoded value and property.
const (
	minValue    = 1
	minProperty = 3
)

// position is the position of the previous element of a list. Positions are written as the distance from
// the previous one, which is short because lists are in the order of the text.
type position struct{ line, at int }

func (previous *position) append(b []byte, line, at int) []byte {
	b = appendInt(b, line-previous.line)
	b = appendInt(b, at-previous.at)
	*previous = position{line, at}
	return b
}

func (previous *position) read(r *reader) (line, at int) {
	*previous = position{previous.line + r.int(), previous.at + r.int()}
	return previous.line, previous.at
}

func (previous *position) appendSpan(b []byte, line int, span markdown.Span) []byte {
	return appendInt(previous.append(b, line, span.Start), span.End-span.Start)
}

func (previous *position) readSpan(r *reader) (line int, span markdown.Span) {
	line, span.Start = previous.read(r)
	span.End = span.Start + r.int()
	return line, span
}

// list describes the encoding of one list of a note.
type list[T any] struct {
	index   int // in the order in which the lists are written
	minSize int // minimum length in bytes of an encoded element
	write   func(b []byte, previous *position, element *T) []byte
	read    func(r *reader, previous *position, element *T)
}

var (
	headingList = list[markdown.Heading]{index: 0, minSize: 4, write: appendHeading, read: readHeading}
	linkList    = list[markdown.Link]{index: 1, minSize: 7, write: appendLink, read: readLink}
	tagList     = list[markdown.Tag]{index: 2, minSize: 3, write: appendTag, read: readTag}
	taskList    = list[markdown.Task]{index: 3, minSize: 5, write: appendTask, read: readTask}
	blockList   = list[markdown.Block]{index: 4, minSize: 4, write: appendBlock, read: readBlock}
	baseList    = list[markdown.Span]{index: 5, minSize: 2, write: appendBase, read: readBase}
)

func appendHeading(b []byte, previous *position, h *markdown.Heading) []byte {
	b = appendInt(b, h.Level)
	b = appendText(b, h.Text)
	return previous.append(b, h.Line, h.At)
}

func readHeading(r *reader, previous *position, h *markdown.Heading) {
	h.Level = r.int()
	h.Text = r.string()
	h.Line, h.At = previous.read(r)
}

// appendLink appends the target once if path and subpath are its two parts, as in most links.
func appendLink(b []byte, previous *position, l *markdown.Link) []byte {
	form := uint64(l.Style) << linkStyleShift
	if l.Embed {
		form |= linkEmbeds
	}
	splits := len(l.Path)+len(l.Subpath) == len(l.Target) &&
		strings.HasPrefix(l.Target, l.Path) && strings.HasSuffix(l.Target, l.Subpath)
	if splits {
		form |= linkSplits
	}
	b = binary.AppendUvarint(b, form)
	b = appendText(b, l.Target)
	if splits {
		b = binary.AppendUvarint(b, uint64(len(l.Path)))
	} else {
		b = appendText(b, l.Path)
		b = appendText(b, l.Subpath)
	}
	b = appendText(b, l.Display)
	return previous.appendSpan(b, l.Line, l.Span)
}

func readLink(r *reader, previous *position, l *markdown.Link) {
	form := r.uint()
	l.Style = markdown.LinkStyle(form >> linkStyleShift)
	l.Embed = form&linkEmbeds != 0
	l.Target = r.string()
	if form&linkSplits == 0 {
		l.Path = r.string()
		l.Subpath = r.string()
	} else if size := r.uint(); size <= uint64(len(l.Target)) {
		l.Path = l.Target[:size]
		l.Subpath = l.Target[size:]
	} else {
		r.fail()
	}
	l.Display = r.string()
	l.Line, l.Span = previous.readSpan(r)
}

func appendTag(b []byte, previous *position, tag *markdown.Tag) []byte {
	b = appendText(b, tag.Text)
	return previous.append(b, tag.Line, tag.At)
}

func readTag(r *reader, previous *position, tag *markdown.Tag) {
	tag.Text = r.string()
	tag.Line, tag.At = previous.read(r)
}

func appendTask(b []byte, previous *position, task *markdown.Task) []byte {
	b = appendInt(b, int(task.Mark))
	b = appendText(b, task.Text)
	return previous.appendSpan(b, task.Line, task.MarkAt)
}

func readTask(r *reader, previous *position, task *markdown.Task) {
	task.Mark = rune(r.int())
	task.Text = r.string()
	task.Line, task.MarkAt = previous.readSpan(r)
}

func appendBlock(b []byte, previous *position, block *markdown.Block) []byte {
	b = appendText(b, block.ID)
	return previous.appendSpan(b, block.Line, block.Span)
}

func readBlock(r *reader, previous *position, block *markdown.Block) {
	block.ID = r.string()
	block.Line, block.Span = previous.readSpan(r)
}

func appendBase(b []byte, _ *position, base *markdown.Span) []byte {
	b = appendInt(b, base.Start)
	return appendInt(b, base.End)
}

func readBase(r *reader, _ *position, base *markdown.Span) {
	base.Start = r.int()
	base.End = r.int()
}

// append appends the encoded size, the number and the elements of a list.
func (l list[T]) append(b []byte, elements []T) []byte {
	return appendSized(b, func(b []byte) []byte {
		b = appendCount(b, elements)
		previous := position{}
		for i := range elements {
			b = l.write(b, &previous, &elements[i])
		}
		return b
	})
}

// elements reads what append wrote after the size.
func (l list[T]) elements(r *reader) []T {
	elements := readList[T](r, l.minSize)
	previous := position{}
	for i := range elements {
		l.read(r, &previous, &elements[i])
	}
	return elements
}

// sized reads what append wrote, and makes r fail if the size does not fit.
func (l list[T]) sized(r *reader) []T {
	part := newReader(r.string())
	elements := l.elements(&part)
	if !part.done() {
		r.fail()
	}
	return elements
}

// numberCount is how many numbers precede the lists of a note.
const numberCount = 5

// appendNote appends the encoding of n, which [readNote] reads.
func appendNote(b []byte, n *markdown.Note) []byte {
	numbers := [numberCount]int{
		n.Frontmatter.Start,
		n.Frontmatter.End - n.Frontmatter.Start,
		n.Body,
		n.BodyLine,
		n.Size,
	}
	for _, number := range numbers {
		b = appendInt(b, number)
	}
	b = headingList.append(b, n.Headings)
	b = linkList.append(b, n.Links)
	b = tagList.append(b, n.Tags)
	b = taskList.append(b, n.Tasks)
	b = blockList.append(b, n.Blocks)
	return baseList.append(b, n.Bases)
}

// readNote reads a note that appendNote wrote. The result must not be used if r fails.
func readNote(r *reader) (n markdown.Note) {
	n.Frontmatter.Start = r.int()
	n.Frontmatter.End = n.Frontmatter.Start + r.int()
	n.Body = r.int()
	n.BodyLine = r.int()
	n.Size = r.int()
	n.Headings = headingList.sized(r)
	n.Links = linkList.sized(r)
	n.Tags = tagList.sized(r)
	n.Tasks = taskList.sized(r)
	n.Blocks = blockList.sized(r)
	n.Bases = baseList.sized(r)
	return n
}

// packed is a note as appendNote encodes it. Each list can be read without the others.
type packed string

// list returns a reader of the list with an index. The reader is empty if p is not a packed note.
func (p packed) list(index int) reader {
	r := newReader(string(p))
	for range numberCount {
		r.int()
	}
	for range index {
		r.string()
	}
	return newReader(r.string())
}

// appendProperties appends the encoding of p, which [readProperties] reads.
func appendProperties(b []byte, p frontmatter.Properties) []byte {
	b = appendCount(b, p)
	line := 0
	for _, property := range p {
		b = appendText(b, property.Key)
		b = appendValue(b, property.Value)
		b = appendInt(b, property.Line-line)
		line = property.Line
	}
	return b
}

// appendValue writes the parts of a value independently of its kind, so that every value is
// restored exactly.
func appendValue(b []byte, v frontmatter.Value) []byte {
	head := len(b)
	b = append(b, byte(v.Kind())&kindMask)
	if v.IsTrue() {
		b[head] |= hasTruth
	}
	if math.Float64bits(v.Float()) != 0 { // negative zero is not the zero value
		b[head] |= hasNumber
		b = appendFloat(b, v.Float())
	}
	if v.Text() != "" {
		b[head] |= hasText
		b = appendText(b, v.Text())
	}
	if list := v.List(); list != nil {
		b[head] |= hasList
		b = appendCount(b, list)
		for _, element := range list {
			b = appendValue(b, element)
		}
	}
	if fields := v.Fields(); fields != nil {
		b[head] |= hasFields
		b = appendProperties(b, fields)
	}
	return b
}

// readProperties reads properties that appendProperties wrote. It makes r fail at values that no note can
// contain, such as values that are nested deeper than depth.
func readProperties(r *reader, depth int) frontmatter.Properties {
	fields := readList[frontmatter.Property](r, minProperty)
	line := 0
	for i := range fields {
		key := r.string()
		value := readValue(r, depth)
		line += r.int()
		fields[i] = frontmatter.Property{Key: key, Value: value, Line: line}
	}
	return fields
}

func readValue(r *reader, depth int) frontmatter.Value {
	head := r.byte()
	p := frontmatter.Parts{Kind: frontmatter.Kind(head & kindMask), Truth: head&hasTruth != 0}
	isListAndMap := head&hasList != 0 && head&hasFields != 0
	if isListAndMap || p.Kind > frontmatter.Map || depth == 0 {
		r.fail()
		return frontmatter.Value{}
	}
	if head&hasNumber != 0 {
		p.Number = r.float()
	}
	if head&hasText != 0 {
		p.Text = r.string()
	}
	if head&hasList != 0 {
		p.List = readList[frontmatter.Value](r, minValue)
		for i := range p.List {
			p.List[i] = readValue(r, depth-1)
		}
	}
	if head&hasFields != 0 {
		p.Fields = readProperties(r, depth-1)
	}
	return p.Value()
}

// appendInt appends v. Small numbers of either sign are short.
func appendInt(b []byte, v int) []byte { return binary.AppendVarint(b, int64(v)) }

// appendText appends the length of a text in bytes, and the text.
func appendText(b []byte, text string) []byte {
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// appendFloat appends the bits of f.
func appendFloat(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// appendCount appends 0 for a nil list, otherwise the number of its elements plus 1.
func appendCount[T any](b []byte, list []T) []byte {
	if list == nil {
		return append(b, 0)
	}
	return binary.AppendUvarint(b, uint64(len(list))+1)
}

// appendSized appends the output of write after its length, so that a reader can skip it.
func appendSized(b []byte, write func([]byte) []byte) []byte {
	start := len(b)
	b = write(b)
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(b)-start))
	return slices.Insert(b, start, size[:n]...)
}

// reader reads encoded facts. After the first error, which is permanent, every method returns a zero value.
type reader struct {
	text string
	at   int
	// unclaimed is how many bytes no list has claimed for its elements. Nested lists share it:
	// otherwise each could claim all the remaining bytes.
	unclaimed int
	failed    bool
}

func newReader(text string) reader { return reader{text: text, unclaimed: len(text)} }

// done reports whether everything was read without an error.
func (r *reader) done() bool { return !r.failed && r.at == len(r.text) }

// fail records an error: the bytes end too early, or a value is invalid.
func (r *reader) fail() {
	r.failed = true
	r.at = len(r.text)
}

func (r *reader) byte() byte {
	if r.at >= len(r.text) {
		r.fail()
		return 0
	}
	b := r.text[r.at]
	r.at++
	return b
}

// uint reads a number that was written by binary.AppendUvarint.
func (r *reader) uint() uint64 {
	if r.at < len(r.text) && r.text[r.at] < 0x80 {
		r.at++
		return uint64(r.text[r.at-1])
	}
	return r.longUint()
}

// longUint is uint for more than one byte. It is separate so that uint is inlined.
func (r *reader) longUint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail()
	return 0
}

func (r *reader) int() int {
	v := r.uint()
	return int(int64(v>>1) ^ -int64(v&1))
}

func (r *reader) float() float64 {
	if len(r.text)-r.at < 8 {
		r.fail()
		return 0
	}
	var v uint64
	for i := range 8 {
		v |= uint64(r.text[r.at+i]) << (8 * i)
	}
	r.at += 8
	return math.Float64frombits(v)
}

func (r *reader) string() string {
	size := r.uint()
	if size > uint64(len(r.text)-r.at) {
		r.fail()
		return ""
	}
	start := r.at
	r.at += int(size)
	return r.text[start:r.at]
}

// readCount reads the number of elements of a list. minSize is the minimum length in bytes of an element,
// which is at least 1. ok is false for a nil list.
func (r *reader) readCount(minSize int) (n int, ok bool) {
	counted := r.uint()
	if counted == 0 {
		return 0, false
	}
	counted--
	if counted > uint64(r.unclaimed/minSize) {
		r.fail()
		return 0, false
	}
	r.unclaimed -= int(counted) * minSize
	return int(counted), true
}

// readList reads the number of elements of a list and makes a list of that length, or nil for a nil list.
func readList[T any](r *reader, minSize int) []T {
	n, ok := r.readCount(minSize)
	if !ok {
		return nil
	}
	return make([]T, n)
}
