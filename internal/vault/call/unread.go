package call

import (
	"maps"
	"slices"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// unread are the visible files and folders that could not be read for a call. It is safe for concurrent use.
type unread struct {
	mu    sync.Mutex
	paths map[string]bool
}

func (u *unread) tell(p disk.Path) { u.add(p.String()) }

func (u *unread) add(paths ...string) {
	if len(paths) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.paths == nil {
		u.paths = map[string]bool{}
	}
	for _, path := range paths {
		u.paths[path] = true
	}
}

// AddUnread adds paths to those of [Vault.Unread].
func (v *Vault) AddUnread(paths []string) { v.unread.add(paths...) }

// Unread returns the paths, sorted, of the files and folders that the rules let the caller see, and that could not be read
// for an answer that is made of many files. The texts of those notes do not tell whether they may be named.
func (v *Vault) Unread() []string {
	v.unread.mu.Lock()
	defer v.unread.mu.Unlock()
	return slices.Sorted(maps.Keys(v.unread.paths))
}
