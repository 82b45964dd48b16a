package change

import (
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
)

// lostLines counts the lines that a step removes or replaces. A long line counts as several.
type lostLines struct {
	All        int // of the whole file
	Body       int // in the text after the properties
	BodyBefore int // lines of the text after the properties, before the step
}

// lost returns the lines that a step removes or replaces. The result is cached.
func (s *Step) lost() lostLines {
	if s.cachedLosses == nil {
		losses := s.countLosses()
		s.cachedLosses = &losses
	}
	return *s.cachedLosses
}

func (s *Step) countLosses() lostLines {
	isBookmarking := s.Path == disk.Bookmarks() && s.After.Exists
	switch {
	case isBookmarking:
		// Bookmarks are added, or those of the caller removed again. The other lines of the file may have
		// bookmarks of hidden notes.
		return lostLines{}
	case !s.Before.Exists, s.Before.Folder, s.After.Folder, s.isPureMove():
		return lostLines{}
	case s.isUnread(), s.Before.Image.Exists: // a text is not in memory: assume the maximum
		size := ImageOf(s.Before).Size
		n := max(s.lines().Removed, int((size+lineBytes-1)/lineBytes))
		return lostLines{All: n, Body: n, BodyBefore: n}
	}
	body := edit.Body(s.Before.Text.ForProgram())
	if !s.After.Exists {
		return lostLines{All: linesOf(s.Before.Text.ForProgram()), Body: linesOf(body), BodyBefore: linesOf(body)}
	}
	bodyAfter := edit.Body(s.After.Text.ForProgram())
	lost := lostLines{Body: removedFrom(body, bodyAfter), BodyBefore: linesOf(body)}
	lost.All = lost.Body
	hasProperties := len(body) < s.Before.Text.Len() || len(bodyAfter) < s.After.Text.Len()
	if hasProperties {
		lost.All = removedFrom(s.Before.Text.ForProgram(), s.After.Text.ForProgram())
	}
	return lost
}

// linkLosses returns the number of links that a proposal breaks or leads elsewhere. Each file that cannot be
// read counts as one.
func (p Proposal) linkLosses() int {
	n := p.Broken.Count + p.Broken.Unread
	for _, r := range p.rerouted {
		n += r.count
	}
	return n
}

// isMarked reports whether one of the affected notes restricts access to itself, before or after the change.
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

// removedFrom returns the number of lines that a change removes or replaces. Of a long line that was edited,
// only the differing part counts.
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
	_, omitted := c.Left()
	return removed + omitted
}
