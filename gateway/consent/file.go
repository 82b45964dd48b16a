package consent

import (
	"strings"
	"unicode/utf8"

	"vaultwicket/allowlist/quote"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/state/approvals"
)

// PlannedFile is a file that would change. Hashes are the first 16 hex digits of
// SHA-256; an empty one stands for no file.
type PlannedFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // where it is before a move
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Named returns the line of a question about the file.
func (f PlannedFile) Named() approvals.Line {
	switch {
	case f.From != "":
		return Named("moves", f.From, f.Path)
	case f.Before == "":
		return Named("makes", f.Path)
	case f.After == "":
		return Named("removes", f.Path)
	}
	return Named("changes", f.Path)
}

// Places are the paths that the change touches.
func (f PlannedFile) Places() []string {
	if f.From == "" {
		return []string{f.Path}
	}
	return []string{f.Path, f.From}
}

// Named shows a label and its values, with the word "to" between two.
func Named(label string, values ...string) approvals.Line {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = quoted(value)
	}
	return approvals.Line{Text: clean.Line(label) + ": " + strings.Join(shown, " to ")}
}

// quoted shows a name or a short value on one line. Of a long one it shows the
// ends: the first folders and the name of the note. A quotation mark in it is escaped, so
// that none ends the quotation.
func quoted(s string) string {
	s = strings.ReplaceAll(clean.Line(s), `"`, `\"`)
	if len(s) > maxShownName {
		end := len(s) - maxShownName/2
		for !utf8.RuneStart(s[end]) {
			end++
		}
		s = quote.Clip(s, maxShownName/2) + strings.TrimPrefix(s[end:], `"`) // not the half of an escape
	}
	return `"` + s + `"`
}
