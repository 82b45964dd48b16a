package consent

import (
	"strings"
	"unicode/utf8"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
)

// PlannedFile is a file that would change. Hashes are the first 16 hex digits of
// SHA-256; an empty one stands for no file.
type PlannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // where it is before a move
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Row returns the line of a question about the file.
func (f PlannedFile) Row() string {
	switch {
	case f.From != "":
		return Row("moves", f.From, f.Path)
	case f.Before == "":
		return Row("makes", f.Path)
	case f.After == "":
		return Row("removes", f.Path)
	}
	return Row("changes", f.Path)
}

// Places are the paths that the change touches.
func (f PlannedFile) Places() []string {
	if f.From == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.From}
}

// Row shows a label and its values, with the word "to" between two. What is too
// long for one row of a terminal is broken behind bars: where a terminal breaks it,
// text that somebody else has chosen would begin a row.
func Row(label string, values ...string) string {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = quoted(value)
	}
	line := label + ": " + strings.Join(shown, " to ")
	if strings.Count(clean.Excerpt(line, 2, len(line)), "\n") == 1 {
		return line + "\n"
	}
	var b strings.Builder
	b.WriteString(label + ":\n")
	for i, value := range shown {
		if i > 0 {
			b.WriteString("to:\n")
		}
		b.WriteString(clean.Excerpt(value, maxShownLines, 2*maxShownName))
	}
	return b.String()
}

// quoted shows a name or a short value on one line. Of a long one it shows the
// ends: the first folders and the name of the note.
func quoted(s string) string {
	s = clean.Line(s)
	if len(s) > maxShownName {
		end := len(s) - maxShownName/2
		for !utf8.RuneStart(s[end]) {
			end++
		}
		s = quote.Clip(s, maxShownName/2) + s[end:]
	}
	return `"` + strings.ReplaceAll(s, `"`, `'`) + `"`
}
