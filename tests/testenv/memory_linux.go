package testenv

import (
	"os"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const (
	memoryMount = "/dev/shm"
	tmpfs       = 0x01021994
	noexec      = 0x8
	minFree     = 2 << 30 // all packages of a run share it
)

// UseMemory has all temporary folders of this process and its children be in memory. It
// does nothing where TMPDIR is set already.
func UseMemory() {
	if os.Getenv("TMPDIR") == "" && isFit(memoryMount) {
		os.Setenv("TMPDIR", memoryMount)
	}
}

// isFit reports whether a folder is in memory and has room for programs and data.
func isFit(folder string) bool {
	const write = 2 // W_OK
	var facts syscall.Statfs_t
	if syscall.Statfs(folder, &facts) != nil || syscall.Access(folder, write) != nil {
		return false
	}
	isInMemory := facts.Type == tmpfs
	runsPrograms := facts.Flags&noexec == 0
	isLargeEnough := facts.Bavail*uint64(facts.Bsize) >= minFree
	return isInMemory && runsPrograms && isLargeEnough
}

// MemoryFolder returns a temporary folder for one test, in memory where there is room.
func MemoryFolder(t *testing.T) string {
	t.Helper()
	if !isFit(memoryMount) {
		return t.TempDir()
	}
	folder := require.Value(os.MkdirTemp(memoryMount, "memory-"))(t)
	t.Cleanup(func() {
		assert.NoError(t, os.RemoveAll(folder))
	})
	return folder
}
