package change

import (
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// A change of many files needs few of their texts. A file that is removed, moved as it is, copied, or brought back from the
// journal is known by its hash and its size, and by what was worked out while its text was in memory.

// unread is what was worked out from a text that is not in memory.
type unread struct {
	lines int          // of the text
	level access.Level // to which the note narrows the access to itself
}

// WithoutText returns the state of the file at path without its text, for a file that a change removes, moves as it is or
// copies, or brings back from the journal.
func (c FileState) WithoutText(v *call.Vault, path disk.Path) FileState {
	if !c.Exists || c.Folder || c.Image.Exists {
		return c
	}
	about := &unread{lines: edit.NumberOfLines(c.Text.ForProgram()), level: levelIn(v, path, c)}
	return FileState{Exists: true, Image: ImageOf(c), known: hashAt(v, path, c), unread: about}
}

// lines counts what the step adds to its file and removes from it.
func (s Step) lines() edit.LineCounts {
	switch {
	case s.isPureMove():
		return edit.LineCounts{}
	case !s.isUnread():
		return edit.CountLines(s.Before.Text.ForProgram(), s.After.Text.ForProgram())
	}
	return edit.LineCounts{Added: s.After.numberOfLines(), Removed: s.Before.numberOfLines()}
}

// isPureMove reports whether a step moves a file as it is.
func (s Step) isPureMove() bool { return s.IsMove() && s.Before.Equal(s.After) }

// isUnread reports whether one of the texts of a step is not in memory.
func (s Step) isUnread() bool { return s.Before.unread != nil || s.After.unread != nil }

// numberOfLines returns how many lines the text of a file has.
func (c FileState) numberOfLines() int {
	if c.unread != nil {
		return c.unread.lines
	}
	return edit.NumberOfLines(c.Text.ForProgram())
}
