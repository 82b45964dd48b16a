package search

import (
	"slices"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/index"
)

// Memo caches values computed from the facts of files, for the next call on the same files.
// The zero value is empty. It is safe for concurrent use.
type Memo struct {
	mu      sync.Mutex
	entries map[string]*memoEntry
}

// memoEntry is a cached value and the files that it was computed from.
type memoEntry struct {
	mu    sync.Mutex
	files []*index.File
	value any
}

// Derived describes a value that is computed from the facts of files and cached under its name.
// A computed value must not be changed.
type Derived[T any] struct {
	Name    string
	Compute func([]*index.File) T
	// Follow computes the value for files from last, the value for the files before. Most files
	// are in both lists, and both lists are in the order of listings. If it is nil, Compute is called.
	Follow func(last T, before, files []*index.File) T
}

// Of returns the value for a list of files. It computes the value if the cached one is
// for another list. Concurrent calls for the same value wait for one another.
func (d *Derived[T]) Of(m *Memo, files []*index.File) T {
	m.mu.Lock()
	if m.entries == nil {
		m.entries = map[string]*memoEntry{}
	}
	e := m.entries[d.Name]
	if e == nil {
		e = &memoEntry{}
		m.entries[d.Name] = e
	}
	m.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.files != nil && sameFiles(e.files, files):
		return e.value.(T)
	case e.files == nil || d.Follow == nil:
		e.value = d.Compute(files)
	default:
		e.value = d.Follow(e.value.(T), e.files, files)
	}
	e.files = files
	return e.value.(T)
}

// sameFiles reports whether two lists have the same files. Usually both are one slice, the immutable
// list of an index.
func sameFiles(a, b []*index.File) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return slices.Equal(a, b)
}

// Forget drops all values. They are computed again when they are needed.
func (m *Memo) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = nil
}
