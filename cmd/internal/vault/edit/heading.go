package edit

import (
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
