package consent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// GrantChange is what a call would do, as its plan has it.
type GrantChange struct {
	Command     string      `json:"command"`
	Destructive bool        `json:"destructive,omitempty"`
	Files       []GrantFile `json:"files"`           // every file that it changes
	Links       int         `json:"links,omitempty"` // that it breaks, or leads elsewhere
}

// GrantFile is a file that a call would change.
type GrantFile struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // where it is before a move
	// Lost counts the lines that are removed or replaced, LostText those of them behind the properties, of the Text
	// lines that there are.
	Lost     int `json:"lost,omitempty"`
	LostText int `json:"lostText,omitempty"`
	Text     int `json:"text,omitempty"`
}

// GrantCount is what was used of a grant.
type GrantCount struct {
	Changes int                  `json:"changes"`
	Lines   int                  `json:"lines,omitempty"`
	Links   int                  `json:"links,omitempty"`
	Notes   map[string]GrantLoss `json:"notes,omitempty"` // by their paths as they are now
}

// GrantLoss is what the changes under a grant have taken from one note, which had Text lines before the first of them.
type GrantLoss struct {
	Lost     int `json:"lost,omitempty"`
	LostText int `json:"lostText,omitempty"`
	Text     int `json:"text,omitempty"`
}

// What a single change may take from a note without being destructive: see package change of the embedded program.
const (
	maxRemoved = 10 // lines
	leastBody  = 5  // lines of a text, from which on more than a half counts
)

// isDestructive reports whether the loss would be destructive as one change.
func (l GrantLoss) isDestructive() bool {
	isHalf := l.Text >= leastBody && 2*l.LostText > l.Text
	return l.Lost > maxRemoved || isHalf
}

func (l GrantLoss) plus(m GrantLoss) GrantLoss {
	return GrantLoss{Lost: l.Lost + m.Lost, LostText: l.LostText + m.LostText, Text: max(l.Text, m.Text)}
}

// with returns the count with one more change. A note that is moved is the same note.
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

// counted is what was used, with the changes that are not known to be made yet.
func (g Grant) counted() GrantCount {
	total := g.Used
	for _, t := range g.Open {
		for _, c := range t.Changes {
			total = total.with(c)
		}
	}
	return total
}

// BeyondGrant says why a grant does not cover a change.
type BeyondGrant struct{ Reason string }

func (e *BeyondGrant) Error() string { return e.Reason }

func beyond(format string, args ...any) error { return &BeyondGrant{fmt.Sprintf(format, args...)} }

// Covers returns an error, mostly a *[BeyondGrant], unless the terms cover a change that is made when so much of them was
// used. It returns what is used with it.
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
	now := used.with(change)
	for _, bound := range []struct {
		of         string
		used, most int
	}{
		{"change", now.Changes, t.Changes},
		{"note", len(now.Notes), t.Notes},
		{"broken link", now.Links, t.Links},
	} {
		if bound.used > bound.most {
			return used, beyond("it allows %s", sanitize.Counted(bound.most, bound.of))
		}
	}
	if t.Lines > 0 {
		if now.Lines > t.Lines {
			return used, beyond("it allows to remove %s", sanitize.Counted(t.Lines, "line"))
		}
		return now, nil
	}
	for _, f := range change.Files {
		if now.Notes[f.Path].isDestructive() {
			return used, beyond("with the changes before it the call would be destructive")
		}
	}
	return now, nil
}

// contains reports whether a path is in one of the folders. Folders are compared by whole segments, byte for byte: both
// are as the disk has them.
func (t GrantTerms) contains(path string) bool {
	return isPlainFolder(path) && slices.ContainsFunc(t.Folders, func(folder string) bool {
		return folder == wholeVault || strings.HasPrefix(path, folder+"/")
	})
}

// isPlainFolder reports whether a path leads nowhere else on any system, and into no hidden folder.
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
