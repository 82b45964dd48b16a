package search

import (
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// planned connects a store of a vault with planned changes to the store of the vault on disk, see [Store.Plan].
type planned struct {
	onDisk    *Store                   // nil for a store of the vault on disk
	changed   func(known int) []string // see [Store.Plan]
	baseIndex *index.Index             // the index of onDisk that last is based on
	folder    *disk.Folder             // the folder that last was read from
	known     int                      // how many changed paths last includes
}

// Plan makes a new store describe the vault with planned changes applied. The store follows onDisk, the store of the
// vault as it is, and reads only the files at the changed paths: changed returns these without the first known ones.
// The store writes no cache file.
func (k *Store) Plan(onDisk *Store, changed func(known int) []string) {
	k.planned.onDisk = onDisk
	k.planned.changed = changed
	k.words.isReadOnly = true
}

// updatePlanned is update for a store with planned changes. The caller holds k.mu.
func (k *Store) updatePlanned(from View) (*index.Index, error) {
	p := &k.planned
	diskView := from
	diskView.Folder = from.OnDisk
	diskView.Own = nil
	base, err := p.onDisk.Index(diskView)
	if err != nil {
		return nil, err
	}
	k.shareCache()
	changed := p.changed(0)
	last := k.last
	fresh := changed[min(p.known, len(changed)):]
	if last == nil || p.baseIndex != base || p.folder != from.Folder {
		last = base
		fresh = changed
	}
	if len(fresh) > 0 {
		last = last.Update(from.Folder, fresh, index.Memory{}, from.Now())
	}
	if last != k.last {
		k.changes++
	}
	k.last = last
	p.baseIndex = base
	p.folder = from.Folder
	p.known = len(changed)
	return last, nil
}

// shareCache lets the store read the texts and filters in the cache file of the store on disk.
func (k *Store) shareCache() {
	onDisk := k.planned.onDisk
	k.cacheMu.Lock()
	defer k.cacheMu.Unlock()
	if k.cache != nil {
		return
	}
	onDisk.awaitSaving()
	onDisk.cacheMu.RLock()
	defer onDisk.cacheMu.RUnlock()
	if onDisk.cache != nil {
		k.cache = onDisk.cache.Share()
	}
}
