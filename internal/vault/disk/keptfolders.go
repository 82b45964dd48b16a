package disk

import (
	"io/fs"
	"os"
	"sync"
)

// folderCache keeps folders open during a change of many files: the folder of a thousand notes is opened once.
// Each use checks that the name still belongs to the open folder, as [step] does when it opens a folder.
type folderCache struct {
	mu   sync.Mutex
	open map[string]*cachedFolder // by path
}

// maxKeptFolders limits the open folders, except those in use.
const maxKeptFolders = 64

// cachedFolder is an open folder and its number of users. If it is no longer in the cache, its last user closes
// it.
type cachedFolder struct {
	root      *os.Root
	info      fs.FileInfo
	users     int
	isDropped bool
}

// enter opens the folder at the segments below root. The caller must close it.
func (k *folderCache) enter(root *os.Root, segments []string) (*os.Root, error) {
	dir := root
	var last *cachedFolder
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

// step returns the folder name in dir. The caller must release it.
func (k *folderCache) step(dir *os.Root, path, name string) (*cachedFolder, error) {
	if cached := k.take(path); cached != nil {
		seen, err := dir.Lstat(name)
		if err == nil && os.SameFile(seen, cached.info) {
			return cached, nil
		}
		k.forget(path, cached)
		k.release(cached)
		if err != nil {
			return nil, err
		}
	}
	sub, seen, err := stepSeen(dir, name)
	if err != nil {
		return nil, err
	}
	return k.add(path, &cachedFolder{root: sub, info: seen, users: 1}), nil
}

func (k *folderCache) take(path string) *cachedFolder {
	k.mu.Lock()
	defer k.mu.Unlock()
	cached := k.open[path]
	if cached != nil {
		cached.users++
	}
	return cached
}

// add returns the cached folder for a path: opened, or one that was added meanwhile.
func (k *folderCache) add(path string, opened *cachedFolder) *cachedFolder {
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

// forget removes a folder from the cache.
func (k *folderCache) forget(path string, cached *cachedFolder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open[path] == cached {
		delete(k.open, path)
		cached.drop()
	}
}

func (k *folderCache) release(used *cachedFolder) {
	if used == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	used.users--
	if used.isDropped && used.users == 0 {
		used.root.Close()
	}
}

// close closes all folders that are not in use.
func (k *folderCache) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropAll()
}

func (k *folderCache) dropAll() {
	for _, cached := range k.open {
		cached.drop()
	}
	clear(k.open)
}

// drop closes a folder that is no longer in the cache, or leaves that to its last user.
func (c *cachedFolder) drop() {
	if c.isDropped {
		return
	}
	c.isDropped = true
	if c.users == 0 {
		c.root.Close()
	}
}
