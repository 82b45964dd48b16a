package system

import (
	"os"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Several changes in one folder share a lock: the one that ends last gives it back, in another goroutine than that which
// took it. A mutex belongs to a thread.
func TestALockIsGivenBackInAnotherGoroutine(t *testing.T) {
	root := require.Value(os.OpenRoot(t.TempDir()))(t)
	defer root.Close()
	other := require.Value(mutexOf(root))(t) // of a writer that waits for it
	defer windows.CloseHandle(other)
	unlocks := make(chan func())
	end := make(chan bool)
	defer close(end)
	go func() {
		unlocks <- Lock(root)
		<-end // its thread lives on
	}()
	unlock := <-unlocks
	assert.Equal(t, isFree(t, root), false, "while it is held")
	unlock()
	assert.Equal(t, isFree(t, root), true, "after it was given back")
}

// isFree reports whether the lock of a folder could be taken.
func isFree(t *testing.T, root *os.Root) bool {
	t.Helper()
	free := make(chan bool)
	go func() {
		mutex, err := mutexOf(root)
		if err != nil {
			t.Errorf("no mutex: %v", err)
		}
		defer windows.CloseHandle(mutex)
		event, err := windows.WaitForSingleObject(mutex, 0)
		if err != nil {
			t.Errorf("no answer: %v", err)
		}
		isTaken := event == uint32(windows.WAIT_OBJECT_0)
		if isTaken {
			_ = windows.ReleaseMutex(mutex)
		}
		free <- isTaken
	}()
	return <-free
}
