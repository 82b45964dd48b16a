package ownerfiles

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A file that is being read is replaced when the reader has closed it.
func TestAFileThatIsOpenIsReplacedLater(t *testing.T) {
	name := newFile(t, "before")
	reader := require.Value(os.Open(name))(t)
	closed := make(chan error)
	go func() {
		time.Sleep(5 * renamePause) // in which renaming fails
		closed <- reader.Close()
	}()
	replaced, err := Replace(Disk{}, name+".half", name, []byte("after"), time.Time{})
	require.NoError(t, <-closed)
	if !replaced || err != nil || text(t, name) != "after" {
		t.Errorf("%v, %v, %q", replaced, err, text(t, name))
	}
}

func TestAFileThatStaysOpenIsNotReplaced(t *testing.T) {
	name := newFile(t, "before")
	reader := require.Value(os.Open(name))(t)
	replaced, err := Replace(Disk{}, name+".half", name, []byte("after"), time.Time{})
	require.NoError(t, reader.Close())
	if replaced || err == nil || text(t, name) != "before" {
		t.Errorf("%v, %v, %q", replaced, err, text(t, name))
	}
	if _, err := os.Lstat(name + ".half"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half is left: %v", err)
	}
}
