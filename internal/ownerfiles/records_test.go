package ownerfiles

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func newRecords(t *testing.T) *RecordFolder {
	t.Helper()
	return &RecordFolder{
		Path:     filepath.Join(t.TempDir(), "records"),
		Store:    Store{Name: "records", Code: "records"},
		LockFile: "records.lock",
		MaxFiles: 3,
	}
}

func (f *RecordFolder) namesNow(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, f.Use(func(found []string) error {
		names = found
		return nil
	}))
	return names
}

// A folder that is not there has no names, and none is made.
func TestAFolderOfRecordsIsMadeByItsStore(t *testing.T) {
	f := newRecords(t)
	assert.That(t, f.namesNow(t) == nil, "a folder that is not there has names")
	_, err := os.Stat(f.Path)
	assert.ErrorIs(t, err, os.ErrNotExist)

	require.NoError(t, MakeFolder(Disk{}, f.Path))
	for _, name := range []string{"b.json", "a.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(f.Path, name), nil, 0o600))
	}
	assert.EqualSlices(t, f.namesNow(t), []string{"a.json", "b.json", "records.lock"})

	require.NoError(t, os.WriteFile(filepath.Join(f.Path, "c.json"), nil, 0o600))
	called := false
	err = f.Use(func([]string) error {
		called = true
		return nil
	})
	unusable, ok := errors.AsType[*Unusable](err)
	require.That(t, ok, "too many files: %v", err)
	assert.Equal(t, unusable.Reason, "has too many files")
	assert.That(t, !called, "it is used with too many files")

	relative := &RecordFolder{Path: "records", Store: f.Store, LockFile: f.LockFile, MaxFiles: f.MaxFiles}
	_, ok = errors.AsType[*Unusable](relative.Use(func([]string) error { return nil }))
	assert.That(t, ok, "a relative path is taken")
}

// What several goroutines change through folders of the same path is changed one after the other, as by several processes.
func TestRecordsAreChangedOneAfterTheOther(t *testing.T) {
	f := newRecords(t)
	f.MaxFiles = 100
	require.NoError(t, MakeFolder(Disk{}, f.Path))
	const writers, each = 4, 10
	var running sync.WaitGroup
	for range writers {
		own := &RecordFolder{Path: f.Path, Store: f.Store, LockFile: f.LockFile, MaxFiles: f.MaxFiles}
		running.Go(func() {
			for range each {
				err := own.Use(func(names []string) error { // the next number is free only for one of them
					next := fmt.Sprintf("%03d.json", len(names))
					file, err := os.OpenFile(filepath.Join(own.Path, next), os.O_CREATE|os.O_EXCL, 0o600)
					return errors.Join(err, file.Close())
				})
				assert.NoError(t, err)
			}
		})
	}
	running.Wait()
	assert.Equal(t, len(f.namesNow(t)), writers*each+1, "with the lock")
}

// The code of a record depends on all of it and on the key.
func TestASealedRecord(t *testing.T) {
	type record struct{ Code, Text string }
	sealed := func(key, text string) string {
		data := require.Value(Sealed([]byte(key), func(code string) any { return record{code, text} }))(t)
		return string(data)
	}
	sum := hmac.New(sha256.New, []byte("key"))
	sum.Write([]byte(`{"Code":"","Text":"one"}`))
	first := sealed("key", "one")
	assert.Equal(t, first, fmt.Sprintf(`{"Code":"%x","Text":"one"}`+"\n", sum.Sum(nil)))
	assert.That(t, sealed("another", "one") != first, "the key does not count")
	assert.That(t, sealed("key", "two")[:70] != first[:70], "the text does not count in the code")
	_, err := Sealed(nil, func(string) any { return make(chan int) })
	assert.That(t, err != nil, "a record that is no JSON is sealed")
}
