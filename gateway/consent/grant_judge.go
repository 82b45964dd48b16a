package consent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// GrantChange describes what a call would do according to its plan.
type GrantChange struct {
	Command     string      `json:"command"`
	Destructive bool        `json:"destructive,omitempty"`
	Files       []GrantFile `json:"files"`           // all files that it changes
	Links       int         `json:"links,omitempty"` // how many it breaks or redirects
}

// GrantFile is a file that a call would change.
type GrantFile struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // its path before a move
	// Lost counts the lines that are removed or replaced, and LostText those of them after the properties, where the
	// note has Text lines.
	Lost     int `json:"lost,omitempty"`
	LostText int `json:"lostText,omitempty"`
	Text     int `json:"text,omitempty"`
}

// GrantCount is the used part of a grant.
type GrantCount struct {
	Changes int                  `json:"changes"`
	Lines   int                  `json:"lines,omitempty"`
	Links   int                  `json:"links,omitempty"`
	Notes   map[string]GrantLoss `json:"notes,omitempty"` // by their current paths
}

// GrantLoss counts the lines that changes under a grant removed from one note, which had Text lines after its properties
// before the first of them.
type GrantLoss struct {
	Lost     int `json:"lost,omitempty"`
	LostText int `json:"lostText,omitempty"`
	Text     int `json:"text,omitempty"`
}

// Limits of what a single change may remove from a note without being destructive, as in package change of the embedded
// program.
const (
	maxRemoved = 10 // lines
	minBody    = 5  // lines of a text from which on the removal of more than half of it is destructive
)

// isDestructive reports whether the loss would be destructive if it were one change.
func (l GrantLoss) isDestructive() bool {
	isHalf := l.Text >= minBody && 2*l.LostText > l.Text
	return l.Lost > maxRemoved || isHalf
}

// plus returns the sum of two losses of the same note.
func (l GrantLoss) plus(m GrantLoss) GrantLoss {
	return GrantLoss{Lost: l.Lost + m.Lost, LostText: l.LostText + m.LostText, Text: max(l.Text, m.Text)}
}

// with returns the count with one more change. A moved note counts as the same note.
func (c GrantCount) with(change GrantChange) GrantCount {
	c.Changes++
	c.Links += change.Links
	c.Notes = maps.Clone(c.Notes)
	if c.Notes == nil {
		c.Notes = map[string]GrantLoss{}
	}
	for _, f := range change.Files {
		loss, isCounted := c.Notes[f.Path]
		if f.From != "" && f.From != f.Path {
			moved, wasCounted := c.Notes[f.From]
			delete(c.Notes, f.From)
			loss = loss.plus(moved)
			isCounted = isCounted || wasCounted
		}
		loss.Lost += f.Lost
		loss.LostText += f.LostText
		if !isCounted {
			loss.Text = f.Text
		}
		c.Notes[f.Path] = loss
		c.Lines += f.Lost
	}
	return c
}

// counted returns the used part, including changes that are perhaps not made yet.
func (g Grant) counted() GrantCount {
	total := g.Used
	for _, t := range g.Open {
		for _, c := range t.Changes {
			total = total.with(c)
		}
	}
	return total
}

// BeyondGrant reports why a grant does not cover a change.
type BeyondGrant struct{ Reason string }

func (e *BeyondGrant) Error() string { return e.Reason }

func beyond(format string, args ...any) error { return &BeyondGrant{fmt.Sprintf(format, args...)} }

// Covers returns a *[BeyondGrant] unless the terms cover a change after used has been used of them. It returns what is
// used together with the change.
func (t GrantTerms) Covers(used GrantCount, change GrantChange) (GrantCount, error) {
	switch {
	case !slices.Contains(t.Commands, change.Command):
		return used, beyond("it is not for the command %q", change.Command)
	case change.Destructive && !t.Destructive:
		return used, beyond("it is not for destructive changes")
	case len(change.Files) == 0:
		return used, beyond("it is not known which files the call changes")
	}
	for _, f := range change.Files {
		if !t.contains(f.Path) || f.From != "" && !t.contains(f.From) {
			return used, beyond("the call changes a file outside of its folders")
		}
	}
	total := used.with(change)
	for _, bound := range []struct {
		noun       string
		used, most int
	}{
		{"change", total.Changes, t.Changes},
		{"note", len(total.Notes), t.Notes},
		{"broken link", total.Links, t.Links},
	} {
		if bound.used > bound.most {
			return used, beyond("it allows %s", sanitize.Counted(bound.most, bound.noun))
		}
	}
	if t.Lines > 0 {
		if total.Lines > t.Lines {
			return used, beyond("it allows to remove %s", sanitize.Counted(t.Lines, "line"))
		}
		return total, nil
	}
	for _, f := range change.Files {
		if total.Notes[f.Path].isDestructive() {
			return used, beyond("with the changes before it the call would be destructive")
		}
	}
	return total, nil
}

// contains reports whether a path is in one of the folders. Folders are compared by whole segments, byte for byte: both
// paths are spelled as on the disk.
func (t GrantTerms) contains(path string) bool {
	return isPlainFolder(path) && slices.ContainsFunc(t.Folders, func(folder string) bool {
		return folder == wholeVault || strings.HasPrefix(path, folder+"/")
	})
}

// isPlainFolder reports whether a path means the same on every system and leads into no hidden folder.
func isPlainFolder(path string) bool {
	if path == "" || !utf8.ValidString(path) || strings.ContainsAny(path, "\\\x00") {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		isHidden := strings.HasPrefix(segment, ".")
		isShortened := strings.TrimRight(segment, ". ") != segment
		if segment == "" || isHidden || isShortened {
			return false
		}
	}
	return true
}
