package edit

import (
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Where says on which side of a part text is put.
type Where uint8

const (
	// Before is in front of the first line of a part.
	Before Where = iota
	// After is behind its last line, sub-headings included.
	After
)

// Insert returns the note with content on lines of its own before or after a
// part. A line break parts it from what is around it, if content does not bring
// it, and a blank line where it would else become a part of that, or that of it, and from a
// heading below it; but at a line it is put as it is. The blank lines at the end of a section
// stay behind content. Within a table, quote or
// list only more of the same can be put. The errors are *[NotFound],
// *[Ambiguous] and *[Refusal].
func Insert(text []byte, where Where, t Target, content string) ([]byte, error) {
	d := read(text)
	span, err := d.span(t)
	if err != nil {
		return nil, err
	}
	at := d.side(where, t, span)
	if kind := d.within(at); kind != blank && !fits(content, kind) {
		return nil, &Refusal{
			Line: d.line(at), Reason: "the place is inside " + kind.String() + ", and the text is not a part of it",
			Instead: d.around(at, kind),
		}
	}
	return d.insert(at, content, t.kind != someLines)
}

// side returns where the line begins before which something is put.
func (d *doc) side(where Where, t Target, span markdown.Span) int {
	at := span.End
	switch {
	case where == Before:
		at = span.Start
	case t.kind == heading:
		return d.sectionEnd(d.headingAt(span.Start))
	case t.kind == block:
		b, _ := d.found.Block(t.name)
		return max(d.next(max(span.Start, span.End-1)), d.next(d.startOf(b.Line))) // an id that stands alone is below its block
	}
	for at > d.found.Body && at < len(d.text) && d.text[at-1] != '\n' {
		at-- // over the marks in front of a block, and the blanks of a heading
	}
	return at
}

func (k lineKind) String() string {
	switch k {
	case tableRow:
		return "a table"
	case quoted:
		return "a quote"
	}
	return "a list"
}

// insert puts content on lines of its own at at. If whole is set, the place must
// not be inside code or the like, and nothing else may be read differently
// afterwards.
func (d *doc) insert(at int, content string, whole bool) ([]byte, error) {
	if strings.Trim(content, "\r\n") == "" {
		return nil, &Refusal{Line: d.line(at), Reason: "there is no text to put there"}
	}
	if whole && d.isRaw(at) {
		return nil, &Refusal{Line: d.line(at), Reason: "the place is inside code, a comment or a formula that does not end before"}
	}
	end := d.lineEnd(at)
	lead, tail := "", ""
	switch {
	case at == len(d.text) && !d.endsLine():
		if at > d.front() {
			lead = end
		}
	case !strings.HasSuffix(content, "\n"):
		tail = end
	}
	for _, blanks := range d.blanks(at, content, whole) {
		put := lead + strings.Repeat(end, blanks[0]) + content + tail + strings.Repeat(end, blanks[1])
		edited := d.splice(markdown.Span{Start: at, End: at}, put)
		if d.keepsFront(edited) && (!whole || d.keeps(edited, markdown.Span{Start: at, End: at}, len(put))) {
			return edited, nil
		}
	}
	return nil, &Refusal{Line: d.line(at), Reason: "with this text other parts of the note would be read differently"}
}

// front is the length of a byte order mark.
func (d *doc) front() int { return len(d.text) - len(strings.TrimPrefix(string(d.text), "\ufeff")) }

// blanks are the numbers of blank lines to try before and after content, best
// first. If whole is set, content becomes no part of a paragraph beside it, and is apart from
// a heading below it.
func (d *doc) blanks(at int, content string, whole bool) [][2]int {
	first, last := 0, 0
	if d.isRaw(at) {
		return [][2]int{{0, 0}} // a line of code stands where it is put
	}
	all := linesOf(content)
	joins := func(above, below string) bool {
		a, b := kindOf(above), kindOf(below)
		heads := b == marked && strings.HasPrefix(strings.TrimLeft(below, " "), "#") && a != blank
		return parted(above, below) || whole && (heads || a == plainText && b == plainText)
	}
	if above, _, ok := d.lineBefore(at); ok && joins(above, all[0]) {
		first = 1
	}
	if at < len(d.text) && joins(all[len(all)-1], d.lineAt(at)) {
		last = 1
	}
	tries := [][2]int{{first, last}, {1, last}}
	if at < len(d.text) {
		tries = append(tries, [2]int{first, 1}, [2]int{1, 1})
	}
	return tries
}
