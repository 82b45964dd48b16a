package knowledge

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vaultwicket/tests/require"
)

// The folders are looked for once, and again after each change.
func TestFoldersAreKeptUntilAChange(t *testing.T) {
	k, from := residentOn(t, 3)
	if k.watcher == nil {
		t.Skip("this folder cannot be watched")
	}
	list := func() []string {
		t.Helper()
		folders, err := k.Folders(from)
		require.NoError(t, err)
		return folders
	}
	wait := func(want ...string) {
		t.Helper()
		got := list()
		for until := time.Now().Add(20 * time.Second); !slices.Equal(got, want) && time.Now().Before(until); got = list() {
			time.Sleep(time.Millisecond)
		}
		require.That(t, slices.Equal(got, want), "the folders are %q, want %q", got, want)
	}
	full := func(name string) string { return filepath.Join(from.Path, name) }
	steps := []struct {
		do   func() error
		want []string
	}{
		{func() error { return nil }, nil},
		{func() error { return os.MkdirAll(full("B/In"), 0o700) }, []string{"B", "B/In"}},
		{func() error { return os.Mkdir(full("a"), 0o700) }, []string{"a", "B", "B/In"}},
		{func() error { return os.Rename(full("B"), full("C")) }, []string{"a", "C", "C/In"}},
		{func() error { return os.Mkdir(full(".hidden"), 0o700) }, []string{"a", "C", "C/In"}},
		{func() error { return os.Remove(full("C/In")) }, []string{"a", "C"}},
	}
	for _, s := range steps {
		require.NoError(t, s.do())
		wait(s.want...)
	}
	kept := func() bool { a, b := list(), list(); return &a[0] == &b[0] }
	for until := time.Now().Add(20 * time.Second); !kept(); time.Sleep(time.Millisecond) {
		require.That(t, !time.Now().After(until), "the folders are looked for at each call")
	}
	wait("a", "C")
}
