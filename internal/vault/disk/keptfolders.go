package disk

import (
	"io/fs"
	"os"
	"sync"
)

// keptFolders are folders that stay open while a change of many files is made: those of a thousand notes in one folder are opened
// once. Each use makes sure by one look that a name still is that of its open folder, as [step] does when it opens it.
type keptFolders struct {
	mu   sync.Mutex
	open map[string]*keptFolder // by their paths
}

// maxKeptFolders is how many folders stay open, apart from those that are in use.
const maxKeptFolders = 64

// keptFolder is an open folder with its users. One that is no longer among the kept ones is closed by its last user.
type keptFolder struct {
	root   *os.Root
	info   fs.FileInfo
	users  int
	isGone bool
}

// enter opens the folder that the segments lead to from root. The caller closes it.
func (k *keptFolders) enter(root *os.Root, segments []string) (*os.Root, error) {
	dir := root
	var last *keptFolder
	defer func() { k.release(last) }()
	path := ""
	for _, segment := range segments {
		path += "/" + segment
		next, err := k.step(dir, path, segment)
		if err != nil {
			return nil, err
		}
		k.release(last)
		last = next
		dir = next.root
	}
	return dir.OpenRoot(".")
}

// step returns the folder name in dir, which the caller releases.
func (k *keptFolders) step(dir *os.Root, path, name string) (*keptFolder, error) {
	if known := k.take(path); known != nil {
		seen, err := dir.Lstat(name)
		if err == nil && os.SameFile(seen, known.info) {
			return known, nil
		}
		k.forget(path, known)
		k.release(known)
		if err != nil {
			return nil, err
		}
	}
	sub, seen, err := stepSeen(dir, name)
	if err != nil {
		return nil, err
	}
	return k.keep(path, &keptFolder{root: sub, info: seen, users: 1}), nil
}

func (k *keptFolders) take(path string) *keptFolder {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.open[path]
	if known != nil {
		known.users++
	}
	return known
}

// keep returns the folder that is kept at a path: this one, or one that was opened at the same time.
func (k *keptFolders) keep(path string, opened *keptFolder) *keptFolder {
	k.mu.Lock()
	defer k.mu.Unlock()
	if other := k.open[path]; other != nil && os.SameFile(other.info, opened.info) {
		other.users++
		opened.root.Close()
		return other
	}
	if len(k.open) >= maxKeptFolders {
		k.dropAll()
	}
	if other := k.open[path]; other != nil {
		other.drop()
	}
	k.open[path] = opened
	return opened
}

// forget no longer keeps a folder at a path.
func (k *keptFolders) forget(path string, known *keptFolder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open[path] == known {
		delete(k.open, path)
		known.drop()
	}
}

func (k *keptFolders) release(used *keptFolder) {
	if used == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	used.users--
	if used.isGone && used.users == 0 {
		used.root.Close()
	}
}

// close closes all folders that are not in use.
func (k *keptFolders) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropAll()
}

func (k *keptFolders) dropAll() {
	for _, known := range k.open {
		known.drop()
	}
	clear(k.open)
}

// drop closes a folder that is no longer kept, or leaves that to its last user.
func (known *keptFolder) drop() {
	if known.isGone {
		return
	}
	known.isGone = true
	if known.users == 0 {
		known.root.Close()
	}
}
