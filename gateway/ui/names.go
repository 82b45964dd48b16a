package ui

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/journal"
)

// noteNames maps the keyed digests of note paths in the audit log back to paths. It knows the visible notes of the
// vaults and the visible paths in the journal; the digests are computed once and kept in memory.
type noteNames struct {
	page *Page
	logs audit.Logs

	mu        sync.Mutex
	builtAt   time.Time
	buildTime time.Duration
	paths     map[string]map[noteKey]string // by vault
}

const (
	maxNames = 500_000 // per vault
	// The journal entries that are read for names: those of the last namedAge, the longest period in the call view,
	// and at least namedEntries.
	namedAge     = 7 * 24 * time.Hour
	namedEntries = 1000
	// minRebuildInterval is the minimum age of the names before an unknown digest causes a rebuild (a hidden or deleted
	// note stays unknown). After a slow rebuild, the interval is 20 times its duration, to bound the load.
	minRebuildInterval = 2 * time.Second
)

// pathOf returns the path of the note that a call named, or "" if it is unknown or hidden.
func (n *noteNames) pathOf(c loggedCall) string {
	if c.Note == 0 {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	path, known := n.paths[c.Vault][c.Note]
	if !known && n.isStale() {
		n.build()
		path = n.paths[c.Vault][c.Note]
	}
	return path
}

// isStale reports whether the names are old enough to be rebuilt. The caller holds mu.
func (n *noteNames) isStale() bool {
	return time.Since(n.builtAt) > max(minRebuildInterval, 20*n.buildTime)
}

// matching returns the notes whose paths contain a text, ignoring case.
func (n *noteNames) matching(text string) map[noteKey]bool {
	found := map[noteKey]bool{}
	text = strings.ToLower(text)
	if text == "" {
		return found
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isStale() {
		n.build()
	}
	for _, paths := range n.paths {
		for note, path := range paths {
			if strings.Contains(strings.ToLower(path), text) {
				found[note] = true
			}
		}
	}
	return found
}

// build computes the names. A vault that cannot be read has none. The caller holds mu.
func (n *noteNames) build() {
	begun := time.Now()
	n.paths = map[string]map[noteKey]string{}
	for _, vault := range n.page.Gateway.VaultNames() {
		paths := map[noteKey]string{}
		add := func(path string) bool {
			paths[noteKeyOf(n.logs.Digest(path))] = path
			return len(paths) < maxNames
		}
		n.addJournal(vault, add)
		_ = n.page.Gateway.EachVisible(vault, add) // after an error, the names so far are enough
		n.paths[vault] = paths
	}
	n.builtAt = time.Now()
	n.buildTime = time.Since(begun)
}

// addJournal calls add with the visible paths in the recent entries of the journal of a vault, until add returns false.
func (n *noteNames) addJournal(vault string, add func(path string) bool) {
	log, err := n.page.Gateway.Journal(vault)
	if err != nil {
		return
	}
	isVisible := n.page.Gateway.Visible(vault)
	begun := time.Now()
	read := 0
	_, _ = log.Each(context.Background(), journal.Filter{}, func(e journal.Entry) bool { // unreadable entries are skipped
		hasCapacity := true
		for _, s := range e.Steps {
			for _, path := range []string{s.Path, s.Source()} {
				if isVisible(path) {
					hasCapacity = add(path)
				}
			}
		}
		read++
		isRecent := begun.Sub(e.Time) < namedAge
		return hasCapacity && (read < namedEntries || isRecent)
	})
}
