package call

import (
	"maps"
	"slices"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

// unread collects the visible files and folders that could not be read for a call. It is safe for concurrent use.
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

// Unread returns the sorted paths of the files and folders that the access rules show to the caller and that could
// not be read for an answer from many files. As their texts are unknown, a note among them might hide itself: do not
// print them.
func (v *Vault) Unread() []string {
	v.unread.mu.Lock()
	defer v.unread.mu.Unlock()
	return slices.Sorted(maps.Keys(v.unread.paths))
}
