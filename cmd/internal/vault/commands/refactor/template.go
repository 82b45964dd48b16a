package refactor

import (
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/regex"
)

// piece is a part of the text that is put in the place of a match: text as it is, or
// a group of the match.
type piece struct {
	text    string
	isGroup bool
	group   int
}

// template reads the text that is put in the place of a match, as JavaScript does: $1
// to $99 are groups, $<name> is a named one, $& is the match and $$ a dollar sign.
// Other than there, a group that the expression does not have is an error.
func template(put string, numbers []int, names []string) (pieces []piece, err error) {
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			pieces = append(pieces, piece{text: plain.String()})
			plain.Reset()
		}
	}
	for at := 0; at < len(put); {
		if put[at] != '$' || at+1 == len(put) {
			plain.WriteByte(put[at])
			at++
			continue
		}
		group, size, known := reference(put[at+1:], numbers, names)
		switch {
		case size == 0:
			plain.WriteByte('$')
			at++
			continue
		case !known:
			return nil, answer.Misuse("Invalid value for new: the expression has no group %s. Write $$ for a dollar sign.", put[at:at+1+size])
		case put[at+1] == '$':
			plain.WriteByte('$')
		default:
			flush()
			pieces = append(pieces, piece{isGroup: true, group: group})
		}
		at += 1 + size
	}
	flush()
	return pieces, nil
}

// reference reads what follows a dollar sign: the group that is meant, and how long it
// is written; 0 if it means nothing.
func reference(rest string, numbers []int, names []string) (group, size int, known bool) {
	switch {
	case rest[0] == '$':
		return 0, 1, true
	case rest[0] == '&':
		return 0, 1, true
	case rest[0] == '<':
		name, _, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return 0, 0, false
		}
		place := slices.Index(names, name)
		if place < 0 {
			return 0, len(name) + 2, false
		}
		return numbers[place], len(name) + 2, true
	}
	for _, digits := range []int{2, 1} {
		if len(rest) < digits {
			continue
		}
		n, err := strconv.Atoi(rest[:digits])
		if err == nil && n > 0 && slices.Contains(numbers, n) {
			return n, digits, true
		}
	}
	if rest[0] >= '1' && rest[0] <= '9' {
		return 0, 1, false
	}
	return 0, 0, false
}

// expand returns the text that is put in the place of a match, with the groups byte for
// byte. It is false if that would be longer than a note may be.
func expand(pieces []piece, m *regex.Match, at *places) (put string, ok bool) {
	var out strings.Builder
	for _, p := range pieces {
		text := p.text
		if p.isGroup {
			if g := m.GroupByNumber(p.group); g != nil && len(g.Captures) > 0 {
				text = at.text[at.of(g.RuneIndex):at.of(g.RuneIndex+g.RuneLength)]
			}
		}
		if out.Len()+len(text) > maxNoteSize {
			return "", false
		}
		out.WriteString(text)
	}
	return out.String(), true
}
