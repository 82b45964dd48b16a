// Package relink changes the links of notes and canvases so that they lead
// where they led before a file was renamed or moved.
//
// It knows no folder: it works on the text of one file and on the paths of the
// vault before and after. Of a link only the target changes, and of a file only
// its links. A link that still leads to the right file is left alone, and so is
// one that led nowhere. What is no link to the app (in code, in HTML comments)
// is none here.
package relink

import (
	"path"
	"strings"

	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Format says how a target is written: the app's setting newLinkFormat.
type Format uint8

const (
	// Shortest is the name alone where no other file has it, else the path.
	Shortest Format = iota
	// Relative counts from the folder of the note.
	Relative
	// Absolute counts from the vault's folder.
	Absolute
)

// ParseFormat reads the setting. Whatever it does not know is what the app
// does without one.
func ParseFormat(setting string) Format {
	switch setting {
	case "relative":
		return Relative
	case "absolute":
		return Absolute
	}
	return Shortest
}

// Move is one file that gets another path. It does not change and may be used
// by several goroutines.
type Move struct {
	from, to      string
	before, after *lookup.Files
	format        Format
	names         map[string]bool // folded names by which the file may be meant
}

// New returns the move of the file from to the path to. before and after are
// the files of the vault, with the file at from and at to.
func New(from, to string, before, after *lookup.Files, format Format) *Move {
	m := &Move{from: from, to: to, before: before, after: after, format: format, names: map[string]bool{}}
	for _, p := range []string{from, to} {
		name := lookup.Fold(path.Base(p))
		m.names[name] = true
		m.names[strings.TrimSuffix(name, ".md")] = true
	}
	return m
}

// Left is a link that leads elsewhere now, because it could not be written.
type Left struct {
	Line   int
	Target string
	Reason string
}

// Concerns reports whether a link in the file source, which is its path before
// the move, has to change. It is quick for the many that need not.
func (m *Move) Concerns(link markdown.Link, source string) bool {
	_, concerned := m.destination(link.Path, source)
	return concerned
}

// Rewrite returns the text of the file source, which is its path before the
// move, with its links changed, and how many those are. Files other than notes
// and canvases have no links. text is never modified; where nothing changes it
// is returned.
func (m *Move) Rewrite(text []byte, source string) (edited []byte, changed int, left []Left) {
	switch strings.ToLower(path.Ext(source)) {
	case ".md":
		return m.note(text, source)
	case ".canvas":
		return m.canvas(text, source)
	}
	return text, 0, nil
}

// path returns the path after the move of a file that was at p.
func (m *Move) path(p string) string {
	if p == m.from {
		return m.to
	}
	return p
}

// destination returns where a link in source has to lead, if it does not.
func (m *Move) destination(target, source string) (wanted string, concerned bool) {
	if target == "" || source != m.from && !m.mayMean(target) {
		return "", false
	}
	i, ok := m.before.Resolve(target, source)
	if !ok {
		return "", false
	}
	wanted = m.path(m.before.Path(i))
	return wanted, !m.leads(target, m.path(source), wanted)
}

// mayMean reports whether the last part of target is a name that the moved file
// has or had: no other link can lead elsewhere than before.
func (m *Move) mayMean(target string) bool {
	return m.names[lookup.Fold(target[strings.LastIndexByte(target, '/')+1:])]
}

// leads reports whether target leads from a note to a file after the move.
func (m *Move) leads(target, note, file string) bool {
	i, ok := m.after.Resolve(target, note)
	return ok && m.after.Path(i) == file
}
