package edit

import (
	"fmt"
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/markdown"
)

// FindHeading returns the place of the one heading of a note that is meant;
// "A#B" is B below A. Case and punctuation do not count. The errors are
// *[NotFound] and *[Ambiguous].
func FindHeading(found markdown.Note, wanted string) (int, error) {
	chain := strings.Split(strings.TrimLeft(wanted, "#"), "#")
	all, last := &Ambiguous{What: "heading", Wanted: wanted}, 0
	for i, h := range found.Headings {
		if headed(found.Headings[:i+1], chain) {
			all.add(h.Line, h.Text)
			last = i
		}
	}
	switch all.Count {
	case 0:
		return 0, &NotFound{What: "heading", Wanted: wanted}
	case 1:
		return last, nil
	}
	return 0, all
}

// headed reports whether the last heading is the last of a chain and those
// above it are the others, from the bottom up; headings between may be left
// out.
func headed(headings []markdown.Heading, chain []string) bool {
	last := len(headings) - 1
	level := headings[last].Level
	if plain(headings[last].Text) != plain(chain[len(chain)-1]) {
		return false
	}
	rest := chain[:len(chain)-1]
	for i := last - 1; i >= 0 && len(rest) > 0; i-- {
		if headings[i].Level >= level {
			continue
		}
		level = headings[i].Level
		if plain(headings[i].Text) == plain(rest[len(rest)-1]) {
			rest = rest[:len(rest)-1]
		}
	}
	return len(rest) == 0
}

// plain is a heading as links compare it: case, punctuation and the width of
// blanks do not count.
func plain(s string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(letters), " ")
}

// behind returns where the text below a heading begins. One that is underlined
// has several lines.
func (d *doc) behind(h markdown.Heading) int {
	at := d.next(h.At)
	if d.text[h.At] == '#' {
		return at
	}
	for at < len(d.text) {
		line := strings.TrimSpace(d.lineAt(at))
		at = d.next(at)
		if line != "" && strings.Trim(line, line[:1]) == "" && (line[0] == '=' || line[0] == '-') {
			break
		}
	}
	return at
}

// LinkedHeadings returns the places of the headings that a link to a part of a note
// names, one for each part between the marks of subpath: of several headings that
// could be meant it is the first, as in the app. It returns nil if there is none, and
// for a link to a block.
func LinkedHeadings(found markdown.Note, subpath string) []int {
	chain := strings.Split(strings.TrimLeft(subpath, "#"), "#")
	if strings.HasPrefix(chain[len(chain)-1], "^") {
		return nil
	}
	for i := range found.Headings {
		if places := chainOf(found.Headings[:i+1], chain); places != nil {
			return places
		}
	}
	return nil
}

// chainOf returns the places of a chain of headings that ends in the last one, nil if
// it is another chain; see [headed].
func chainOf(headings []markdown.Heading, chain []string) []int {
	if !headed(headings, chain) {
		return nil
	}
	last := len(headings) - 1
	places := make([]int, len(chain))
	at, level := len(chain)-1, headings[last].Level
	places[at] = last
	for i := last - 1; i >= 0 && at > 0; i-- {
		if headings[i].Level >= level {
			continue
		}
		level = headings[i].Level
		if plain(headings[i].Text) == plain(chain[at-1]) {
			at--
			places[at] = i
		}
	}
	return places
}

// SameHeading reports whether a link takes two headings for one: case and punctuation
// do not count.
func SameHeading(a, b string) bool { return plain(a) == plain(b) }

// RenameHeading returns the note with another text for the heading at a place of its
// list. Its marks, the breaks around it and a block id behind it stay. A text with
// which there would be another heading is a *[Refusal].
func RenameHeading(text []byte, place int, to string) ([]byte, error) {
	d := read(text)
	h := d.found.Headings[place]
	refusal := &Refusal{Line: h.Line, Reason: fmt.Sprintf("the heading cannot be %q", to)}
	to = strings.TrimSpace(to)
	line := d.lineAt(h.At)
	start := strings.Index(line, h.Text)
	if to == "" || strings.ContainsAny(to, "\r\n") || h.Text == "" || start < 0 {
		return nil, refusal
	}
	wanted := to + blockMark(h.Text)
	span := markdown.Span{Start: h.At + start, End: h.At + start + len(h.Text)}
	edited := d.splice(span, wanted)
	now := markdown.Scan(edited)
	if len(now.Headings) != len(d.found.Headings) || len(now.Blocks) != len(d.found.Blocks) || !d.keepsFront(edited) {
		return nil, refusal
	}
	for i, other := range now.Headings {
		old := d.found.Headings[i]
		if i == place {
			old.Text = wanted
		}
		if other.Text != old.Text || other.Level != old.Level || other.Line != old.Line {
			return nil, refusal
		}
	}
	return edited, nil
}

// blockMark returns the block id at the end of a heading with the blank before it, ""
// if there is none.
func blockMark(text string) string {
	at := strings.LastIndex(text, " ^")
	if at < 0 || at+2 == len(text) || strings.Trim(strings.ToLower(text[at+2:]), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return text[at:]
}
