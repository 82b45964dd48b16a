package edit

import (
	"bytes"
	"errors"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Where is the side of a part on which text is inserted.
type Where uint8

const (
	Before Where = iota // before the first line of a part
	After               // after its last line, sub-headings included
)

// surroundings names the parts of a note that consist of lines of a kind.
var surroundings = map[lineKind]string{tableRow: "a table", quoted: "a quote", listItem: "a list"}

// Insert returns the note with content on lines of its own before or after a part. A line break separates it
// from the adjacent lines if content has none, and a blank line does if they would otherwise merge, or if a
// heading follows. Next to a line (see [Lines]), no blank line is added. The blank lines at the end of a
// section stay after content. Within a table, quote or list, only content of the same kind can be inserted. The
// error is *[NotFound], *[Ambiguous] or *[Refusal].
func Insert(text []byte, where Where, t Target, content string) ([]byte, error) {
	d := read(text)
	span, err := d.span(t)
	if err != nil {
		return nil, err
	}
	at := span.End
	switch {
	case where == After && t.kind == heading:
		place, _ := FindHeading(d.note, t.name)
		at = d.sectionEnd(place)
	case where == After && t.kind == block:
		b, _ := d.note.Block(t.name)
		at = max(d.next(max(span.Start, span.End-1)), d.next(d.startOf(b.Line))) // an id may be below its block
	default:
		if where == Before {
			at = span.Start
		}
		for at > d.note.Body && at < len(d.text) && d.text[at-1] != '\n' {
			at-- // skip the marks before a block, and the blanks of a heading
		}
	}
	if kind := d.within(at); kind != blank && !fits(content, kind) {
		name := surroundings[kind]
		return nil, &Refusal{
			Line:    d.line(at),
			Reason:  "the place is inside " + name + ", and the text is not a part of it",
			Instead: d.around(at, kind),
		}
	}
	if t.kind == someLines {
		return d.insert(at, content, asLines)
	}
	return d.insert(at, content, asBlock)
}

// AppendUnder returns the note with content at the end of the text under a heading, before the next heading of
// any level. A line break separates it from the adjacent lines if content has none, and a blank line does if
// they would otherwise merge. The blank lines before the next heading stay after content. The error is
// *[NotFound], *[Ambiguous] or *[Refusal].
func AppendUnder(text []byte, heading, content string) ([]byte, error) {
	d := read(text)
	i, err := FindHeading(d.note, heading)
	if err != nil {
		return nil, err
	}
	h := d.note.Headings[i]
	if err := checkBelow(h, content); err != nil {
		return nil, err
	}
	limit := len(d.text)
	if i+1 < len(d.note.Headings) {
		limit = d.note.Headings[i+1].At
	}
	end := d.belowHeading(h) // offset after the last line that is not blank
	for at := end; at < limit && at < len(d.text); {
		next := d.next(at)
		if next <= limit && kindOf(d.lineAt(at)) != blank {
			end = next
		}
		at = next
	}
	return d.insert(end, content, asBlock)
}

// Levels of headings. A new heading without a level gets the default.
const (
	defaultLevel = 2
	lowestLevel  = 6
)

// AppendUnderMade is [AppendUnder], but creates the heading if the note has none with that name: at the end of
// the note, or for "A#B" at the end of the section of A. "# A" and "### A" specify the level. The error is
// *[Ambiguous] or *[Refusal].
func AppendUnderMade(text []byte, heading, content string) ([]byte, error) {
	edited, err := AppendUnder(text, heading, content)
	var missing *NotFound
	if !errors.As(err, &missing) {
		return edited, err
	}
	d := read(text)
	chain := strings.Split(strings.TrimLeft(heading, "#"), "#")
	level := len(heading) - len(strings.TrimLeft(heading, "#"))
	if level == 0 {
		level = defaultLevel
	}
	at := len(text)
	outline := NewOutline(d.note)
	for n := len(chain) - 1; n > 0; n-- {
		i, err := outline.Find(strings.Join(chain[:n], "#"))
		if err == nil {
			at = d.sectionEnd(i)
			level = d.note.Headings[i].Level + 1
			chain = chain[n:]
			break
		}
		if !errors.As(err, &missing) {
			return nil, err
		}
	}
	lines := ""
	if above, _, ok := d.lineBefore(at); ok && strings.TrimSpace(above) != "" {
		lines = "\n"
	}
	for i, name := range chain {
		name = strings.TrimSpace(name)
		if name == "" || strings.ContainsAny(name, "\r\n") {
			return nil, &Refusal{Line: d.line(len(d.text)), Reason: "a heading has one line with text"}
		}
		lines += strings.Repeat("#", min(level+i, lowestLevel)) + " " + name + "\n"
	}
	if edited, err = d.insert(at, lines+content, asBlock); err != nil {
		return nil, err
	}
	if _, err := FindHeading(markdown.Scan(edited), heading); err != nil {
		return nil, &Refusal{Line: d.line(at), Reason: "a heading with this text would not be found again"}
	}
	return edited, nil
}

// sectionEnd returns the offset of the end of a section, without the blank lines at its end.
func (d *doc) sectionEnd(i int) int {
	return d.next(len(bytes.TrimRight(d.text[:d.note.Section(i).End], " \t\r\n")))
}

// insertion is the way in which content is put on lines of its own.
type insertion int

const (
	asLines insertion = iota // lines of any kind
	// asBlock requires that the place is not inside code or the like, and that the rest of the note is parsed
	// as before.
	asBlock
)

// insert inserts content on lines of its own at the offset at.
func (d *doc) insert(at int, content string, how insertion) ([]byte, error) {
	if strings.Trim(content, "\r\n") == "" {
		return nil, &Refusal{Line: d.line(at), Reason: "there is no text to put there"}
	}
	isBlock := how == asBlock
	if isBlock && d.isRaw(at) {
		return nil, &Refusal{
			Line:   d.line(at),
			Reason: "the place is inside code, a comment or a formula that does not end before",
		}
	}
	end := d.lineEnd(at)
	lead := ""
	tail := ""
	switch {
	case at == len(d.text) && !endsLine(d.text):
		if at > 0 && string(d.text) != bom {
			lead = end
		}
	case !strings.HasSuffix(content, "\n"):
		tail = end
	}
	for _, blanks := range d.blankLines(at, content, how) {
		put := lead + strings.Repeat(end, blanks[0]) + content + tail + strings.Repeat(end, blanks[1])
		span := markdown.Span{Start: at, End: at}
		edited := read(d.splice(span, put))
		if d.keepsFront(edited) && (!isBlock || d.keeps(edited, span, len(put))) {
			return edited.text, nil
		}
	}
	return nil, &Refusal{Line: d.line(at), Reason: "with this text other parts of the note would be read differently"}
}

// blankLines returns the possible numbers of blank lines before and after content that is inserted at the offset
// at, best first. Code gets none.
func (d *doc) blankLines(at int, content string, how insertion) [][2]int {
	if how == asLines && d.isRaw(at) { // a block is never in code
		return [][2]int{{0, 0}}
	}
	before := 0
	after := 0
	lines := linesOf(content)
	if above, _, ok := d.lineBefore(at); ok && mustSeparate(above, lines[0], how) {
		before = 1
	}
	if at < len(d.text) && mustSeparate(lines[len(lines)-1], d.lineAt(at), how) {
		after = 1
	}
	numbers := [][2]int{{before, after}, {1, after}}
	if at < len(d.text) {
		numbers = append(numbers, [2]int{before, 1}, [2]int{1, 1})
	}
	return numbers
}

// mustSeparate reports whether a blank line is needed between two lines, one of which is inserted. A block must
// not merge with an adjacent paragraph, and is separated from a heading below it.
func mustSeparate(above, below string, how insertion) bool {
	a := kindOf(above)
	b := kindOf(below)
	switch a {
	case tableRow, quoted, listItem, indented:
		if b == plainText { // otherwise the text would become a part of what is above it
			return true
		}
	}
	if how != asBlock {
		return false
	}
	if a == plainText && b == plainText {
		return true
	}
	isHeading := b == marked && strings.HasPrefix(strings.TrimLeft(below, " "), "#")
	return isHeading && a != blank
}

// lineKind is the kind of a line, judged by its first characters.
type lineKind uint8

const (
	blank lineKind = iota
	plainText
	tableRow
	quoted
	listItem
	indented
	marked // a heading, fence or rule: it ends the block above
)

// isNumbered reports whether the first word of a line is the marker of a numbered list.
func isNumbered(mark string) bool {
	number := strings.TrimRight(mark, ".)")
	if number == "" || len(number) > 9 || len(mark) != len(number)+1 {
		return false
	}
	return strings.Trim(number, "0123456789") == ""
}

func kindOf(line string) lineKind {
	text := strings.TrimLeft(line, " \t")
	mark, _, _ := strings.Cut(text+" ", " ") // possibly the marker of a list item
	mark, _, _ = strings.Cut(mark, "\t")
	switch {
	case strings.TrimRight(text, " \t\r") == "":
		return blank
	case mark == "-", mark == "*", mark == "+", isNumbered(mark):
		return listItem
	case text[0] == '>':
		return quoted
	case text[0] == '|':
		return tableRow
	case len(text) < len(line):
		return indented
	case text[0] == '#' && strings.IndexByte(" \t#", (text + " ")[1]) >= 0,
		strings.HasPrefix(text, "```"),
		strings.HasPrefix(text, "~~~"):
		return marked
	}
	return plainText
}

// fits reports whether content can be inserted between two lines of a kind.
func fits(content string, kind lineKind) bool {
	for i, line := range linesOf(content) {
		k := kindOf(line)
		switch {
		case kind == listItem && i > 0:
			if k == plainText {
				return false
			}
		case kind == listItem && k == indented:
		case k != kind:
			return false
		}
	}
	return true
}

// within returns the kind of the table, quote or list that continues across the line that begins at the offset
// at; blank if there is none.
func (d *doc) within(at int) lineKind {
	above, start, ok := d.lineBefore(at)
	if !ok || at == len(d.text) {
		return blank
	}
	kind := kindOf(above)
	next := kindOf(d.lineAt(at))
	isOfItem := next == listItem || next == indented
	for kind == indented && isOfItem && ok {
		above, start, ok = d.lineBefore(start)
		kind = kindOf(above)
	}
	isSame := kind == next || kind == listItem && next == indented
	if !isSame || d.isRaw(at) {
		return blank
	}
	switch kind {
	case tableRow, quoted, listItem:
		return kind
	}
	return blank
}

// around returns the numbers of the first and the last line of the table, quote or list at the offset at. Text
// can be inserted before the first and after the last.
func (d *doc) around(at int, kind lineKind) []int {
	belongs := func(line string) bool {
		k := kindOf(line)
		return k == kind || kind == listItem && k == indented
	}
	first := at
	last := at
	for {
		line, start, ok := d.lineBefore(first)
		if !ok || !belongs(line) {
			break
		}
		first = start
	}
	for next := d.next(last); next < len(d.text) && belongs(d.lineAt(next)); next = d.next(last) {
		last = next
	}
	return []int{d.line(first), d.line(last)}
}

// isRaw reports whether the line that begins at the offset at is in code, a comment or a formula, so that a
// heading there would not count as one.
func (d *doc) isRaw(at int) bool {
	text := bytes.Clone(d.text[:at])
	if at > 0 && !endsLine(text) {
		text = append(text, '\n')
	}
	start := len(text)
	headings := markdown.Scan(append(text, "# x"...)).Headings
	return len(headings) == 0 || headings[len(headings)-1].At != start
}

// bom is the UTF-8 byte order mark, which some editors write at the start.
const bom = "\ufeff"

// Joint is the way in which added text is joined to a note.
type Joint int

// The joints.
const (
	OwnLine Joint = iota // on a line of its own
	Inline               // continues the existing line
)

// Append returns text with content at its end.
//
// On a line of its own, exactly one line break separates the two; it is added if text does not end in one.
// Always adding one would leave a blank line after every entry of a list. An empty text needs no separator.
func Append(text []byte, content string, joint Joint) []byte {
	edited := make([]byte, 0, len(text)+len("\r\n")+len(content))
	edited = append(edited, text...)
	// Even inline text must not be joined to the closing fence of the properties, or the note would lose them
	// all.
	isEmpty := len(bytes.TrimPrefix(text, []byte(bom))) == 0
	needsOwnLine := joint == OwnLine || endsInFrontmatter(text)
	if !isEmpty && needsOwnLine && !endsLine(text) {
		edited = append(edited, lineBreak(text)...)
	}
	return append(edited, content...)
}

// Prepend returns text with content before its body: after the properties if there are any, otherwise at the
// start.
//
// On a line of its own, a line break always follows content. The app also adds one to content that already ends
// in a line break.
func Prepend(text []byte, content string, joint Joint) []byte {
	body := markdown.BodyStart(text)
	edited := make([]byte, 0, len(text)+2*len("\r\n")+len(content))
	edited = append(edited, text[:body]...)
	if body == len(text) && endsInFrontmatter(text) && !endsLine(text) {
		edited = append(edited, lineBreak(text)...)
	}
	edited = append(edited, content...)
	if joint == OwnLine {
		edited = append(edited, lineBreak(text)...)
	}
	return append(edited, text[body:]...)
}

// endsInFrontmatter reports whether text consists only of a block of properties.
func endsInFrontmatter(text []byte) bool {
	start := markdown.BodyStart(text)
	return start == len(text) && start > len(bom)
}

// KeepLineEnds returns the text of a note after a change, with the inserted part converted to the line ends of
// the note before. converted is true if that made a difference. It only converts in a note most of whose lines
// end in CRLF.
func KeepLineEnds(before, after []byte) (result []byte, converted bool) {
	if !endsInCRLF(before) {
		return after, false
	}
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	end := len(after)
	for rest := len(before); rest > start && end > start && before[rest-1] == after[end-1]; {
		rest = rest - 1
		end = end - 1
	}
	result = append(make([]byte, 0, len(after)+bytes.Count(after[start:end], newline)), after[:start]...)
	for i, b := range after[start:end] {
		if at := start + i; b == '\n' && (at == 0 || after[at-1] != '\r') {
			result = append(result, '\r')
		}
		result = append(result, b)
	}
	if len(result) == end {
		return after, false
	}
	return append(result, after[end:]...), true
}

// endsInCRLF reports whether most lines of a text end in CRLF.
func endsInCRLF(text []byte) bool {
	return 2*bytes.Count(text, []byte("\r\n")) > bytes.Count(text, newline)
}

// lineBreak returns the line break of most lines in text; LF if there is none.
func lineBreak(text []byte) string {
	if endsInCRLF(text) {
		return "\r\n"
	}
	return "\n"
}

func endsLine(text []byte) bool { return bytes.HasSuffix(text, newline) }
