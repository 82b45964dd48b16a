package change

import (
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// A change of many files needs few of their texts. A file that is removed, or moved as it is, is known by
// its hash and its size, and by what was worked out while its text was in memory.

// unread is what was worked out from a text that is not in memory.
type unread struct {
	lines int          // of the text
	level access.Level // to which the note narrows the access to itself
}

// WithoutText returns the state of the file at path without its text, for a file that a change only
// removes or moves as it is.
func (c FileState) WithoutText(v *call.Vault, path disk.Path) FileState {
	if !c.Exists || c.Folder || c.Image.Exists {
		return c
	}
	about := &unread{lines: edit.NumberOfLines(c.Text), level: levelIn(v, path, c)}
	return FileState{Exists: true, Image: ImageOf(c), known: hashAt(v, path, c), unread: about}
}

// lines counts what the step adds to its file and removes from it.
func (s Step) lines() edit.LineCounts {
	switch {
	case s.Before.unread == nil:
		return edit.CountLines(s.Before.Text, s.After.Text)
	case s.After.Exists: // it is moved as it is
		return edit.LineCounts{}
	}
	return edit.LineCounts{Removed: s.Before.unread.lines}
}
