package vault

import (
	"bytes"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/markdown"
)

func sectionCommands() []command {
	return []command{{
		name: "note:section", about: "Read a part of a note",
		params: append(targetParams(), partParams()...),
		run:    readSection,
	}}
}

// partParams are the three ways to name a part of a note.
func partParams() []param {
	return []param{
		{name: "heading", hint: "text", about: "The section of this heading; A#B is B below A"},
		{name: "block", hint: "id", about: "The block with this id"},
		{name: "lines", hint: "n-m", about: "These lines"},
	}
}

// onePart refuses a request that names no part of a note, or several.
func onePart(p params) error {
	given := 0
	for _, way := range partParams() {
		if p.has(way.name) {
			given++
		}
	}
	switch given {
	case 0:
		return misuse("Missing required parameter: heading=<text>, block=<id> or lines=<n-m>")
	case 1:
		return nil
	}
	return misuse("Use heading=<text>, block=<id> or lines=<n-m>, not several.")
}

// readSection prints the bytes of one part of a note as they are. Its facts are
// those of the whole note, so that a change of the part can be tied to them.
func readSection(v *vault, p params) (reply, error) {
	t, text, err := v.markdownNote(p)
	if err != nil {
		return reply{}, err
	}
	if err := onePart(p); err != nil {
		return reply{}, err
	}
	found := markdown.Scan(text)
	var part markdown.Span
	switch {
	case p.has("heading"):
		part, err = headingSpan(found, p["heading"])
	case p.has("block"):
		part, err = blockSpan(found, p["block"])
	default:
		part, err = lineSpan(text, p["lines"])
	}
	if err != nil {
		return reply{}, err
	}
	return tell(t.path, text, string(text[part.Start:part.End])), nil
}

// headingSpan finds the section of a heading. Several of one name are told
// apart by those above them, or by their lines.
func headingSpan(found markdown.Note, wanted string) (markdown.Span, error) {
	i, err := edit.FindHeading(found, wanted)
	if err != nil {
		return markdown.Span{}, unedited(found, err)
	}
	return found.Section(i), nil
}

func blockSpan(found markdown.Note, id string) (markdown.Span, error) {
	block, ok := found.Block(strings.TrimPrefix(id, "^"))
	if !ok {
		return markdown.Span{}, notFound.failure("Block %q not found.", verbatim(id))
	}
	return block.Span, nil
}

// lineSpan finds the bytes of lines. The last one may lie behind the end of the
// note.
func lineSpan(text []byte, wanted string) (markdown.Span, error) {
	first, last, err := parseLines(wanted)
	if err != nil {
		return markdown.Span{}, err
	}
	start, ok := lineStart(text, 0, first-1)
	if !ok {
		return markdown.Span{}, notFound.failure("Line %q not found.", verbatim(strconv.Itoa(first)))
	}
	end, _ := lineStart(text, start, last-first+1)
	return markdown.Span{Start: start, End: end}, nil
}

// parseLines reads lines that are given as "12" or "12-20", counted from 1.
func parseLines(wanted string) (first, last int, err error) {
	from, to, several := strings.Cut(wanted, "-")
	if !several {
		to = from
	}
	first, err = strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || first < 1 || last < first {
		return 0, 0, misuse("Invalid lines: %s. Use <n> or <n-m>, counted from 1.", wanted)
	}
	return first, last, nil
}

// lineStart returns where the line begins that is n lines behind the one at
// from; the end of the text if there is none.
func lineStart(text []byte, from, n int) (at int, ok bool) {
	for ; n > 0; n-- {
		newline := bytes.IndexByte(text[from:], '\n')
		if newline < 0 {
			return len(text), false
		}
		from += newline + 1
	}
	return from, from < len(text)
}
