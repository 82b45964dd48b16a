package session

import (
	"slices"
	"time"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/policy/access"
)

// spelled are the access rules with the names that the disk has for their paths: a
// person writes Work for the folder WORK, or in another Unicode normal form.
type spelled struct {
	rules access.Rules
	names []string // that differ from the written ones, sorted
	at    time.Time
}

// respellAfter is how long the names are believed. A rule that takes something
// away holds in every spelling all the time.
const respellAfter = time.Second

// respell looks for the names again, and reports whether they are others than
// before. It is called under the lock, with the folder open.
func (h *Host) respell() (others bool) {
	if !h.rules.Restrict() {
		return false
	}
	if now := time.Now(); now.Sub(h.spelled.at) < respellAfter {
		return false
	}
	last := h.spelled
	h.spelled = spelled{at: time.Now()}
	h.spelled.rules = h.rules.Named(func(written string) string {
		name := h.nameOf(written)
		if name != written {
			h.spelled.names = append(h.spelled.names, name)
		}
		return name
	})
	slices.Sort(h.spelled.names)
	return !slices.Equal(last.names, h.spelled.names)
}

// nameOf returns the path of a rule as the disk has it.
func (h *Host) nameOf(written string) string {
	path, err := disk.ParseFolder(written)
	if err != nil {
		return written
	}
	if path, err = h.folder.Named(path); err != nil {
		return written
	}
	return path.String()
}
