package command

import (
	"bytes"
	"slices"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Verdict says what became of a note. The zero Verdict is that of a change that is
// not the one that was asked for.
type Verdict struct {
	// Done says that the note says what it was to say.
	Done bool
	// Style says in what the note differs all the same, "" in nothing.
	Style string
}

// Exact is the verdict on a note that is what it was to be, byte for byte.
var Exact = Verdict{Done: true}

const (
	lineBreaks   = "the line breaks around the text are those of the app"
	rewritten    = "the app has written the properties anew, in its own form and without comments"
	endsInBreaks = "the app has added a line break at the end"
)

// maxBreaks is how many line breaks in a row the app may put where it adds text: it
// ends the line before, and leaves one empty line.
const maxBreaks = 2

// IsComposedOf judges a note that was to consist of pieces of text, each of which begins
// a line unless inline says that the second one goes on in the line of the first.
// The app may put line breaks between them and at the end.
func IsComposedOf(now []byte, inline bool, pieces ...[]byte) Verdict {
	rest, at := now, 0
	for i, piece := range pieces {
		if i > 0 && len(piece) > 0 {
			breaks := leadingBreaks(rest, piece)
			before := pieces[i-1]
			// The app needs no line break between the two.
			ends := len(before) == 0 || bytes.HasSuffix(before, []byte("\n")) || bytes.HasPrefix(piece, []byte("\n")) || bytes.HasPrefix(piece, []byte("\r\n"))
			if breaks > maxBreaks || breaks == 0 && !ends && !inline || breaks > 0 && inline && !ends {
				return Verdict{}
			}
			for range breaks {
				rest = withoutBreak(rest)
			}
		}
		after, found := bytes.CutPrefix(rest, piece)
		if !found {
			return Verdict{}
		}
		at, rest = at+len(piece), after
	}
	if countBreaks(rest) > maxBreaks || len(bytes.Trim(rest, "\r\n")) > 0 {
		return Verdict{}
	}
	if len(now) == at {
		return Exact
	}
	return Verdict{Done: true, Style: lineBreaks}
}

// leadingBreaks counts the line breaks in front of a piece.
func leadingBreaks(text, piece []byte) (n int) {
	for ; !bytes.HasPrefix(text, piece); n++ {
		rest := withoutBreak(text)
		if len(rest) == len(text) {
			return n
		}
		text = rest
	}
	return n
}

func withoutBreak(text []byte) []byte {
	return bytes.TrimPrefix(bytes.TrimPrefix(text, []byte("\r")), []byte("\n"))
}

func countBreaks(text []byte) int { return bytes.Count(text, []byte("\n")) }

// Ending judges a note that was to be wanted. The app may end it with a line break.
func Ending(wanted, now []byte) Verdict {
	rest, found := bytes.CutPrefix(now, wanted)
	switch {
	case !found:
		return Verdict{}
	case len(rest) == 0:
		return Exact
	case len(bytes.TrimLeft(rest, "\r\n")) == 0 && countBreaks(rest) <= 1:
		return Verdict{Done: true, Style: endsInBreaks}
	}
	return Verdict{}
}

// Properties judges a note whose properties were to be those of wanted, and whose
// body is not concerned. A note without a block that can be read has none.
func Properties(wanted, now []byte) Verdict {
	if bytes.Equal(wanted, now) {
		return Exact
	}
	if !bytes.Equal(wanted[markdown.BodyStart(wanted):], now[markdown.BodyStart(now):]) {
		return Verdict{}
	}
	a, ok := properties(wanted)
	b, alsoOK := properties(now)
	differs := func(p frontmatter.Property) bool { // in any order
		i := slices.IndexFunc(b, func(q frontmatter.Property) bool { return q.Key == p.Key })
		return i < 0 || !p.Value.Equal(b[i].Value)
	}
	if !ok || !alsoOK || len(a) != len(b) || slices.ContainsFunc(a, differs) {
		return Verdict{}
	}
	return Verdict{Done: true, Style: rewritten}
}

// properties reads those of a note. ok is false for a block that is not YAML.
func properties(text []byte) (found frontmatter.Properties, ok bool) {
	block := markdown.Scan(text).Frontmatter
	found, err := frontmatter.Parse(text[block.Start:block.End])
	return found, err == nil
}

// maxRepeated is how many bytes of text are searched for a repetition.
const maxRepeated = 1 << 20

// AddsOnce reports whether text contains what exactly once more than before
// does. It is false for a text of more than a megabyte.
func AddsOnce(text, before []byte, what string) bool {
	return len(text) <= maxRepeated && (what == "" || bytes.Count(text, []byte(what)) == bytes.Count(before, []byte(what))+1)
}
