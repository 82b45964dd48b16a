package vault

import (
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/index"
)

// knowledge is the last index of a vault. A worker keeps it from one call to
// the next, so that only what changed is read again.
type knowledge struct {
	mu     sync.Mutex
	folder *disk.Folder
	last   *index.Index
}

// of returns the index of folder as it is now. Calls that come while one is
// built wait for it and look once more, so that none answers from before it
// was asked.
func (k *knowledge) of(folder *disk.Folder) (*index.Index, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folder != folder {
		k.folder, k.last = folder, nil
	}
	x, err := index.Build(folder, k.last)
	if err != nil {
		return nil, err
	}
	k.last = x
	return x, nil
}

// index returns what the files of the vault hold.
func (v *vault) index() (*index.Index, error) { return v.host.known.of(v.disk) }
