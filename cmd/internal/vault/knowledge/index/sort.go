package index

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

// manyFiles is how many files are sorted by two goroutines: comparing names as listings do
// takes time.
const manyFiles = 1000

func sortFiles(files []*File) {
	if len(files) < manyFiles {
		slices.SortFunc(files, inOrder)
		return
	}
	var a, b []keyed
	var other sync.WaitGroup
	other.Go(func() { a = sortedByKey(files[:len(files)/2]) })
	b = sortedByKey(files[len(files)/2:])
	other.Wait()
	for i := range files {
		if len(a) > 0 && (len(b) == 0 || byKey(a[0], b[0]) < 0) {
			files[i], a = a[0].file, a[1:]
		} else {
			files[i], b = b[0].file, b[1:]
		}
	}
}

// keyed is a file with what its place in listings depends on.
type keyed struct {
	key  []byte
	file *File
}

func sortedByKey(files []*File) []keyed {
	list := make([]keyed, len(files))
	var k keys
	for i, f := range files {
		list[i] = keyed{k.of(f.Path), f}
	}
	slices.SortFunc(list, byKey)
	return list
}

// keys makes keys of paths, of which those of a folder mostly follow one another.
type keys struct {
	all    []byte // many keys share a piece of memory
	folder string
	start  []byte // of the keys of all files in folder
}

// keysSize is how much memory keys take at a time, and keySize what one takes at most as a
// rule.
const keysSize, keySize = 64 << 10, 512

func (k *keys) of(path disk.Path) []byte {
	if cap(k.all)-len(k.all) < keySize {
		k.all = make([]byte, 0, keysSize)
	}
	folder := path.Folder()
	if folder != k.folder {
		k.folder, k.start = folder, order.AppendKey(nil, folder)
	}
	at := len(k.all)
	k.all = order.AppendKey(append(k.all, k.start...), path.String()[len(folder):])
	return k.all[at:]
}

func byKey(a, b keyed) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return strings.Compare(a.file.Path.String(), b.file.Path.String())
}

// inOrder compares files as listings do.
func inOrder(a, b *File) int { return order.Compare(a.Path.String(), b.Path.String()) }
