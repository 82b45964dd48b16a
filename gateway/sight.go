package gateway

import (
	"path"
	"sync"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Sight tells which notes of a vault may be seen: by the access rules and the ignore file when it was made, and by
// what the notes say about themselves when that first matters. A note that cannot be read might hide itself, so it may
// not be seen; Sight counts these notes, so that no list is shorter without a word. It is safe for concurrent use.
type Sight struct {
	// judge reports whether a note may be seen, and if not, whether that is only because it cannot be read.
	judge func(path string) (isVisible, isUnread bool)

	mu     sync.Mutex
	unread map[string]bool // by path
}

// blind is the sight of a vault that is not known: nothing may be seen.
func blind() *Sight {
	return &Sight{judge: func(string) (isVisible, isUnread bool) { return false, false }}
}

// Sight returns what may be seen now.
func (r *NoteRules) Sight() *Sight {
	text, ok := ignorePatterns(r.folder())
	rules := r.Policy().Access
	patterns := access.ParseIgnored(string(text))
	narrowing := sync.OnceValue(func() narrowing { return r.narrowing() })
	return &Sight{judge: func(path string) (isVisible, isUnread bool) {
		mayBeRead := rules.Level(path) > access.None && !patterns.Hides(path, access.File)
		if !ok || !mayBeRead {
			return false, false
		}
		narrowed := narrowing() // asked for once, and only if a path gets that far
		if narrowed.isUnread(path) {
			return false, true
		}
		return !hidesItself(narrowed.levels, narrowed.isKnown, path), !narrowed.isKnown
	}}
}

// Sees reports whether the note at a path may be seen, and counts it if only a failed read speaks against that.
func (s *Sight) Sees(path string) bool {
	isVisible, isUnread := s.judge(path)
	if !isUnread {
		return isVisible
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unread == nil {
		s.unread = map[string]bool{}
	}
	s.unread[path] = true
	return false
}

// Unread returns how many notes were asked about that may not be seen because they cannot be read.
func (s *Sight) Unread() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unread)
}

// Remark returns what a list of changes is without because of [Sight.Unread], "" if it has all of them.
func (s *Sight) Remark() string {
	count := s.Unread()
	if count == 0 {
		return ""
	}
	return sanitize.Counted(count, "note") + " could not be read, and the answer is without the changes of them"
}

// Whole returns an error if something was left out because of [Sight.Unread].
func (s *Sight) Whole() error {
	count := s.Unread()
	if count == 0 {
		return nil
	}
	return errUnread(sanitize.Counted(count, "note") + " cannot be read now")
}

// Check returns an error unless the change e may be seen: that it is unknown if it may not be, or that its notes cannot
// be read now.
func (s *Sight) Check(e journal.Entry) error {
	switch {
	case e.SeenBy(s.Sees):
		return nil
	case s.Unread() == 0:
		return &journal.Unknown{What: e.ID}
	}
	return errUnread("the change " + e.ID + " is of a note that cannot be read now")
}

// errUnread returns the error for an answer that depends on notes that cannot be read.
func errUnread(reason string) error {
	return failure.New(
		protocol.CodeVaultUnreadable,
		`try again; if it stays so, the user can let the program read it: "vaultwicket doctor" names what it cannot read`,
		"%s",
		reason,
	)
}

// narrowing is how notes restrict access to themselves, see [NoteRules.Narrowing].
type narrowing struct {
	levels  map[string]access.Level // by path
	isKnown bool                    // if it is false, any note may be hidden
	// unread are the paths of notes and folders that could not be read. levels has them, too, with [access.None].
	unread map[string]bool
}

// isUnread reports whether a note, or a folder above it, could not be read.
func (n narrowing) isUnread(note string) bool {
	if len(n.unread) == 0 {
		return false
	}
	for at := note; at != "." && at != "/"; at = path.Dir(at) {
		if n.unread[at] {
			return true
		}
	}
	return false
}
