package change

import (
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// A change of many files needs few of their texts. A file that is removed, moved unchanged, copied, or restored
// from the journal is represented by its hash and size, and by facts that were derived while its text was in
// memory.

// unread has facts about a text that is not in memory.
type unread struct {
	lines int          // number of lines
	level access.Level // access that the note leaves to agents
}

// WithoutText returns the state of the file at path without its text. It is for files that a change removes,
// moves unchanged, copies, or restores from the journal.
func (c FileState) WithoutText(v *call.Vault, path disk.Path) FileState {
	if !c.Exists || c.Folder || c.Image.Exists {
		return c
	}
	facts := &unread{lines: edit.NumberOfLines(c.Text.ForProgram()), level: levelIn(v, path, c)}
	return FileState{Exists: true, Image: ImageOf(c), known: hashAt(v, path, c), unread: facts}
}

// lines counts the lines that the step adds to its file and removes from it.
func (s Step) lines() edit.LineCounts {
	switch {
	case s.isPureMove():
		return edit.LineCounts{}
	case !s.isUnread():
		return edit.CountLines(s.Before.Text.ForProgram(), s.After.Text.ForProgram())
	}
	return edit.LineCounts{Added: s.After.numberOfLines(), Removed: s.Before.numberOfLines()}
}

// isPureMove reports whether a step moves a file without changing it.
func (s Step) isPureMove() bool { return s.IsMove() && s.Before.Equal(s.After) }

// isUnread reports whether one of the texts of a step is not in memory.
func (s Step) isUnread() bool { return s.Before.unread != nil || s.After.unread != nil }

// numberOfLines returns the number of lines in the text of a file.
func (c FileState) numberOfLines() int {
	if c.unread != nil {
		return c.unread.lines
	}
	return edit.NumberOfLines(c.Text.ForProgram())
}
