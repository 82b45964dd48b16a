//go:build !windows

package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// ShortNameOf returns the short name of a file or folder. The test is
// skipped where it has none.
func ShortNameOf(t testing.TB, dir, name string) string {
	t.Helper()
	short := ShortName(name)
	if _, err := os.Lstat(filepath.Join(dir, short)); err != nil {
		t.Skip("no short names here: ", err)
	}
	return short
}
