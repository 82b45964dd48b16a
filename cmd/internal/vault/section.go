package vault

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/markdown"
)

func sectionCommands() []command {
	return []command{{
		name: "note:section", about: "Read a part of a note",
		params: append(targetParams(),
			param{name: "heading", hint: "text", about: "The section of this heading; A#B is B below A"},
			param{name: "block", hint: "id", about: "The block with this id"},
			param{name: "lines", hint: "n-m", about: "These lines"}),
		run: readSection,
	}}
}

// readSection prints the bytes of one part of a note as they are.
func readSection(v *vault, p params) (reply, error) {
	text, found, err := v.scanned(p)
	if err != nil {
		return reply{}, err
	}
	var part markdown.Span
	switch {
	case p.has("heading"):
		part, err = headingSpan(found, p["heading"])
	case p.has("block"):
		part, err = blockSpan(found, p["block"])
	case p.has("lines"):
		part, err = lineSpan(text, p["lines"])
	default:
		err = misuse("Missing required parameter: heading=<text>, block=<id> or lines=<n-m>")
	}
	if err != nil {
		return reply{}, err
	}
	return say(string(text[part.Start:part.End])), nil
}

// headingSpan finds the section of a heading. Several of one name are told
// apart by those above them, or by their lines.
func headingSpan(found markdown.Note, wanted string) (markdown.Span, error) {
	chain := strings.Split(strings.TrimLeft(wanted, "#"), "#")
	var places []int
	for i := range found.Headings {
		if headed(found.Headings[:i+1], chain) {
			places = append(places, i)
		}
	}
	switch len(places) {
	case 0:
		return markdown.Span{}, failure("Heading %q not found.", verbatim(wanted))
	case 1:
		return found.Section(places[0]), nil
	}
	var lines []string
	for _, i := range places {
		lines = append(lines, strconv.Itoa(found.Headings[i].Line))
	}
	return markdown.Span{}, failure("Heading %q is ambiguous: lines %s.", verbatim(wanted), strings.Join(lines, ", "))
}

// headed reports whether the last heading is the last of a chain and those
// above it are the others, from the bottom up; headings between may be left
// out.
func headed(headings []markdown.Heading, chain []string) bool {
	last := len(headings) - 1
	level := headings[last].Level
	if !sameHeading(headings[last].Text, chain[len(chain)-1]) {
		return false
	}
	rest := chain[:len(chain)-1]
	for i := last - 1; i >= 0 && len(rest) > 0; i-- {
		if headings[i].Level >= level {
			continue
		}
		level = headings[i].Level
		if sameHeading(headings[i].Text, rest[len(rest)-1]) {
			rest = rest[:len(rest)-1]
		}
	}
	return len(rest) == 0
}

// sameHeading compares as links do: case, punctuation and the width of blanks
// do not count.
func sameHeading(a, b string) bool { return plainHeading(a) == plainHeading(b) }

func plainHeading(s string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(letters), " ")
}

func blockSpan(found markdown.Note, id string) (markdown.Span, error) {
	block, ok := found.Block(strings.TrimPrefix(id, "^"))
	if !ok {
		return markdown.Span{}, failure("Block %q not found.", verbatim(id))
	}
	return block.Span, nil
}

// lineSpan finds lines that are given as "12" or "12-20", counted from 1. The
// last one may lie behind the end of the note.
func lineSpan(text []byte, wanted string) (markdown.Span, error) {
	from, to, several := strings.Cut(wanted, "-")
	if !several {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || first < 1 || last < first {
		return markdown.Span{}, misuse("Invalid lines: %s. Use <n> or <n-m>, counted from 1.", wanted)
	}
	start, ok := lineStart(text, 0, first-1)
	if !ok {
		return markdown.Span{}, failure("Line %q not found.", verbatim(from))
	}
	end, _ := lineStart(text, start, last-first+1)
	return markdown.Span{Start: start, End: end}, nil
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
