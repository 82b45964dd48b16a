package knowledge

import (
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

// folderList are the folders of a vault in one of its states.
type folderList struct {
	state uint64
	paths []string
}

// Folders returns the paths of all folders that can be seen in the vault, in the order of
// listings. Nobody changes the list. The error is that of the disk.
func (k *Store) Folders(from View) ([]string, error) {
	state, known := k.StateIfCurrent(from)
	if kept := k.folders.Load(); known && kept != nil && kept.state == state {
		return kept.paths, nil
	}
	paths, err := FoldersBelow(from.Folder, disk.Path{})
	if err == nil && known { // a change since then makes another state
		k.folders.Store(&folderList{state, paths})
	}
	return paths, err
}

// FoldersBelow looks for the folders below one, and returns their paths in the order of
// listings. The error is that of the disk.
func FoldersBelow(folder *disk.Folder, under disk.Path) (found []string, err error) {
	var mu sync.Mutex
	err = folder.WalkFolders(under, func(path disk.Path) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, path.String())
	})
	order.Sort(found)
	return found, err
}
