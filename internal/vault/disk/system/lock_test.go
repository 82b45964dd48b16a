package system

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Writers exclude each other by the folder, by whatever handle each has opened it.
func TestAFolderIsLockedForOneWriter(t *testing.T) {
	dir := t.TempDir()
	const writers = 4
	const rounds = 25
	var inside, together atomic.Int32
	var all sync.WaitGroup
	for range writers {
		root := require.Value(os.OpenRoot(dir))(t)
		all.Go(func() {
			defer root.Close()
			for range rounds {
				unlock := Lock(root)
				if inside.Add(1) > 1 {
					together.Add(1)
				}
				inside.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	assert.That(t, together.Load() == 0, "two writers were in the folder at once, %d times", together.Load())
	entries := require.Value(os.ReadDir(dir))(t)
	assert.That(t, len(entries) == 0, "the lock left %v", entries)
}
