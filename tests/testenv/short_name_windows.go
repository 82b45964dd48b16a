package testenv

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// ShortNameOf returns the short name of a file or folder. The test is
// skipped where it has none.
func ShortNameOf(t testing.TB, dir, name string) string {
	t.Helper()
	path := require.Value(windows.UTF16PtrFromString(filepath.Join(dir, name)))(t)
	buf := make([]uint16, windows.MAX_LONG_PATH)
	if _, err := windows.GetShortPathName(path, &buf[0], uint32(len(buf))); err != nil {
		t.Skip("no short names here: ", err)
	}
	found := filepath.Base(windows.UTF16ToString(buf))
	if strings.EqualFold(found, name) {
		t.Skip("no short names here")
	}
	return found
}
