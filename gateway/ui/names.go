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

	mu    sync.Mutex
	built time.Time
	took  time.Duration
	paths map[string]map[noteKey]string // by vault
}

const (
	maxNames = 500_000 // per vault
	// The journal entries that are read for names: those of the last namedAge, the longest period in the call view,
	// and at least namedEntries.
	namedAge     = 7 * 24 * time.Hour
	namedEntries = 1000
	// namesAge is the minimum age of the names before an unknown digest causes a rebuild (a hidden or deleted note
	// stays unknown). A rebuild that took long waits at least 20 times as long, to bound the load.
	namesAge = 2 * time.Second
)

// of returns the path of a note that a call named, "" if it is none that may be seen.
func (n *noteNames) of(c loggedCall) string {
	if c.Note == 0 {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	path, known := n.paths[c.Vault][c.Note]
	if age := time.Since(n.built); !known && age > max(namesAge, 20*n.took) {
		n.build()
		path = n.paths[c.Vault][c.Note]
	}
	return path
}

// matching returns the notes whose paths contain a text, in whatever case.
func (n *noteNames) matching(text string) map[noteKey]bool {
	found := map[noteKey]bool{}
	if text = strings.ToLower(text); text == "" {
		return found
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.built) > max(namesAge, 20*n.took) {
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

// build computes the names, with mu held. A vault that cannot be read has none.
func (n *noteNames) build() {
	begun := time.Now()
	n.paths = map[string]map[noteKey]string{}
	for _, vault := range n.page.Gateway.VaultNames() {
		paths := map[noteKey]string{}
		add := func(path string) bool {
			paths[noteKeyOf(n.logs.Digest(path))] = path
			return len(paths) < maxNames
		}
		sees := n.page.Gateway.Visible(vault)
		if kept, err := n.page.Gateway.Journal(vault); err == nil {
			read := 0
			_, _ = kept.Each(
				context.Background(),
				journal.Filter{},
				func(e journal.Entry) bool { // unreadable entries are skipped
					for _, s := range e.Steps {
						for _, path := range []string{s.Path, s.Source()} {
							if sees(path) {
								add(path)
							}
						}
					}
					read++
					return (read < namedEntries || begun.Sub(e.Time) < namedAge) && len(paths) < maxNames
				},
			)
		}
		_ = n.page.Gateway.EachVisible(vault, add)
		n.paths[vault] = paths
	}
	n.built = time.Now()
	n.took = time.Since(begun)
}
