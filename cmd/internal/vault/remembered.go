package vault

import (
	"slices"
	"sync"

	"vaultwicket/cmd/internal/vault/index"
)

// remembered is what was worked out for a list of files, for the next call with
// the same list.
type remembered[T any] struct {
	mu    sync.Mutex
	files []*index.File
	value T
}

func (r *remembered[T]) of(files []*index.File, work func([]*index.File) T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil || !slices.Equal(r.files, files) {
		r.files, r.value = files, work(files)
	}
	return r.value
}
