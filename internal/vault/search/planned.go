package search

import (
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// planned is what a store rests on that knows a vault as it will be: see [Store.Plan].
type planned struct {
	on      *Store // nil for a store of the vault as it is
	changed func(known int) []string
	base    *index.Index // of on, that last is made of
	folder  *disk.Folder // that last is of
	known   int          // how many changed paths last has
}

// Plan makes a new store one of the vault as it will be once what is planned is made. It follows the store on, which is that of
// the vault as it is, and reads only the files at the changed paths, of which changed returns those after so many. It writes
// no cache file.
func (k *Store) Plan(on *Store, changed func(known int) []string) {
	k.planned.on = on
	k.planned.changed = changed
	k.words.isReadOnly = true
}

// lookPlanned is look of a store that rests on another one. It is called under the lock.
func (k *Store) lookPlanned(from View) (*index.Index, error) {
	p := &k.planned
	onDisk := from
	onDisk.Folder = from.OnDisk
	onDisk.Own = nil
	base, err := p.on.Index(onDisk)
	if err != nil {
		return nil, err
	}
	k.shareCache()
	changed := p.changed(0)
	last := k.last
	fresh := changed[min(p.known, len(changed)):]
	if last == nil || p.base != base || p.folder != from.Folder {
		last = base
		fresh = changed
	}
	if len(fresh) > 0 {
		if last, err = last.Update(from.Folder, fresh, index.Memory{}, from.Now()); err != nil {
			k.last = nil
			return nil, err
		}
	}
	if last != k.last {
		k.changes++
	}
	k.last = last
	p.base = base
	p.folder = from.Folder
	p.known = len(changed)
	return last, nil
}

// shareCache gives the store the texts and filters that the cache file has.
func (k *Store) shareCache() {
	on := k.planned.on
	k.keep.Lock()
	defer k.keep.Unlock()
	if k.cache != nil {
		return
	}
	on.awaitSaving()
	on.keep.RLock()
	defer on.keep.RUnlock()
	if on.cache != nil {
		k.cache = on.cache.Share()
	}
}
