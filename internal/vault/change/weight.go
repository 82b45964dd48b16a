package change

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// lostLines counts what a step removes or replaces, in lines of which a long one counts as several.
type lostLines struct {
	All  int // of the whole file
	Body int // of the text behind the properties
	Of   int // lines that this text has before the step
}

// lost returns what a step removes or replaces. It is worked out once.
func (s *Step) lost() lostLines {
	if s.weighed == nil {
		weighed := s.weigh()
		s.weighed = &weighed
	}
	return *s.weighed
}

func (s *Step) weigh() lostLines {
	isBookmarking := s.Path == disk.Bookmarks() && s.After.Exists
	switch {
	case isBookmarking:
		// Entries are added, or those of the caller taken back. The lines of the file also have the bookmarks of hidden notes.
		return lostLines{}
	case !s.Before.Exists, s.Before.Folder, s.After.Folder, s.isPureMove():
		return lostLines{}
	case s.isUnread(), s.Before.Image.Exists: // a text is not in memory: the most that may be lost
		size := ImageOf(s.Before).Size
		n := max(s.lines().Removed, int((size+lineBytes-1)/lineBytes))
		return lostLines{All: n, Body: n, Of: n}
	}
	body := edit.Body(s.Before.Text.ForProgram())
	if !s.After.Exists {
		return lostLines{All: linesOf(s.Before.Text.ForProgram()), Body: linesOf(body), Of: linesOf(body)}
	}
	bodyAfter := edit.Body(s.After.Text.ForProgram())
	lost := lostLines{Body: removedFrom(body, bodyAfter), Of: linesOf(body)}
	lost.All = lost.Body
	hasProperties := len(body) < s.Before.Text.Len() || len(bodyAfter) < s.After.Text.Len()
	if hasProperties {
		lost.All = removedFrom(s.Before.Text.ForProgram(), s.After.Text.ForProgram())
	}
	return lost
}

// linkLosses is how many links a proposal breaks or leads elsewhere. What cannot be read may have one.
func (p Proposal) linkLosses() int {
	n := p.Broken.Count + p.Broken.Unread
	for _, r := range p.rerouted {
		n += r.count
	}
	return n
}

// isMarked reports whether one of the notes that a proposal changes narrows the access to itself, before or after it.
func (p Proposal) isMarked(v *call.Vault) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		if s.IsNoop() {
			return false
		}
		before := levelIn(v, s.source(), s.Before)
		after := levelIn(v, s.Path, s.After)
		return min(before, after) < access.Delete
	})
}

// removedFrom returns how many lines a change removes or replaces. Of a long line that is
// replaced by another one, what differs counts.
func removedFrom(before, after []byte) (removed int) {
	c := difference.Of(before, after)
	if c.Binary {
		return linesOf(before)
	}
	for _, l := range c.Lines {
		if l.Sign == difference.Removed {
			removed += weight(l.To - l.From)
		}
	}
	_, left := c.Left()
	return removed + left
}
